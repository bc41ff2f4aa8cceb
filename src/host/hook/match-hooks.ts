import type { HookEvent, HookInput } from '../../protocol/hook.ts';
import type { OnFailure } from './failure-policy.ts';

/** A hook as the host knows it: when it runs, and how it is reached. */
export type RegisteredHook = {
  readonly event: HookEvent;
  /** Empty or `*`: always. Plain names between `|`: exactly those. Anything else: a regular expression, found anywhere. */
  readonly matcher?: string;
  readonly timeoutMs?: number;
  /** Overrules the event's failure policy. */
  readonly onFailure?: OnFailure;
  readonly target:
    | { readonly kind: 'callback'; readonly id: string }
    | { readonly kind: 'command'; readonly command: string };
};

/** The hooks that run for what happened, in the order in which they were registered. */
export function matchingHooks(hooks: readonly RegisteredHook[], input: HookInput): RegisteredHook[] {
  const subject = matchedText(input);
  return hooks.filter(
    (hook) =>
      hook.event === input.hook_event_name && (subject === undefined || matches(hook.matcher ?? '', subject)),
  );
}

/** Matchers that are no regular expression; their hooks run always, since a guard had better run too often. */
export function faultyMatchers(hooks: readonly RegisteredHook[]): RegisteredHook[] {
  return hooks.filter(({ matcher = '' }) => !isEverything(matcher) && !isNames(matcher) && !pattern(matcher));
}

/** What a matcher is compared with; events without such a thing run all their hooks. */
function matchedText(input: HookInput): string | undefined {
  const member = SUBJECTS[input.hook_event_name];
  const value = member === undefined ? undefined : (input as Record<string, unknown>)[member];
  return typeof value === 'string' ? value : undefined;
}

const SUBJECTS: Readonly<Partial<Record<HookEvent, string>>> = {
  PreToolUse: 'tool_name',
  PostToolUse: 'tool_name',
  PostToolUseFailure: 'tool_name',
  PermissionRequest: 'tool_name',
  PermissionDenied: 'tool_name',
  Notification: 'notification_type',
  SessionStart: 'source',
  SessionEnd: 'reason',
  SubagentStart: 'agent_type',
  SubagentStop: 'agent_type',
  PreCompact: 'trigger',
  PostCompact: 'trigger',
  Elicitation: 'mcp_server_name',
  ElicitationResult: 'mcp_server_name',
};

function matches(matcher: string, subject: string): boolean {
  if (isEverything(matcher)) return true;
  if (isNames(matcher)) return matcher.split('|').some((name) => name.trim() === subject);
  return pattern(matcher)?.test(subject) ?? true;
}

function isEverything(matcher: string): boolean {
  return matcher.trim() === '' || matcher.trim() === '*';
}

function isNames(matcher: string): boolean {
  return /^[\w\s|-]+$/.test(matcher);
}

function pattern(matcher: string): RegExp | undefined {
  try {
    return new RegExp(matcher);
  } catch {
    return undefined;
  }
}
