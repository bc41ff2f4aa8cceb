import { CALL_TIMEOUT_MS } from '../../servers/call/time-limits.ts';
import type { Configuration } from '../configuration.ts';
import type { ConfiguredServer, ServerOverride } from '../model.ts';
import type { Told } from '../settings/settings.ts';
import type { LimitRow, Stand } from './explanation.ts';
import { standInSettings, standOf } from './stand.ts';

/** From dialling to the first list of tools, where nobody says otherwise. */
const CONNECT_MS = 30_000;

type Known = Pick<Configuration, 'settings' | 'settingsSources'>;
type Said = { readonly ms: number; readonly by: string; readonly at?: Stand };

/** Every limit of a server, or of one of its tools; the nearest that says something counts, each limit by itself. */
export function limitsOf(server: ConfiguredServer, known: Known, tool?: string): LimitRow[] {
  const { connectMs, callMs, idleMs } = known.settings.timeouts;
  const ofTool = tool === undefined ? [] : saidOfTool(server, known, tool);
  return [
    row('connect', [
      ...said(server, known, 'connectTimeoutMs'),
      ...general(known, 'connectMs', connectMs),
      { ms: CONNECT_MS, by: 'the default' },
    ]),
    row('call', [
      ...ofTool,
      ...said(server, known, 'timeout'),
      ...general(known, 'callMs', callMs),
      { ms: CALL_TIMEOUT_MS, by: 'the default' },
    ]),
    row('idle', [...said(server, known, 'idleTimeoutMs'), ...general(known, 'idleMs', idleMs)]),
  ];
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

/** What settings say of the server beats its entry, the highest settings first. */
function said({ name, written }: ConfiguredServer, known: Known, member: Member): Said[] {
  const own = written.entry?.[member];
  return [
    ...overridesOf(name, known).flatMap((override) => {
      const ms = override.members[member];
      if (ms === undefined) return [];
      const at = standInSettings(known.settingsSources, override, ['serverSettings', name, member]);
      return [{ ms, by: `serverSettings.${name}.${member}`, at }];
    }),
    ...(own === undefined ? [] : [{ ms: own, by: `"${member}" of its entry`, at: standOf(written) }]),
  ];
}

/** The map of the highest settings that have one is the map that counts, as a whole. */
function saidOfTool({ name, written, entry }: ConfiguredServer, known: Known, tool: string): Said[] {
  const found: Said[] = [];
  for (const override of overridesOf(name, known)) {
    const ms = ofMap(override.members.toolTimeoutsMs, tool);
    if (ms === undefined) continue;
    const path = ['serverSettings', name, 'toolTimeoutsMs', tool];
    const at = standInSettings(known.settingsSources, override, path);
    found.push({ ms, by: `serverSettings.${name}.toolTimeoutsMs.${tool}`, at });
  }
  const own = ofMap(written.entry?.toolTimeoutsMs, tool);
  if (own !== undefined) {
    found.push({ ms: own, by: `"toolTimeoutsMs.${tool}" of its entry`, at: standOf(written) });
  }
  const counting = ofMap(entry?.toolTimeoutsMs, tool);
  return counting === undefined ? [] : found;
}

function ofMap(map: Readonly<Record<string, number>> | undefined, tool: string): number | undefined {
  return map && Object.hasOwn(map, tool) ? map[tool] : undefined;
}

function overridesOf(name: string, { settings }: Known): ServerOverride[] {
  return settings.overrides.filter((it) => it.name === name).reverse();
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
