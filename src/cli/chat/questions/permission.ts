import { commandPrefix } from '../../../permissions/commands/command-prefix.ts';
import type { PermissionResult, PermissionUpdate } from '../../../protocol/permission.ts';
import type { CanUseTool } from '../../../sdk/options/options.ts';
import { notUnderstood } from '../../terminal/dialogue.ts';
import { line, type Piece } from '../../terminal/render.ts';
import { inputPieces } from '../live/call-input.ts';
import { channelNames } from '../message-text.ts';
import type { Verdict } from '../view.ts';
import type { Asking } from './questions.ts';
import { formatRules } from './unattended.ts';

/** A call that requires approval. */
export type PermissionRequest = {
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly context: Omit<Parameters<CanUseTool>[2], 'signal'>;
  /** Annotations of the tool: `read-only`, `destructive`. */
  readonly annotations: readonly string[];
};

export type PermissionAnswer = { readonly result: PermissionResult; readonly verdict: Verdict };

/** Asks until there is an answer. Ctrl-C and the end of the input deny the call; the turn continues. */
export async function askPermission(request: PermissionRequest, asking: Asking): Promise<PermissionAnswer> {
  const always = alwaysUpdates(request);
  const session = always && sessionUpdates(always);
  const prefix = always && prefixUpdates(request, always);
  const input = await inputPieces(request.tool, request.input);
  asking.print(permissionQuestion(request, input, FIRST_LINES));
  const offered = choices({ always, session, prefix }, request.context);
  asking.print(offered);
  for (;;) {
    const end = await asking.ask('allow? ');
    if (end.kind === 'withdrawn') return denied(WITHDRAWN, 'withdrawn');
    if (end.kind !== 'text') return denied(DISMISSED, 'you');
    const [, word = '', reason = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(end.text) ?? [];
    const choice = word.toLowerCase();
    if (choice === 'y' || choice === 'yes') return allowed('once', undefined);
    if ((choice === 'a' || choice === 'always') && always) return allowed('always', always);
    if ((choice === 's' || choice === 'session') && session) return allowed('for this session', session);
    if ((choice === 'p' || choice === 'prefix') && prefix) return allowed('always', prefix);
    if (choice === 'n' || choice === 'no') return denied(reason || REFUSED, 'you');
    if (choice === 'v' || choice === 'view')
      asking.print(permissionQuestion(request, input, Number.POSITIVE_INFINITY));
    else asking.print([notUnderstood(end.text.trim())]);
    asking.print(offered);
  }
}

/** The question: the tool, its server and arguments, and why approval is required. */
function permissionQuestion(
  { tool, input, context, annotations }: PermissionRequest,
  rows: readonly Piece[],
  maxRows: number,
): Piece[] {
  const { mcpServer, decisionReason, description, title, blockedPath } = context;
  const from = mcpServer ? ` of server ${mcpServer.name}${sourceText(mcpServer.source)}` : '';
  const hidden = rows.length - maxRows;
  const shown = hidden > 1 ? rows.slice(0, maxRows) : rows;
  return [
    line(['? ', 'warn'], title ?? 'Approval required: ', ...(title ? [': '] : []), [tool, 'strong'], from),
    ...(description && !isPartOf(input, description) ? [line([`  ${description}`, 'dim'])] : []),
    ...shown,
    ...(hidden > 1 ? [line([`  … ${hidden} more lines; enter v to show all`, 'warn'])] : []),
    ...(annotations.length > 0 ? [line([`  annotations: ${annotations.join(', ')}`, 'dim'])] : []),
    ...(blockedPath ? [line([`  path: ${blockedPath}`, 'dim'])] : []),
    ...(decisionReason ? [line([`  reason: ${decisionReason}`, 'dim'])] : []),
    ...relayedLine(context),
  ];
}

/** The channels that may answer the question too. */
export function relayedLine({ relayedTo = [] }: PermissionRequest['context']): Piece[] {
  return relayedTo.length > 0 ? [line([`  also asked: ${channelNames(relayedTo)}`, 'dim'])] : [];
}

/** Whether an argument, which is shown too, ends with the text. */
function isPartOf(input: Readonly<Record<string, unknown>>, text: string): boolean {
  return Object.values(input).some((value) => typeof value === 'string' && value.endsWith(text));
}

/** The source of a server; a server from a flag of this command has none. */
function sourceText(source: string): string {
  const label = SOURCES.get(source) ?? source;
  return label === '' ? '' : ` (${label})`;
}

const SOURCES: ReadonlyMap<string, string> = new Map([
  ['dynamic', ''],
  ['sdk', 'in this program'],
  ['project', 'from this project'],
  ['local', 'from .toolplane/settings.local.json'],
  ['user', 'from your settings'],
  ['enterprise', 'from your organization'],
  ['managed', 'from your organization'],
]);

const FIRST_LINES = 15;
const REFUSED = 'The user denied the call.';
const DISMISSED = 'The user dismissed the question.';
const WITHDRAWN = 'The permission request was withdrawn.';

/** The updates for "always": the agent's suggestions, or a session rule for this tool; undefined if no rule can allow it. */
export function alwaysUpdates({
  tool,
  context,
}: Pick<PermissionRequest, 'tool' | 'context'>): PermissionUpdate[] | undefined {
  const { suggestions, suppressAlwaysAllowRule, serverPolicyAskOnly, toolChange } = context;
  if (suppressAlwaysAllowRule || serverPolicyAskOnly || toolChange) return undefined;
  const rules = suggestions?.filter(({ type }) => type === 'addRules') ?? [];
  // A mode allows more than calls like this one.
  if (rules.length > 0) return rules;
  if (suggestions && suggestions.length > 0) return suggestions;
  return [{ type: 'addRules', rules: [{ toolName: tool }], behavior: 'allow', destination: 'session' }];
}

/** The same updates for this session only; undefined if the updates apply only to this session anyway. */
function sessionUpdates(always: readonly PermissionUpdate[]): PermissionUpdate[] | undefined {
  const isLasting = always.some(({ destination }) => destination !== 'session' && destination !== 'cliArg');
  return isLasting ? always.map((update) => ({ ...update, destination: 'session' })) : undefined;
}

type Offers = Readonly<Record<'always' | 'session' | 'prefix', readonly PermissionUpdate[] | undefined>>;

/** Each answer has its own line, so that the answers can be read at any width. */
function choices({ always, session, prefix }: Offers, { toolChange }: PermissionRequest['context']): Piece[] {
  const rows = [
    ['y', toolChange ? 'yes, and accept the changed definition' : 'yes, once'],
    ...(session ? [['s', 'yes, for this session'] as const] : []),
    ...(always ? [['a', `always: ${whatAlways(always)}`] as const] : []),
    ...(prefix ? [['p', `always with this prefix: ${whatAlways(prefix)}`] as const] : []),
    ['n', 'no; n <reason> gives the model a reason'],
  ] as const;
  return rows.map(([key, text]) => ({
    kind: 'line',
    spans: ['  ', [key, 'strong'], ` ${text}`],
    overflow: 'wrap',
    hang: 4,
  }));
}

/** The rule of "always" for all commands that start like this one; undefined if that would allow too much. */
function prefixUpdates(
  { tool, input }: Pick<PermissionRequest, 'tool' | 'input'>,
  always: readonly PermissionUpdate[],
): PermissionUpdate[] | undefined {
  const prefix =
    tool === 'Bash' && typeof input.command === 'string' ? commandPrefix(input.command) : undefined;
  const [update] = always;
  if (prefix === undefined || update?.type !== 'addRules' || always.length > 1) return undefined;
  if (update.rules.some(({ ruleContent }) => ruleContent === `${prefix} *`)) return undefined;
  return [{ ...update, rules: [{ toolName: tool, ruleContent: `${prefix}:*` }] }];
}

const PLACES: Readonly<Record<string, string>> = {
  session: ' for this conversation',
  cliArg: ' for this conversation',
  localSettings: ', saved in .toolplane/settings.local.json',
  projectSettings: ', saved in .toolplane/settings.json',
  userSettings: ', saved in ~/.toolplane/settings.json',
};

/** What "always" allows, and where that is saved. */
export function whatAlways(updates: readonly PermissionUpdate[]): string {
  return updates
    .map((update) => {
      const place = PLACES[update.destination] ?? ` in ${update.destination}`;
      if (update.type === 'setMode') return `set mode ${update.mode}${place}`;
      if ('directories' in update) return `allow access to ${update.directories.join(', ')}${place}`;
      return `allow ${formatRules([update]).join(', ')}${place}`;
    })
    .join('; ');
}

function allowed(
  how: NonNullable<Verdict['how']>,
  updates: PermissionUpdate[] | undefined,
): PermissionAnswer {
  return {
    result: { behavior: 'allow', ...(updates && { updatedPermissions: updates }) },
    verdict: { behavior: 'allow', by: 'you', how },
  };
}

function denied(message: string, by: Verdict['by']): PermissionAnswer {
  return { result: { behavior: 'deny', message }, verdict: { behavior: 'deny', by, reason: message } };
}
