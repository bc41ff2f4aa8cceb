import { isRecord } from '../../base/is-record.ts';

/**
 * What kind of thing is read: a file that is there for servers, one of a plugin, in which the wrapper may be left out,
 * settings, which may name none, or what a flag or a catalogue gives, which must name some.
 */
export type ServersKind = 'file' | 'plugin' | 'settings' | 'given';

/** Where the servers stand, or why there are none. */
export type ServersObject =
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
    return faulty(['mcpServers'], 'it must be an object: names of servers, and an entry for each');
  // What else stands in settings is for those to judge who read them.
  if (kind === 'settings' || (kind !== 'given' && Object.keys(value).length === 0)) return NONE;
  const misnamed = Object.keys(value).find((key) => MISNAMED.has(key.toLowerCase().replaceAll(/[-_ ]/g, '')));
  if (misnamed !== undefined) return faulty([misnamed], 'servers stand in "mcpServers"; call it so');
  if (!Object.values(value).some(isLikeEntry))
    return faulty([], 'it has no "mcpServers" object; write { "mcpServers": { … } }');
  if (kind === 'plugin') {
    const { $schema: _, ...servers } = value;
    return { kind: 'found', way: [], servers };
  }
  return faulty([], 'its servers stand there bare; write { "mcpServers": { … } } around them');
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
