import { resolve } from 'node:path';
import { isRecord } from '../../base/json-value.ts';
import type { SdkServerEntry } from '../../mcp/connection/connect-context.ts';
import { sdkEntry } from '../../mcp/servers/server-entry.ts';
import { flagName } from '../../protocol/launch-flag.ts';
import {
  type Document,
  documentOfValue,
  FILE_VERSION,
  parseDocument,
  readDocument,
} from '../files/read-document.ts';
import type { ConfigDiagnostic, Source } from '../model.ts';
import { flagLabel } from './config-paths.ts';
import { documentFaults, readServers } from './read-servers.ts';
import {
  type ConfigFlags,
  type FileState,
  fileState,
  type SettingsSource,
  settingsSources,
} from './source-types.ts';

/** The sources that flags and the program give. */
type FoundFlags = {
  readonly servers: readonly Source[];
  readonly program: ReadonlyMap<string, SdkServerEntry>;
  readonly settings: readonly SettingsSource[];
  readonly faults: readonly ConfigDiagnostic[];
  readonly files: readonly FileState[];
};

/** Reads `--mcp-config`, `--settings` and `--managed-settings`; a file that a flag names must exist. */
export function readFlags(flags: ConfigFlags, cwd: string): FoundFlags {
  const { mcpConfigs = [], settings, managedSettings, nameOf = flagName } = flags;
  const configs = mcpConfigs.map((it) => readFlag(nameOf('mcp-config'), it, cwd));
  const given = settings ? readFlag(nameOf('settings'), settings, cwd, FILE_VERSION) : undefined;
  const program = new Map<string, SdkServerEntry>();
  const servers = configs.map(({ label, path, document }) => {
    const own: [string, SdkServerEntry][] = [];
    const source = readServers(document, {
      scope: 'program',
      label,
      ...(path !== undefined && { path }),
      kind: 'given',
      take: (name, raw) => isRecord(raw) && raw.type === 'sdk' && own.push([name, sdkEntry(name, raw)]) > 0,
    });
    // Of two servers with one name the later one is used.
    for (const { name } of source.servers) program.delete(name);
    for (const [name, entry] of own) program.set(name, entry);
    return source;
  });
  const policy = managedSettings && documentOfValue(managedSettings);
  return {
    servers,
    program,
    settings: [
      ...(given ? settingsSources({ scope: 'program', ...given }, given.document) : []),
      ...settingsSources({ scope: 'managed', label: nameOf('managed-settings') }, policy),
    ],
    faults: given ? documentFaults(given.document, { scope: 'program', label: given.label }) : [],
    files: [...configs, ...(given ? [given] : [])].flatMap(({ path, label, document }) =>
      path === undefined ? [] : [fileState(path, label, document)],
    ),
  };
}

/** The document that a flag gives; `path` is set if it is in a file. */
type FlagDocument = { readonly label: string; readonly path?: string; readonly document: Document };

/** Reads a flag whose value is a JSON text, which starts with a bracket, or the path of a file, which must exist. */
export function readFlag(flag: string, value: string, cwd: string, version?: number): FlagDocument {
  const options = { ...(version !== undefined && { version }) };
  if (/^\s*[{[]/.test(value)) return { label: flag, document: parseDocument(value, options) };
  const path = resolve(cwd, value);
  const label = flagLabel(flag, value);
  const document = readDocument(path, options);
  if (document.state !== 'absent') return { label, path, document };
  return { label, path, document: { state: 'unusable', fault: 'no such file; check the path' } };
}
