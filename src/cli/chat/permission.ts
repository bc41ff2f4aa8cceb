import type { PermissionResult, PermissionUpdate } from '../../protocol/permission.ts';
import type { CanUseTool } from '../../sdk/options/options.ts';
import { line, type Piece, type Span } from '../terminal/render.ts';
import type { Asking } from './questions.ts';
import { formatRules } from './unattended.ts';
import type { Verdict } from './view.ts';

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
  asking.print(permissionQuestion(request, FIRST_LINES));
  const offered = choices(always, session, request.context);
  asking.print([offered]);
  for (;;) {
    const end = await asking.ask('allow? ');
    if (end.kind === 'withdrawn') return denied(WITHDRAWN, 'withdrawn');
    if (end.kind !== 'text') return denied(DISMISSED, 'you');
    const [, word = '', reason = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(end.text) ?? [];
    const choice = word.toLowerCase();
    if (choice === 'y' || choice === 'yes') return allowed('once', undefined);
    if ((choice === 'a' || choice === 'always') && always) return allowed('always', always);
    if ((choice === 's' || choice === 'session') && session) return allowed('for this session', session);
    if (choice === 'n' || choice === 'no') return denied(reason || REFUSED, 'you');
    if (choice === 'v' || choice === 'view')
      asking.print(permissionQuestion(request, Number.POSITIVE_INFINITY));
    asking.print([offered]);
  }
}

/** The question: the tool, its server and arguments, and why approval is required. */
export function permissionQuestion(
  { tool, input, context, annotations }: PermissionRequest,
  maxRows: number,
): Piece[] {
  const { mcpServer, decisionReason, description, title, blockedPath } = context;
  const from = mcpServer ? ` of server ${mcpServer.name}${sourceText(mcpServer.source)}` : '';
  const rows = JSON.stringify(input, null, 2).split('\n');
  const hidden = rows.length - maxRows;
  const shown = hidden > 0 ? rows.slice(0, maxRows) : rows;
  return [
    line(['? ', 'warn'], title ?? 'Approval required: ', ...(title ? [': '] : []), [tool, 'strong'], from),
    ...(description ? [line([`  ${description}`, 'dim'])] : []),
    ...shown.map((row) => line(`  ${row}`)),
    ...(hidden > 0 ? [line([`  … ${hidden} more lines; enter v to show all`, 'warn'])] : []),
    ...(annotations.length > 0 ? [line([`  annotations: ${annotations.join(', ')}`, 'dim'])] : []),
    ...(blockedPath ? [line([`  path: ${blockedPath}`, 'dim'])] : []),
    ...(decisionReason ? [line([`  reason: ${decisionReason}`, 'dim'])] : []),
  ];
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
  ['enterprise', 'from your organisation'],
  ['managed', 'from your organisation'],
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
  if (suggestions && suggestions.length > 0) return suggestions;
  return [{ type: 'addRules', rules: [{ toolName: tool }], behavior: 'allow', destination: 'session' }];
}

/** The same updates for this session only; undefined if they are already. */
function sessionUpdates(always: readonly PermissionUpdate[]): PermissionUpdate[] | undefined {
  const isLasting = always.some(({ destination }) => destination !== 'session' && destination !== 'cliArg');
  return isLasting ? always.map((update) => ({ ...update, destination: 'session' })) : undefined;
}

function choices(
  always: readonly PermissionUpdate[] | undefined,
  session: readonly PermissionUpdate[] | undefined,
  { toolChange }: PermissionRequest['context'],
): Piece {
  const more: Span[] = [
    ...(session ? ([['s', 'strong'], ' for this session   '] satisfies Span[]) : []),
    ...(always ? ([['a', 'strong'], ` always: ${whatAlways(always)}   `] satisfies Span[]) : []),
  ];
  const yes = toolChange ? ' yes, and accept the changed definition   ' : ' once   ';
  return line(['  y', 'strong'], yes, ...more, ['n', 'strong'], ' no (n <reason> to give a reason)');
}

const PLACES: Readonly<Record<string, string>> = {
  session: 'for this conversation',
  cliArg: 'for this conversation',
  localSettings: 'saved in .toolplane/settings.local.json',
  projectSettings: 'saved in .toolplane/settings.json',
  userSettings: 'saved in ~/.toolplane/settings.json',
};

/** What "always" allows, and where that is saved. */
export function whatAlways(updates: readonly PermissionUpdate[]): string {
  return updates
    .map((update) => {
      const place = PLACES[update.destination] ?? update.destination;
      if (update.type === 'setMode') return `mode ${update.mode} ${place}`;
      if ('directories' in update) return `${update.directories.join(', ')} ${place}`;
      return `${formatRules([update]).join(', ')} ${place}`;
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
