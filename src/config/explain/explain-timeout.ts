import { shellArguments } from '../../base/text/display-text.ts';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS } from '../../mcp/calls/time-limits.ts';
import type { Configuration } from '../configuration.ts';
import type { ConfiguredServer, ServerOverride } from '../model.ts';
import { isFullyActive, type Sourced } from '../settings/merge-settings.ts';
import { readSettings } from '../settings/read-settings.ts';
import {
  formatLocation,
  type LimitRow,
  type Location,
  locationAt,
  locationInSettings,
  locationOf,
  type TimeoutExplanation,
} from './explanation.ts';
import { resolveTool, similarNames } from './resolve-tool.ts';

/** Every limit of a server, or of a tool of it: its value, where it comes from, and what it beat. `name` may be that of a tool. */
export function explainTimeout(
  configuration: Configuration,
  name: string,
  tool?: string,
): TimeoutExplanation {
  const { merged } = configuration;
  const own = merged.servers.find((it) => it.name === name);
  const ref = own ? { server: name, tool } : resolveTool(configuration, name);
  const server = own ?? merged.servers.find((it) => it.name === ref.server);
  if (!server?.entry) return unknownTimeout(configuration, name, server !== undefined);
  const limits = timeoutsOf(server, configuration, ref.tool);
  return {
    kind: 'timeout',
    name,
    server: server.name,
    ...(ref.tool !== undefined && { tool: ref.tool }),
    answer: answerOf(ref.tool ?? server.name, limits),
    status: 'usable',
    limits,
    next: nextOf(server.name, ref.tool, limits),
  };
}

function answerOf(name: string, limits: readonly LimitRow[]): string {
  const call = limits.find(({ limit }) => limit === 'call');
  const idle = limits.find(({ limit }) => limit === 'idle');
  const silent = idle?.ms === undefined ? '' : `, or after ${formatDuration(idle.ms)} of silence`;
  const at = call?.candidates.find(({ isActive }) => isActive)?.at;
  const by = `${call?.by ?? ''}${at ? ` at ${formatLocation(at)}` : ''}`;
  return `A call of "${name}" is ended after ${formatDuration(call?.ms ?? 0)}${silent}: ${by}.`;
}

/** Milliseconds as people read them. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 120_000) return `${trimmed(ms / 1000)} s`;
  if (ms < 7_200_000) return `${trimmed(ms / 60_000)} min`;
  if (ms < DAY || ms % 3_600_000 === 0) return `${trimmed(ms / 3_600_000)} h`;
  const about = ms < 2 * DAY ? `${Math.round(ms / 3_600_000)} hours` : `${Math.round(ms / DAY)} days`;
  return `about ${about} (${ms.toLocaleString('en-US')} ms)`;
}

const DAY = 86_400_000;

function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '');
}

function nextOf(server: string, tool: string | undefined, limits: readonly LimitRow[]): string[] {
  const call = limits.find(({ limit }) => limit === 'call');
  const at = call?.candidates.find(({ isActive }) => isActive)?.at;
  const where = at && formatLocation(at);
  const member = tool === undefined ? 'timeout' : `toolTimeoutsMs.${tool}`;
  const idle = limits.flatMap(({ candidates }) => candidates).find(({ isPending }) => isPending)?.at;
  return [
    where === undefined
      ? `to set one: serverSettings.${server}.${member} (milliseconds) in your settings.json`
      : `to change how long a call may take: ${where}`,
    ...(idle ? [`if you trust ${idle.label}, approve it: toolplane mcp approve --settings`] : []),
  ];
}

function unknownTimeout(configuration: Configuration, name: string, isBroken: boolean): TimeoutExplanation {
  const [near] = similarNames(configuration, name);
  const guess = near === undefined ? '' : `; did you mean "${near}"?`;
  return {
    kind: 'timeout',
    name,
    answer: isBroken
      ? `"${name}" cannot be used as it is written, so it has no limits.`
      : `There is no server or tool "${name}" here${guess === '' ? '.' : guess}`,
    status: isBroken ? 'unusable' : 'unknown',
    limits: [],
    next: [
      isBroken || near === undefined
        ? `toolplane explain server ${shellArguments(name)}`
        : `toolplane explain timeout ${shellArguments(near)}`,
    ],
  };
}

type Known = Pick<Configuration, 'settings' | 'settingsSources'>;
type LimitCandidate = { readonly ms: number; readonly by: string; readonly at?: Location };

/** Every limit of a server, or of one of its tools; the nearest that says something counts, each limit by itself. */
export function timeoutsOf(server: ConfiguredServer, known: Known, tool?: string): LimitRow[] {
  const { connectMs, callMs, idleMs } = known.settings.timeouts;
  const ofTool = tool === undefined ? [] : toolCandidates(server, known, tool);
  const rows = [
    row('connect', [
      ...serverCandidates(server, known, 'connectTimeoutMs'),
      ...general(known, 'connectMs', connectMs),
      { ms: CONNECT_TIMEOUT_MS, by: 'the default' },
    ]),
    row('call', [
      ...ofTool,
      ...serverCandidates(server, known, 'timeout'),
      ...general(known, 'callMs', callMs),
      { ms: CALL_TIMEOUT_MS, by: 'the default' },
    ]),
    row('idle', [...serverCandidates(server, known, 'idleTimeoutMs'), ...general(known, 'idleMs', idleMs)]),
  ];
  const idle = pendingLimits(known, server.name, tool);
  return rows.map((it) => ({ ...it, candidates: [...it.candidates, ...idle[it.limit]] }));
}

