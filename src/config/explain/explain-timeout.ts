import { shellArguments } from '../../base/text/display-text.ts';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS } from '../../mcp/calls/time-limits.ts';
import type { Configuration } from '../configuration.ts';
import type { ConfiguredServer, ServerOverride } from '../model.ts';
import { isFullyActive } from '../settings/merge-settings.ts';
import { readSettings } from '../settings/read-settings.ts';
import {
  formatLocation,
  type LimitRow,
  locationAt,
  locationInSettings,
  locationOf,
  type TimeoutExplanation,
} from './explanation.ts';
import { resolveTool, similarNames } from './resolve-tool.ts';

/** Every limit of a server or tool: its value, where it comes from, and what it overrides. `name` is a server or a full tool name. */
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
  const silent = idle?.ms === undefined ? '' : `, or after ${formatDuration(idle.ms)} without progress`;
  const at = call?.candidates.find(({ isActive }) => isActive)?.at;
  const by = `${call?.by ?? ''}${at ? ` at ${formatLocation(at)}` : ''}`;
  return `A call of "${name}" times out after ${formatDuration(call?.ms ?? 0)}${silent}: ${by}.`;
}

/** Milliseconds as text, such as `2 min`. */
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
  const pending = limits.flatMap(({ candidates }) => candidates).find(({ isPending }) => isPending)?.at;
  return [
    where === undefined
      ? `to set a timeout: serverSettings.${server}.${member} (milliseconds) in your settings.json`
      : `to change the timeout of a call, edit ${where}`,
    ...(pending ? [`review ${pending.label} and approve it: toolplane mcp approve`] : []),
  ];
}

function unknownTimeout(configuration: Configuration, name: string, isBroken: boolean): TimeoutExplanation {
  const [near] = similarNames(configuration, name);
  const guess = near === undefined ? '' : `; did you mean "${near}"?`;
  return {
    kind: 'timeout',
    name,
    answer: isBroken
      ? `The server entry for "${name}" is invalid, so no timeouts can be shown.`
      : `Unknown server or tool "${name}"${guess === '' ? '.' : guess}`,
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
type LimitCandidate = LimitRow['candidates'][number];

/** Each limit with its key in a server entry, its key in `timeouts` of settings, and its default. */
const LIMITS = [
  {
    limit: 'connect',
    member: 'connectTimeoutMs',
    general: 'connectMs',
    defaults: [{ ms: CONNECT_TIMEOUT_MS, by: 'the default' }],
  },
  {
    limit: 'call',
    member: 'timeout',
    general: 'callMs',
    defaults: [{ ms: CALL_TIMEOUT_MS, by: 'the default' }],
  },
  { limit: 'idle', member: 'idleTimeoutMs', general: 'idleMs', defaults: [] },
] as const;

/** The path of a limit in a server entry, such as `["toolTimeoutsMs", "search"]`. */
type LimitPath = readonly [member: keyof Limits, ...tool: string[]];
type Limits = Pick<
  ServerOverride['members'],
  'connectTimeoutMs' | 'timeout' | 'idleTimeoutMs' | 'toolTimeoutsMs'
>;

/** Every limit of a server, or of one of its tools. The first candidate of each limit is active. */
export function timeoutsOf(server: ConfiguredServer, known: Known, tool?: string): LimitRow[] {
  return LIMITS.map(({ limit, member, general, defaults }) => {
    const paths: LimitPath[] = [
      ...(limit === 'call' && tool !== undefined ? [['toolTimeoutsMs', tool] as const] : []),
      [member],
    ];
    const all = [
      ...paths.flatMap((path) => serverCandidates(server, known, path)),
      ...generalCandidates(known, general),
      ...defaults,
    ];
    const [first] = all;
    return {
      limit,
      ...(first && { ms: first.ms }),
      by: first?.by ?? 'no limit is set',
      candidates: [
        ...all.map((it, at) => ({ ...it, isActive: at === 0 })),
        ...pendingCandidates(known, server.name, paths, general),
      ],
    };
  });
}

/** The limit in the entry and in `serverSettings`: the active one first, then the highest precedence first. */
function serverCandidates(
  { name, written, entry, settled }: ConfiguredServer,
  { settings, settingsSources }: Known,
  path: LimitPath,
): Omit<LimitCandidate, 'isActive'>[] {
  if (limitAt(entry ?? {}, path) === undefined) return [];
  const own = limitAt(written.entry ?? {}, path);
  const ofEntry =
    own === undefined
      ? []
      : [{ ms: own, by: `"${path.join('.')}" of the server entry`, at: locationOf(written) }];
  const overrides = settings.overrides.filter((it) => it.name === name).reverse();
  const ofSettings = overrides.flatMap((override) => {
    const ms = limitAt(override.members, path);
    if (ms === undefined) return [];
    const at = locationInSettings(settingsSources, override, ['serverSettings', name, ...path]);
    return [{ ms, by: `serverSettings.${name}.${path.join('.')}`, at }];
  });
  // The merge of settings and entries decided which file sets the key.
  const by = settled.find(({ member }) => member === path[0])?.label;
  const all = [...ofSettings, ...ofEntry];
  const active = by === undefined ? ofEntry : all.filter(({ at }) => at.label === by).slice(0, 1);
  return [...active, ...all.filter((it) => !active.includes(it))];
}

function limitAt(members: Limits, [member, tool]: LimitPath): number | undefined {
  const value = members[member];
  if (typeof value !== 'object') return value;
  return tool !== undefined && Object.hasOwn(value, tool) ? value[tool] : undefined;
}

function generalCandidates(
  { settings, settingsSources }: Known,
  key: 'connectMs' | 'callMs' | 'idleMs',
): Omit<LimitCandidate, 'isActive'>[] {
  const configured = settings.timeouts[key];
  if (configured === undefined) return [];
  const at = locationInSettings(settingsSources, configured, ['timeouts', key]);
  return [{ ms: configured.value, by: `timeouts.${key} of settings`, at }];
}

/** Limits in settings files of the project that are not approved, the highest precedence first. They have no effect. */
function pendingCandidates(
  { settings, settingsSources }: Known,
  server: string,
  paths: readonly LimitPath[],
  general: 'connectMs' | 'callMs' | 'idleMs',
): LimitCandidate[] {
  const pending = settingsSources.filter((source) => !isFullyActive(settings, source));
  return pending.reverse().flatMap(({ value, scope, label, locate }) => {
    const { timeouts, servers } = readSettings(value, scope).settings;
    const own = servers.filter(({ name }) => name === server);
    const candidate = (ms: number | undefined, by: string, path: readonly string[]): LimitCandidate[] =>
      ms === undefined
        ? []
        : [{ ms, by, at: locationAt(scope, label, locate(path)), isActive: false, isPending: true }];
    return [
      ...own.flatMap(({ members }) =>
        paths.flatMap((path) =>
          candidate(limitAt(members, path), `serverSettings.${server}.${path.join('.')}`, [
            'serverSettings',
            server,
            ...path,
          ]),
        ),
      ),
      ...candidate(timeouts[general], `timeouts.${general} of settings`, ['timeouts', general]),
    ];
  });
}
