import { isRecord } from '../../../base/json-value.ts';
import { stderrDetail } from '../../../base/process/stderr-summary.ts';
import { formatCount, pluralize } from '../../../base/text/display-text.ts';
import { formatDuration } from '../../../config/explain/explain-timeout.ts';
import {
  type ConnectionRow,
  formatLocation,
  type HookRow,
  type LimitRow,
  type PermissionExplanation,
  type ReferenceRow,
  type RuleRow,
  type ServerExplanation,
  type TimeoutExplanation,
  type ToolExplanation,
} from '../../../config/explain/explanation.ts';
import { authText } from '../../mcp/entries.ts';
import { line, type Piece, type Tone } from '../../terminal/render.ts';
import { answerLine, facts, MARKS, nextLines, section } from '../../terminal/table.ts';

/** The full derivation of one server. */
export function serverText(it: ServerExplanation): Piece[] {
  const hasNameConflict = it.lost.some(({ why }) => why === 'same-name');
  return apart([
    [answerLine(markOf(it), it.answer)],
    sourceSection(it),
    section('entry, as written', it.entry ? entryRows(it.entry) : []),
    section(
      'changed by settings',
      it.settled.map(({ member, at }) => [member, formatLocation(at)]),
    ),
    section('variables, substituted at start', it.expansion.map(referenceRow)),
    it.verdict === 'unknown' ? [] : statusFacts(it),
    it.verdict === 'ready' ? limitSection(it.timeouts, 'brief') : [],
    section('problems', [], hasNameConflict ? [] : it.faults.filter((fault) => !it.answer.includes(fault))),
    nextLines(it.next),
  ]);
}

/** All servers, one line each. */
export function serversText(all: readonly ServerExplanation[]): Piece[] {
  if (all.length === 0)
    return [line('No servers are configured.'), ...nextLines(['toolplane mcp add <name> -- <command>'])];
  return [
    ...all.map((it) => answerLine(markOf(it), it.answer)),
    line(''),
    ...nextLines(['for details: toolplane explain server <name>']),
  ];
}

function markOf({ status, verdict }: ServerExplanation): readonly [string, Tone] {
  const waits = verdict === 'pending' || verdict === 'rejected' || verdict === 'disabled';
  return MARKS[waits ? 'waiting' : status];
}

function sourceSection({ sources }: ServerExplanation): Piece[] {
  const there = sources.filter(({ state }) => state !== 'absent');
  const absent = sources.filter(({ state }) => state === 'absent').map(({ label }) => label);
  return section(
    'sources, highest precedence first',
    there.map((row) => [
      row.has === 'winner' ? '→' : ' ',
      row.owner === undefined ? row.scope : `${row.scope} ${row.owner}`,
      formatLocation(row),
      row.says,
    ]),
    absent.length === 0 ? [] : [`not found: ${absent.join(', ')}`],
  );
}

