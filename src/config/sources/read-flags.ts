import { isRecord } from '../../base/is-record.ts';
import type { SdkServerEntry } from '../../mcp/connection/connect-context.ts';
import { sdkEntry } from '../../mcp/servers/server-entry.ts';
import { MIGRATIONS } from '../files/versions.ts';
import type { ConfigFault, Source } from '../model.ts';
import { contentOfValue } from './content.ts';
import { type FileState, fileState } from './file-state.ts';
import { type FlagContent, readFlag } from './flag-content.ts';
import type { SettingsSource } from './found.ts';
import { contentFaults, readServers } from './read-servers.ts';
import type { Wanted } from './wanted.ts';

/** What flags and the program give. */
export type FoundFlags = {
  readonly servers: readonly Source[];
  readonly program: ReadonlyMap<string, SdkServerEntry>;
  readonly settings: readonly SettingsSource[];
  readonly faults: readonly ConfigFault[];
  readonly files: readonly FileState[];
};

/** Reads `--mcp-config`, `--settings` and `--managed-settings`; a file that a flag names must be there. */
export async function readFlags(wanted: Wanted, cwd: string): Promise<FoundFlags> {
  const { mcpConfigs = [], settings, managedSettings } = wanted;
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
