import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS } from '../../mcp/calls/time-limits.ts';
import type { Configuration } from '../configuration.ts';
import type { ConfiguredServer, ServerOverride } from '../model.ts';
import type { Told } from '../settings/settings.ts';
import type { LimitRow, Stand } from './explanation.ts';
import { pendingLimits } from './pending-limits.ts';
import { standInSettings, standOf } from './stand.ts';

type Known = Pick<Configuration, 'settings' | 'settingsSources'>;
type Said = { readonly ms: number; readonly by: string; readonly at?: Stand };

/** Every limit of a server, or of one of its tools; the nearest that says something counts, each limit by itself. */
export function limitsOf(server: ConfiguredServer, known: Known, tool?: string): LimitRow[] {
  const { connectMs, callMs, idleMs } = known.settings.timeouts;
  const ofTool = tool === undefined ? [] : saidOfTool(server, known, tool);
  const rows = [
    row('connect', [
      ...said(server, known, 'connectTimeoutMs'),
      ...general(known, 'connectMs', connectMs),
      { ms: CONNECT_TIMEOUT_MS, by: 'the default' },
    ]),
    row('call', [
      ...ofTool,
      ...said(server, known, 'timeout'),
      ...general(known, 'callMs', callMs),
      { ms: CALL_TIMEOUT_MS, by: 'the default' },
    ]),
    row('idle', [...said(server, known, 'idleTimeoutMs'), ...general(known, 'idleMs', idleMs)]),
  ];
  const idle = pendingLimits(known, server.name, tool);
  return rows.map((it) => ({ ...it, said: [...it.said, ...idle[it.limit]] }));
}

function row(limit: LimitRow['limit'], all: readonly Said[]): LimitRow {
  const [first] = all;
  return {
    limit,
    ...(first && { ms: first.ms }),
    by: first?.by ?? 'a call may stay silent as long as it likes',
    said: all.map((it, at) => ({ ...it, counts: at === 0 })),
  };
}

type Member = 'connectTimeoutMs' | 'timeout' | 'idleTimeoutMs';

/** What settings and its entry say of it: what counts of it first, then the highest settings. */
function said(server: ConfiguredServer, known: Known, member: Member): Said[] {
  return saidOf(server, known, [member], (members) => members[member]);
}

/** The map that counts does so as a whole: where it leaves the tool out, no other speaks for it. */
function saidOfTool(server: ConfiguredServer, known: Known, tool: string): Said[] {
  const ofTool = ({ toolTimeoutsMs }: Limits) =>
    toolTimeoutsMs && Object.hasOwn(toolTimeoutsMs, tool) ? toolTimeoutsMs[tool] : undefined;
  return saidOf(server, known, ['toolTimeoutsMs', tool], ofTool);
}

type Limits = Pick<ServerOverride['members'], Member | 'toolTimeoutsMs'>;

function saidOf(
  { name, written, entry, settled }: ConfiguredServer,
  { settings, settingsSources }: Known,
  way: readonly [member: string, ...tool: string[]],
  read: (members: Limits) => number | undefined,
): Said[] {
  if (read(entry ?? {}) === undefined) return [];
  const path = way.join('.');
  const own = read(written.entry ?? {});
  const ofEntry = own === undefined ? [] : [{ ms: own, by: `"${path}" of its entry`, at: standOf(written) }];
  const overrides = settings.overrides.filter((it) => it.name === name).reverse();
  const ofSettings = overrides.flatMap((override) => {
    const ms = read(override.members);
    if (ms === undefined) return [];
    const at = standInSettings(settingsSources, override, ['serverSettings', name, ...way]);
    return [{ ms, by: `serverSettings.${name}.${path}`, at }];
  });
  // Who has the last word is decided where settings are laid over entries.
  const by = settled.find(({ member }) => member === way[0])?.label;
  const all = [...ofSettings, ...ofEntry];
  const counting = by === undefined ? ofEntry : all.filter(({ at }) => at.label === by).slice(0, 1);
  return [...counting, ...all.filter((it) => !counting.includes(it))];
}

function general(
  { settingsSources }: Known,
  member: 'connectMs' | 'callMs' | 'idleMs',
  told: Told<number> | undefined,
): Said[] {
  if (told === undefined) return [];
  const at = standInSettings(settingsSources, told, ['timeouts', member]);
  return [{ ms: told.value, by: `timeouts.${member} of settings`, at }];
}
