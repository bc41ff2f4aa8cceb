import { compilePattern } from '../base/text/patterns.ts';
import { aliasesOf } from '../pool/unique-names.ts';
import type { HookEvent, HookInput, McpServerProvenance } from '../protocol/hook.ts';
import { isMcpToolName, mcpToolName, normalizeName, writtenToolName } from '../protocol/tool-name.ts';

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

/**
 * The hooks that run for what happened, in the order in which they were registered. A server's tool is matched by its
 * alias and by its full name `mcp__server__tool`, normalized or as the server writes it, as in permission rules: a hook
 * keeps running when another server takes the name, and a name that two servers could mean runs it for both.
 */
export function matchingHooks(hooks: readonly RegisteredHook[], input: HookInput): RegisteredHook[] {
  const subjects = matchedNames(input);
  return hooks.filter(
    ({ event, matcher = '' }) =>
      event === input.hook_event_name &&
      (subjects === undefined || subjects.some((subject) => matches(matcher, subject))),
  );
}

/** Why a matcher is no regular expression; its hooks run always, since a guard had better run too often. */
export function matcherFault(matcher: string): string | undefined {
  if (isEverything(matcher) || isNames(matcher)) return undefined;
  const compiled = compilePattern(matcher);
  return typeof compiled === 'string' ? compiled : undefined;
}

/** The names a matcher is compared with; undefined for events without any, which run all their hooks. */
function matchedNames(input: HookInput): readonly string[] | undefined {
  const member = SUBJECTS[input.hook_event_name];
  const value = member === undefined ? undefined : (input as Record<string, unknown>)[member];
  if (typeof value !== 'string') return undefined;
  if (member === 'mcp_server_name') return [value, normalizeName(value)];
  const server = 'mcp_server' in input ? (input.mcp_server as McpServerProvenance) : undefined;
  if (server === undefined) return [value];
  const { name, tool = value.slice(writtenToolName(name, '').length) } = server;
  return [value, mcpToolName(name, tool), writtenToolName(name, tool), ...aliasesOf(name, tool)];
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
  if (isNames(matcher)) return matcher.split('|').some((name) => isNamed(name.trim(), subject));
  const pattern = compilePattern(matcher);
  return typeof pattern === 'string' || pattern.test(subject);
}

/** Names of servers' tools may be written as the server gives them: `mcp__my server__read` is `mcp__my_server__read`. */
function isNamed(name: string, subject: string): boolean {
  return name === subject || (isMcpToolName(name) && normalizeName(name) === subject);
}

function isEverything(matcher: string): boolean {
  return matcher.trim() === '' || matcher.trim() === '*';
}

function isNames(matcher: string): boolean {
  return /^[\w\s|-]+$/.test(matcher);
}

/** What a failed hook does to what it was called for: nothing, or stops it. */
export type OnFailure = 'continue' | 'block';

/**
 * What it means that a hook failed: threw, timed out, was cut off, exited with another code than 0 or 2, or answered
 * something that is no answer. Events that guard an action fail closed, since a broken guard must not open the door;
 * events that only tell of something, or whose "no" would keep an agent from ever ending, fail open.
 */
export function onFailure(event: HookEvent, chosen?: OnFailure): OnFailure {
  return chosen ?? FAILURE_POLICY[event];
}

/** The policy of every event, for `onFailure` and for the documentation. */
export const FAILURE_POLICY: Readonly<Record<HookEvent, OnFailure>> = {
  // An action waits for the hook's word: no word, no action.
  PreToolUse: 'block',
  PermissionRequest: 'block',
  UserPromptSubmit: 'block',
  UserPromptExpansion: 'block',
  PreModelSwitch: 'block',
  ConfigChange: 'block',
  // What a person typed for a server leaves only if the hook could look at it.
  Elicitation: 'block',
  ElicitationResult: 'block',
  // "No" means "go on": a broken hook would keep the agent running for ever.
  Stop: 'continue',
  SubagentStop: 'continue',
  TeammateIdle: 'continue',
  // "No" would leave a full window full, and the conversation stuck.
  PreCompact: 'continue',
  // The tool has run; its result belongs to the model whatever a hook does.
  PostToolUse: 'continue',
  PostToolUseFailure: 'continue',
  PostToolBatch: 'continue',
  // These only tell.
  Notification: 'continue',
  SessionStart: 'continue',
  SessionEnd: 'continue',
  StopFailure: 'continue',
  SubagentStart: 'continue',
  PostCompact: 'continue',
  PostModelSwitch: 'continue',
  PermissionDenied: 'continue',
  Setup: 'continue',
  TaskCreated: 'continue',
  TaskCompleted: 'continue',
  WorktreeCreate: 'continue',
  WorktreeRemove: 'continue',
  InstructionsLoaded: 'continue',
  CwdChanged: 'continue',
  FileChanged: 'continue',
  DirectoryAdded: 'continue',
  MessageDisplay: 'continue',
};