function entryRows(entry: Readonly<Record<string, unknown>>): string[][] {
  return Object.entries(entry).flatMap(([name, value]) => {
    if (isRecord(value)) {
      return Object.entries(value).map(([key, inner]) => [`${name}.${key}`, textOf(inner)]);
    }
    return [[name, textOf(value)]];
  });
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(' ');
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function referenceRow({ where, reference, from }: ReferenceRow): string[] {
  return [where, reference, { value: 'set', default: 'not set, default is used', missing: 'NOT SET' }[from]];
}

function statusFacts({ policy, approval, connection, auth }: ServerExplanation): Piece[] {
  const authorization = auth && authText(auth);
  return facts([
    ['policy', policy.says],
    ['approval', approval.says],
    ...(authorization === undefined ? [] : [['authorization', authorization] as const]),
    ['connection', connectionText(connection)],
  ]);
}

/** The result of connecting, on one line. */
function connectionText(connection: ConnectionRow | 'not asked'): string {
  if (connection === 'not asked') return 'not tried';
  const { state, lastError, serverInfo, era, protocolVersion, tools, stderr } = connection;
  if (state !== 'connected') {
    const stderrText = stderrDetail(lastError ?? '', stderr ?? []);
    const stderrNote = stderrText === undefined ? '' : `; stderr: ${stderrText}`;
    return `${state}${lastError === undefined ? '' : `: ${lastError}`}${stderrNote}`;
  }
  return [
    'connected',
    ...(serverInfo ? [`${serverInfo.name} ${serverInfo.version}`] : []),
    ...(era ? [`${era} protocol${protocolVersion === undefined ? '' : ` ${protocolVersion}`}`] : []),
    ...(tools === undefined ? [] : [pluralize(tools, 'tool')]),
  ].join(', ');
}

/** Whether a call may run, and which rule decides. */
export function permissionText(it: PermissionExplanation): Piece[] {
  return apart([
    [answerLine(DECISIONS[it.decision], it.answer)],
    hookSection(it.hooks),
    ruleSection(it.rules),
    facts([
      ...(it.input === undefined ? [] : [['arguments', JSON.stringify(it.input)] as const]),
      ...(it.path === undefined ? [] : [['path', `resolves to ${it.path}`] as const]),
      ['mode', `${it.mode.mode} (${it.mode.says})`],
    ]),
    nextLines(it.next),
  ]);
}

export function timeoutText(it: TimeoutExplanation): Piece[] {
  return apart([
    [answerLine(MARKS[it.status], it.answer)],
    limitSection(it.limits, 'whole'),
    nextLines(it.next),
  ]);
}

/** One tool: where it comes from, what it costs, whether it may run. */
export function toolText(it: ToolExplanation): Piece[] {
  if (it.status === 'unknown' && it.server === undefined) {
    return apart([[answerLine(MARKS.unknown, it.answer)], nextLines(it.next)]);
  }
  const rows: (readonly [string, string])[] = [
    ...(it.server === undefined ? [] : [['server', it.server] as const]),
    ...(it.naming === undefined ? [] : [['name', it.naming] as const]),
    ['offered', `${it.offered.is ? 'yes' : 'no'}: ${it.offered.says}`],
    ...(it.deferred ? [['deferred', `${it.deferred.is ? 'yes' : 'no'}: ${it.deferred.says}`] as const] : []),
    ...(it.tokens === undefined
      ? []
      : [['cost', `about ${formatCount(it.tokens)} tokens in every request`] as const]),
    ...(it.changed === undefined ? [] : [['changed', it.changed] as const]),
    ...(it.server === undefined ? [] : [['connection', connectionText(it.connection)] as const]),
    ...(it.permission ? [['permission', `${it.permission.decision}: ${it.permission.reason}`] as const] : []),
  ];
  return apart([
    [answerLine(MARKS[it.status], it.answer)],
    facts(rows),
    it.permission ? hookSection(it.permission.hooks) : [],
    it.permission ? ruleSection(it.permission.rules) : [],
    limitSection(it.timeouts, 'brief'),
    nextLines(it.next),
  ]);
}

const DECISIONS: Readonly<Record<PermissionExplanation['decision'], readonly [string, Tone]>> = {
  allow: MARKS.usable,
  ask: MARKS.waiting,
  deny: MARKS.unusable,
};

function hookSection(hooks: readonly HookRow[]): Piece[] {
  return section(
    'hooks that run first',
    hooks.map(({ command, matcher, at }) => [
      matcher ? `PreToolUse ${matcher}` : 'PreToolUse',
      command,
      `${formatLocation(at)} (${at.scope})`,
    ]),
  );
}

function ruleSection(rules: readonly RuleRow[]): Piece[] {
  return section(
    'rules for this tool',
    rules.map(({ effect, rule, of, at, part }) => [
      part === 'decides' ? '→' : ' ',
      effect,
      rule,
      at ? `${formatLocation(at)} (${at.scope})` : of,
      PARTS[part],
    ]),
    rules.length === 0 ? ['none'] : [],
  );
}

const NOT_APPROVED = 'ignored: the file is not approved';

const PARTS: Readonly<Record<RuleRow['part'], string>> = {
  decides: 'decides',
  overridden: 'overridden: deny takes precedence over ask, ask over allow',
  'other arguments': 'applies to other arguments',
  'not approved': NOT_APPROVED,
};

/** The parts that are not empty, separated by blank lines. */
function apart(parts: readonly (readonly Piece[])[]): Piece[] {
  return parts
    .filter((part) => part.length > 0)
    .flatMap((part, at) => (at === 0 ? part : [line(''), ...part]));
}

/** Each limit with its source; with `whole`, also the values it overrides. */
function limitSection(limits: readonly LimitRow[], detail: 'brief' | 'whole'): Piece[] {
  return section(
    'timeouts',
    limits.flatMap((row) => [
      [row.limit, row.ms === undefined ? 'none' : formatDuration(row.ms), sourceText(row, detail)],
      ...(detail === 'whole' ? overriddenRows(row) : []),
    ]),
  );
}

function sourceText({ by, candidates }: LimitRow, detail: 'brief' | 'whole'): string {
  const at = candidates.find(({ isActive }) => isActive)?.at;
  const others = candidates.filter((it) => !it.isActive && !it.isPending && it.at !== undefined).length;
  const overrides =
    detail === 'whole' || others === 0
      ? ''
      : `, overrides ${others === 1 ? 'another value' : `${others} other values`}`;
  return `${by}${at ? ` at ${formatLocation(at)}` : ''}${overrides}`;
}

function overriddenRows({ candidates }: LimitRow): string[][] {
  return candidates
    .filter(({ isActive }) => !isActive)
    .map(({ ms, by, at, isPending }) => [
      isPending ? '  pending' : '  overridden',
      formatDuration(ms),
      `${by}${at ? ` at ${formatLocation(at)}` : ''}${isPending ? `, ${NOT_APPROVED}` : ''}`,
    ]);
}
