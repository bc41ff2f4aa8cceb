import { resolve } from 'node:path';
import { isRecord } from '../../base/json-value.ts';
import type { SdkServerEntry } from '../../mcp/connection/connect-context.ts';
import { sdkEntry } from '../../mcp/servers/server-entry.ts';
import { documentOf, MIGRATIONS, type Migration, readDocumentNow } from '../files/read-document.ts';
import type { ConfigDiagnostic, Source } from '../model.ts';
import { flagLabel } from './config-paths.ts';
import { contentFaults, readServers } from './read-servers.ts';
import {
  type ConfigFlags,
  type Content,
  contentOfValue,
  type FileState,
  fileState,
  type SettingsSource,
} from './source-types.ts';

/** What flags and the program give. */
type FoundFlags = {
  readonly servers: readonly Source[];
  readonly program: ReadonlyMap<string, SdkServerEntry>;
  readonly settings: readonly SettingsSource[];
  readonly faults: readonly ConfigDiagnostic[];
  readonly files: readonly FileState[];
};

/** Reads `--mcp-config`, `--settings` and `--managed-settings`; a file that a flag names must be there. */
export async function readFlags(flags: ConfigFlags, cwd: string): Promise<FoundFlags> {
  const { mcpConfigs = [], settings, managedSettings } = flags;
  const [configs, given] = await Promise.all([
    Promise.all(mcpConfigs.map((it) => readFlag('--mcp-config', it, cwd))),
    // An empty one names nothing.
    settings ? readFlag('--settings', settings, cwd, MIGRATIONS.settings) : undefined,
  ]);
  const program = new Map<string, SdkServerEntry>();
  const servers = configs.map(({ label, path, content }) => {
    const own: [string, SdkServerEntry][] = [];
    const source = readServers(content, {
      scope: 'program',
      label,
      ...(path !== undefined && { path }),
      kind: 'given',
      take: (name, raw) => isRecord(raw) && raw.type === 'sdk' && own.push([name, sdkEntry(name, raw)]) > 0,
    });
    // Of two with one name the later counts.
    for (const { name } of source.servers) program.delete(name);
    for (const [name, entry] of own) program.set(name, entry);
    return source;
  });
  const policy = managedSettings && contentOfValue(managedSettings);
  return {
    servers,
    program,
    settings: [
      ...(given ? settingsOf('program', given) : []),
      ...(policy ? settingsOf('managed', { label: '--managed-settings', content: policy }) : []),
    ],
    faults: given ? contentFaults(given.content, { scope: 'program', label: given.label }) : [],
    files: [...configs, ...(given ? [given] : [])].flatMap(({ path, label, content }) =>
      path === undefined ? [] : [fileState(path, label, content)],
    ),
  };
}

function settingsOf(scope: 'program' | 'managed', { label, path, content }: FlagContent): SettingsSource[] {
  if (content.state !== 'read') return [];
  const { value, locate } = content;
  return [{ scope, label, ...(path !== undefined && { path }), value, locate }];
}

/** What a flag gives; `path` is there if it stands in a file. */
type FlagContent = { readonly label: string; readonly path?: string; readonly content: Content };

/** A JSON text begins as such; everything else is the path of a file, which must be there. */
async function readFlag(...given: Parameters<typeof readFlagNow>): Promise<FlagContent> {
  return readFlagNow(...given);
}

/** The same, in place. */
export function readFlagNow(
  flag: string,
  value: string,
  cwd: string,
  migrations?: readonly Migration[],
): FlagContent {
  if (/^\s*[{[]/.test(value)) return { label: flag, content: documentOf('', value, migrations) };
  const path = resolve(cwd, value);
  const label = flagLabel(flag, value);
  const content = readDocumentNow(path, { ...(migrations && { migrations }) });
  if (content.state !== 'absent') return { label, path, content };
  return { label, path, content: { state: 'unusable', fault: 'no such file; check the path' } };
}
