import { isRecord } from '../../base/json-value.ts';
import {
  type EntryError,
  type ExternalServerEntry,
  foreignMember,
  foreignMembers,
  unknownMembers,
} from '../../protocol/server-entry.ts';
import { diagnosticAt, limitDiagnostics } from '../files/diagnostics.ts';
import type { Document, ReadDocument } from '../files/read-document.ts';
import type { ConfigDiagnostic, Scope, Source, WrittenServer } from '../model.ts';
import { normalizeEntry, validateEntry, validateServerName } from './validate-entry.ts';

/** Where servers are read from, and the rules for that place. */
export type Origin = {
  readonly scope: Scope;
  readonly label: string;
  readonly path?: string;
  readonly owner?: string;
  readonly kind: ServersKind;
  /** Further checks of an entry from this place. */
  readonly refuse?: (raw: Readonly<Record<string, unknown>>) => EntryError | undefined;
  /** Converts an entry of this place. */
  readonly adapt?: (raw: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** Takes an entry, which then does not become part of the source. */
  readonly take?: (name: string, raw: unknown) => boolean;
};

/** Reads the servers of a document. Each entry is checked separately: an invalid one does not affect the others. */
export function readServers(document: Document, origin: Origin): Source {
  const { scope, label, path, owner } = origin;
  const place = { scope, label, ...(path !== undefined && { path }), ...(owner !== undefined && { owner }) };
  if (document.state === 'absent') return { ...place, state: 'absent', servers: [], faults: [] };
  const faults = documentFaults(document, origin);
  if (document.state === 'unusable') return { ...place, state: 'unusable', servers: [], faults };
  const source = { scope, label, locate: document.locate };
  const object = serversObject(document.value, origin.kind);
  if (object.kind === 'faulty') {
    const fault = diagnosticAt(source, object.path, object.message);
    return { ...place, state: 'unusable', servers: [], faults: [...faults, fault] };
  }
  const entries = Object.entries(object.servers);
  if (entries.length > MAX_SERVERS) {
    const message = `${entries.length} servers in one file; only the first ${MAX_SERVERS} are read; remove the others`;
    faults.unshift(diagnosticAt(source, object.path, message));
  }
  const servers = entries.slice(0, MAX_SERVERS).flatMap(([name, raw]): WrittenServer[] => {
    const keyPath = [...object.path, name];
    const nameFault = validateServerName(name);
    if (nameFault !== undefined) {
      faults.push(diagnosticAt(source, keyPath, nameFault));
      return [];
    }
    if (origin.take?.(name, raw)) return [];
    const read = readEntry(name, raw, origin);
    const found = { name, ...place, raw, ...locatedAt(document, keyPath) };
    if ('message' in read) {
      const at = read.member === undefined ? keyPath : [...keyPath, read.member];
      const fault = diagnosticAt(source, at, read.message);
      faults.push(fault);
      return [{ ...found, fault }];
    }
    for (const { name: member, suggestion } of unknownMembers(read.entry)) {
      const hint = suggestion === undefined ? '' : `; did you mean "${suggestion}"?`;
      const message = foreignMember(name, member) ?? `is not a known key${hint}`;
      faults.push(diagnosticAt(source, [...keyPath, member], message, 'warning'));
    }
    return [{ ...found, ...read }];
  });
  return { ...place, state: 'read', servers, faults: limitDiagnostics(faults) };
}

/** Maximum number of servers that are read from one file, more than a person can use. */
const MAX_SERVERS = 2000;

/** The problems of a whole document, whatever it contains. */
export function documentFaults(
  document: Document,
  { scope, label }: Pick<ConfigDiagnostic, 'scope' | 'label'>,
): ConfigDiagnostic[] {
  if (document.state === 'absent') return [];
  if (document.state === 'read')
    return document.warnings.map((warning) => ({ level: 'warning', scope, label, ...warning }));
  const { fault: message, position } = document;
  return [{ level: 'error', scope, label, ...(position && { position }), message }];
}

/** The entry in the form that is used, or why it is invalid. */
function readEntry(
  name: string,
  raw: unknown,
  { refuse, adapt }: Origin,
): EntryError | (Pick<WrittenServer, 'off'> & { readonly entry: ExternalServerEntry }) {
  if (!isRecord(raw))
    return { message: 'must be an object, such as { "command": "npx" } or { "url": "https://…" }' };
  const { entry, off } = normalizeEntry(raw);
  const fault = refuse?.(entry) ?? validateEntry(raw);
  if (fault) return { ...fault, message: [fault.message, ...foreignMembers(name, raw)].join('; ') };
  return { entry: (adapt?.(entry) ?? entry) as ExternalServerEntry, ...(off !== undefined && { off }) };
}

function locatedAt({ locate }: ReadDocument, keyPath: readonly string[]): Pick<WrittenServer, 'position'> {
  const position = locate(keyPath);
  return position ? { position } : {};
}

/**
 * The kind of document: a file for servers; a plugin's file, in which the wrapper may be left out; settings, which may
 * have no servers; or the content of a flag or a catalog, which must have some.
 */
export type ServersKind = 'file' | 'plugin' | 'settings' | 'given';

/** The object that holds the servers, or why there is none. */
type ServersObject =
  | {
      readonly kind: 'found';
      readonly path: readonly string[];
      readonly servers: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'faulty'; readonly path: readonly string[]; readonly message: string };

/** Only `mcpServers` is read (C5); other common names produce a message that says what to write. */
export function serversObject(value: Readonly<Record<string, unknown>>, kind: ServersKind): ServersObject {
  const { mcpServers } = value;
  if (isRecord(mcpServers)) return { kind: 'found', path: ['mcpServers'], servers: mcpServers };
  if (mcpServers !== undefined)
    return faulty(['mcpServers'], 'must be an object that maps server names to entries');
  // The other keys of settings are checked where settings are read.
  if (kind === 'settings' || (kind !== 'given' && Object.keys(value).length === 0)) return NONE;
  const misnamed = Object.keys(value).find((key) => MISNAMED.has(key.toLowerCase().replaceAll(/[-_ ]/g, '')));
  if (misnamed !== undefined) return faulty([misnamed], 'unknown key; rename it to "mcpServers"');
  if (!Object.values(value).some(isLikeEntry))
    return faulty([], 'has no "mcpServers" object; write { "mcpServers": { … } }');
  if (kind === 'plugin') {
    const { $schema: _, ...servers } = value;
    return { kind: 'found', path: [], servers };
  }
  return faulty([], 'the servers are not inside "mcpServers"; write { "mcpServers": { … } } around them');
}

const NONE: ServersObject = { kind: 'found', path: ['mcpServers'], servers: {} };

/** Names of the key in other programs, and common misspellings; lower case, without separators. */
const MISNAMED: ReadonlySet<string> = new Set([
  'servers',
  'server',
  'mcpservers',
  'mcpserver',
  'contextservers',
  'mcp',
]);

function faulty(path: readonly string[], message: string): ServersObject {
  return { kind: 'faulty', path, message };
}

function isLikeEntry(value: unknown): boolean {
  return isRecord(value) && ['command', 'url', 'type'].some((member) => typeof value[member] === 'string');
}
