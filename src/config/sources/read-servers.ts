import { isRecord } from '../../base/json-value.ts';
import {
  type EntryError,
  type ExternalServerEntry,
  foreignMember,
  foreignMembers,
  unknownMembers,
} from '../../protocol/server-entry.ts';

import { formatKeyPath, limitDiagnostics } from '../files/diagnostics.ts';
import type { ConfigDiagnostic, Position, Scope, Source, WrittenServer } from '../model.ts';
import type { Content, ReadContent } from './source-types.ts';
import { normalizeEntry, validateEntry, validateServerName } from './validate-entry.ts';

/** Where servers are read from, and what holds for those from there. */
export type Origin = {
  readonly scope: Scope;
  readonly label: string;
  readonly path?: string;
  readonly owner?: string;
  readonly kind: ServersKind;
  /** What else is wrong with an entry from there. */
  readonly refuse?: (raw: Readonly<Record<string, unknown>>) => EntryError | undefined;
  /** The entry as it is meant there. */
  readonly adapt?: (raw: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** Takes an entry for itself; then it is none of the source's. */
  readonly take?: (name: string, raw: unknown) => boolean;
};

/** What was found there; every entry is judged on its own, so that a bad one harms no other. */
export function readServers(content: Content, origin: Origin): Source {
  const { scope, label, path, owner } = origin;
  const place = { scope, label, ...(path !== undefined && { path }), ...(owner !== undefined && { owner }) };
  if (content.state === 'absent') return { ...place, state: 'absent', servers: [], faults: [] };
  const faults = contentFaults(content, origin);
  if (content.state === 'unusable') return { ...place, state: 'unusable', servers: [], faults };
  const object = serversObject(content.value, origin.kind);
  if (object.kind === 'faulty') {
    const fault = faultAt(content, origin, 'error', object.way, object.message);
    return { ...place, state: 'unusable', servers: [], faults: [...faults, fault] };
  }
  const reader = { content, origin, place, servers: [] as WrittenServer[], faults };
  const entries = Object.entries(object.servers);
  for (const [name, raw] of entries.slice(0, MAX_SERVERS)) readOne(reader, [...object.way, name], raw);
  if (entries.length > MAX_SERVERS) {
    const message = `${entries.length} servers in one file; only the first ${MAX_SERVERS} are read; remove the others`;
    faults.unshift(faultAt(content, origin, 'error', object.way, message));
  }
  return { ...place, state: 'read', servers: reader.servers, faults: limitDiagnostics(faults) };
}

/** More than anybody can use; whoever writes more of them means to keep us busy. */
const MAX_SERVERS = 2000;

/** What is wrong with the whole of it, whatever it is about. */
export function contentFaults(
  content: Content,
  { scope, label }: Pick<ConfigDiagnostic, 'scope' | 'label'>,
): ConfigDiagnostic[] {
  if (content.state === 'absent') return [];
  if (content.state === 'read')
    return content.warnings.map((warning) => ({ level: 'warning', scope, label, ...warning }));
  const { fault: message, position } = content;
  return [{ level: 'error', scope, label, ...(position && { position }), message }];
}

type Reader = {
  readonly content: ReadContent;
  readonly origin: Origin;
  readonly place: Pick<WrittenServer, 'scope' | 'label' | 'path' | 'owner'>;
  readonly servers: WrittenServer[];
  readonly faults: ConfigDiagnostic[];
};

function readOne(
  { content, origin, place, servers, faults }: Reader,
  way: readonly string[],
  raw: unknown,
): void {
  const name = way.at(-1) ?? '';
  const unusableName = validateServerName(name);
  if (unusableName !== undefined) {
    // A name that cannot be shown is in no list; only what is wrong with it is told.
    faults.push(faultAt(content, origin, 'error', way, unusableName));
    return;
  }
  if (origin.take?.(name, raw)) return;
  const add = (found: Pick<WrittenServer, 'entry' | 'off' | 'fault'>) =>
    servers.push(located({ name, ...place, raw, ...found }, () => content.locate(way)));
  const judged = judge(name, raw, origin);
  if ('message' in judged) {
    const { member, message } = judged;
    const fault = faultAt(content, origin, 'error', member === undefined ? way : [...way, member], message);
    faults.push(fault);
    add({ fault });
    return;
  }
  add(judged);
  for (const { name: member, suggestion } of unknownMembers(judged.entry)) {
    const hint = suggestion === undefined ? '' : `; did you mean "${suggestion}"?`;
    const message = `it ${foreignMember(name, member) ?? `means nothing here${hint}`}`;
    faults.push(faultAt(content, origin, 'warning', [...way, member], message));
  }
}

function judge(
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

/** Where things are takes longer to find out than to read hundreds of them, and is asked of few. */
function located(written: WrittenServer, locate: () => Position | undefined): WrittenServer {
  let position: Position | undefined;
  const get = () => {
    position ??= locate();
    return position;
  };
  return Object.defineProperty(written, 'position', { get, enumerable: true, configurable: true });
}

/** The place of what is wrong; of a member that is missing, that of what misses it. */
function faultAt(
  { locate }: ReadContent,
  { scope, label }: Pick<Origin, 'scope' | 'label'>,
  level: ConfigDiagnostic['level'],
  way: readonly (string | number)[],
  message: string,
): ConfigDiagnostic {
  const position = locate(way) ?? (way.length > 1 ? locate(way.slice(0, -1)) : undefined);
  const key = way.length === 0 ? undefined : formatKeyPath(way);
  return { level, scope, label, ...(key !== undefined && { key }), ...(position && { position }), message };
}

/**
 * What kind of thing is read: a file that is there for servers, one of a plugin, in which the wrapper may be left out,
 * settings, which may name none, or what a flag or a catalogue gives, which must name some.
 */
export type ServersKind = 'file' | 'plugin' | 'settings' | 'given';

/** Where the servers stand, or why there are none. */
type ServersObject =
  | {
      readonly kind: 'found';
      readonly way: readonly string[];
      readonly servers: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'faulty'; readonly way: readonly string[]; readonly message: string };

/** Only `mcpServers` counts (C5); what people write instead is told with what to write. */
export function serversObject(value: Readonly<Record<string, unknown>>, kind: ServersKind): ServersObject {
  const { mcpServers } = value;
  if (isRecord(mcpServers)) return { kind: 'found', way: ['mcpServers'], servers: mcpServers };
  if (mcpServers !== undefined)
    return faulty(['mcpServers'], 'must be an object that maps server names to entries');
  // What else stands in settings is for those to judge who read them.
  if (kind === 'settings' || (kind !== 'given' && Object.keys(value).length === 0)) return NONE;
  const misnamed = Object.keys(value).find((key) => MISNAMED.has(key.toLowerCase().replaceAll(/[-_ ]/g, '')));
  if (misnamed !== undefined) return faulty([misnamed], 'servers belong in "mcpServers"; rename the key');
  if (!Object.values(value).some(isLikeEntry))
    return faulty([], 'has no "mcpServers" object; write { "mcpServers": { … } }');
  if (kind === 'plugin') {
    const { $schema: _, ...servers } = value;
    return { kind: 'found', way: [], servers };
  }
  return faulty([], 'servers are not wrapped; write { "mcpServers": { … } } around them');
}

const NONE: ServersObject = { kind: 'found', way: ['mcpServers'], servers: {} };

/** What other programs call it, and slips of the pen; in small letters without what joins words. */
const MISNAMED: ReadonlySet<string> = new Set([
  'servers',
  'server',
  'mcpservers',
  'mcpserver',
  'contextservers',
  'mcp',
]);

function faulty(way: readonly string[], message: string): ServersObject {
  return { kind: 'faulty', way, message };
}

function isLikeEntry(value: unknown): boolean {
  return isRecord(value) && ['command', 'url', 'type'].some((member) => typeof value[member] === 'string');
}