function row(limit: LimitRow['limit'], all: readonly LimitCandidate[]): LimitRow {
  const [first] = all;
  return {
    limit,
    ...(first && { ms: first.ms }),
    by: first?.by ?? 'the default',
    candidates: all.map((it, at) => ({ ...it, isActive: at === 0 })),
  };
}

type Member = 'connectTimeoutMs' | 'timeout' | 'idleTimeoutMs';

/** What settings and its entry say of it: what counts of it first, then the highest settings. */
function serverCandidates(server: ConfiguredServer, known: Known, member: Member): LimitCandidate[] {
  return candidatesFor(server, known, [member], (members) => members[member]);
}

/** The map that counts does so as a whole: where it leaves the tool out, no other speaks for it. */
function toolCandidates(server: ConfiguredServer, known: Known, tool: string): LimitCandidate[] {
  const ofTool = ({ toolTimeoutsMs }: Limits) =>
    toolTimeoutsMs && Object.hasOwn(toolTimeoutsMs, tool) ? toolTimeoutsMs[tool] : undefined;
  return candidatesFor(server, known, ['toolTimeoutsMs', tool], ofTool);
}

type Limits = Pick<ServerOverride['members'], Member | 'toolTimeoutsMs'>;

function candidatesFor(
  { name, written, entry, settled }: ConfiguredServer,
  { settings, settingsSources }: Known,
  way: readonly [member: string, ...tool: string[]],
  read: (members: Limits) => number | undefined,
): LimitCandidate[] {
  if (read(entry ?? {}) === undefined) return [];
  const path = way.join('.');
  const own = read(written.entry ?? {});
  const ofEntry =
    own === undefined ? [] : [{ ms: own, by: `"${path}" of its entry`, at: locationOf(written) }];
  const overrides = settings.overrides.filter((it) => it.name === name).reverse();
  const ofSettings = overrides.flatMap((override) => {
    const ms = read(override.members);
    if (ms === undefined) return [];
    const at = locationInSettings(settingsSources, override, ['serverSettings', name, ...way]);
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
  configured: Sourced<number> | undefined,
): LimitCandidate[] {
  if (configured === undefined) return [];
  const at = locationInSettings(settingsSources, configured, ['timeouts', member]);
  return [{ ms: configured.value, by: `timeouts.${member} of settings`, at }];
}

type PendingLimit = LimitRow['candidates'][number];

/** Limits in files of the project that nobody approved: people wonder why they do nothing. The highest first. */
function pendingLimits(
  { settings, settingsSources }: Pick<Configuration, 'settings' | 'settingsSources'>,
  server: string,
  tool?: string,
): Readonly<Record<LimitRow['limit'], readonly PendingLimit[]>> {
  const all: Record<LimitRow['limit'], PendingLimit[]> = { connect: [], call: [], idle: [] };
  const waiting = settingsSources.filter((source) => !isFullyActive(settings, source));
  for (const { value, scope, label, locate } of waiting.reverse()) {
    const addCandidate = (
      limit: LimitRow['limit'],
      ms: number | undefined,
      by: string,
      path: readonly string[],
    ) => {
      if (ms === undefined) return;
      all[limit].push({
        ms,
        by,
        at: locationAt(scope, label, locate(path)),
        isActive: false,
        isPending: true,
      });
    };
    const { timeouts, servers } = readSettings(value, scope).settings;
    for (const { members } of servers.filter(({ name }) => name === server)) {
      const own = (limit: LimitRow['limit'], ms: number | undefined, ...way: string[]) =>
        addCandidate(limit, ms, `serverSettings.${server}.${way.join('.')}`, [
          'serverSettings',
          server,
          ...way,
        ]);
      own('connect', members.connectTimeoutMs, 'connectTimeoutMs');
      const { toolTimeoutsMs = {} } = members;
      if (tool !== undefined && Object.hasOwn(toolTimeoutsMs, tool))
        own('call', toolTimeoutsMs[tool], 'toolTimeoutsMs', tool);
      own('call', members.timeout, 'timeout');
      own('idle', members.idleTimeoutMs, 'idleTimeoutMs');
    }
    addCandidate('connect', timeouts.connectMs, 'timeouts.connectMs of settings', ['timeouts', 'connectMs']);
    addCandidate('call', timeouts.callMs, 'timeouts.callMs of settings', ['timeouts', 'callMs']);
    addCandidate('idle', timeouts.idleMs, 'timeouts.idleMs of settings', ['timeouts', 'idleMs']);
  }
  return all;
}
