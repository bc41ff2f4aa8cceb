import { isRecord } from '../base/json-value.ts';
import type { McpServerProvenance } from '../protocol/hook.ts';
import { PERMISSION_MODES, type PermissionResult, type PermissionUpdate } from '../protocol/permission.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import type { Reason } from './decide.ts';
import type { ToolCall } from './match.ts';
import { ruleText } from './rule.ts';

/** A permission request that is shown to a person. */
export type Question = {
  readonly call: ToolCall;
  readonly toolUseId: string;
  /** The name of the tool for people. */
  readonly displayName?: string;
  /** What the call does, in a few words. */
  readonly description?: string;
  /** The path because of which the call requires approval. */
  readonly blockedPath?: string;
  readonly reason: Reason;
  /** The changes that "always allow" makes; `suggestUpdates` creates them. */
  readonly suggestions: readonly PermissionUpdate[];
  /** The server of an MCP tool. */
  readonly provenance?: McpServerProvenance;
  /** The sub-agent that makes the call; absent for the main agent. */
  readonly agentId?: string;
  /** The channels that are asked too. */
  readonly relayedTo?: readonly string[];
};

/** A way to ask a person: the terminal, `can_use_tool`, an inbox channel. */
export type Asker = {
  readonly name: string;
  /** The channels through which this asker asks people; the member `channel` of its result names the one that answered. */
  readonly channels?: readonly string[];
  /** The result is validated; the signal aborts when an answer is no longer needed. */
  readonly ask: (question: Question, signal: AbortSignal) => Promise<unknown>;
};

/** The result of a question; without `from` there was no answer and `result` is a denial. */
type Answered = {
  readonly result: PermissionResult;
  readonly from?: string;
  /** The channel through which the answer came. */
  readonly channel?: string;
  /** The errors of askers, in the order in which they occurred. */
  readonly failures: readonly { readonly asker: string; readonly message: string }[];
};

/** Asks all askers at once; the first valid answer wins. No answer, or an abort, is a denial. */
export async function askPeople(
  askers: readonly Asker[],
  question: Question,
  signal: AbortSignal,
): Promise<Answered> {
  const failures: { asker: string; message: string }[] = [];
  if (signal.aborted) return { result: denied(ABORTED), failures };
  const settled = new AbortController();
  const { promise: aborted, resolve: abort } = Promise.withResolvers<Answered>();
  const onAbort = () => abort({ result: denied(ABORTED), failures: [...failures] });
  signal.addEventListener('abort', onAbort, { once: true });

  const first = Promise.any(askers.map((asker) => askOne(asker, question, settled.signal, failures))).then(
    (won): Answered => ({ ...won, failures: [...failures] }),
    (): Answered => ({ result: denied(noAnswerMessage(question, failures)), failures }),
  );
  try {
    return await Promise.race([first, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    settled.abort();
  }
}

async function askOne(
  asker: Asker,
  question: Question,
  signal: AbortSignal,
  failures: { asker: string; message: string }[],
): Promise<{ result: PermissionResult; from: string; channel?: string }> {
  try {
    const given = await asker.ask(question, signal);
    const result = readAnswer(given);
    if (!result) throw new Error('the answer must be { behavior: "allow" } or { behavior: "deny", message }');
    const channel = asker.channels && isRecord(given) ? given.channel : undefined;
    return { result, from: asker.name, ...(typeof channel === 'string' && { channel }) };
  } catch (thrown) {
    failures.push({ asker: asker.name, message: messageOf(thrown) });
    throw thrown;
  }
}

const ABORTED = 'The permission request was cancelled before it was answered.';

function noAnswerMessage(
  question: Question,
  failures: readonly { asker: string; message: string }[],
): string {
  if (failures.length === 0) {
    const parts = [
      'Permission required, but there is no user or callback to ask',
      ...whatWouldAllow(question),
    ];
    return `${parts.join('; ')}.`;
  }
  const each = failures.map(({ asker, message }) => `${asker}: ${message}`).join('; ');
  return `Permission required, but the approval request failed (${each}).`;
}

/** What would allow the call. No other rule overrides an ask rule, or a deny rule that cannot be checked. */
function whatWouldAllow({ reason, suggestions }: Question): string[] {
  if (reason.rule) return [reason.text];
  if (reason.changed)
    return [reason.text, ...(reason.changed.remedy === undefined ? [] : [reason.changed.remedy])];
  const named = suggestions.flatMap((update) => {
    if (update.type === 'setMode') return [`mode ${update.mode}`];
    if (!('rules' in update)) return [];
    return update.rules.map(
      ({ toolName: tool, ruleContent }) =>
        `the rule "${ruleText({ tool, ...(ruleContent !== undefined && { content: ruleContent }) })}"`,
    );
  });
  return named.length === 0 ? [] : [`${named.join(' and ')} would allow the call`];
}

function denied(message: string): PermissionResult {
  return { behavior: 'deny', message };
}

/** Validates an answer; undefined if any part of it is invalid. */
function readAnswer(value: unknown): PermissionResult | undefined {
  if (!isRecord(value)) return undefined;
  if (value.behavior === 'deny') {
    return {
      behavior: 'deny',
      message: typeof value.message === 'string' ? value.message : 'The call was denied without a message',
      ...(typeof value.interrupt === 'boolean' && { interrupt: value.interrupt }),
    };
  }
  if (value.behavior !== 'allow') return undefined;
  // JSON has no undefined: an absent member may arrive as null.
  const updatedInput = value.updatedInput ?? undefined;
  const updates = value.updatedPermissions ?? [];
  if (updatedInput !== undefined && !isRecord(updatedInput)) return undefined;
  if (!Array.isArray(updates) || !updates.every(isPermissionUpdate)) return undefined;
  return {
    behavior: 'allow',
    // As in the claude CLI, an empty object keeps the input of the call.
    ...(updatedInput && Object.keys(updatedInput).length > 0 && { updatedInput }),
    ...(updates.length > 0 && { updatedPermissions: updates }),
  };
}

/** Whether an external value is a valid permission update. */
export function isPermissionUpdate(value: unknown): value is PermissionUpdate {
  if (!isRecord(value) || !DESTINATIONS.has(value.destination)) return false;
  switch (value.type) {
    case 'addRules':
    case 'replaceRules':
    case 'removeRules':
      return BEHAVIORS.has(value.behavior) && Array.isArray(value.rules) && value.rules.every(isRuleValue);
    case 'setMode':
      return (PERMISSION_MODES as readonly unknown[]).includes(value.mode);
    case 'addDirectories':
    case 'removeDirectories':
      return Array.isArray(value.directories) && value.directories.every((it) => typeof it === 'string');
    default:
      return false;
  }
}

function isRuleValue(value: unknown): boolean {
  if (!isRecord(value) || typeof value.toolName !== 'string') return false;
  return value.ruleContent === undefined || typeof value.ruleContent === 'string';
}

const BEHAVIORS: ReadonlySet<unknown> = new Set(['allow', 'deny', 'ask']);
const DESTINATIONS: ReadonlySet<unknown> = new Set([
  'userSettings',
  'projectSettings',
  'localSettings',
  'session',
  'cliArg',
]);
