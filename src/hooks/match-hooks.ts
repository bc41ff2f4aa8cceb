import { isRecord } from '../base/json-value.ts';
import { compilePattern } from '../base/text/patterns.ts';
import { matchCall } from '../permissions/match.ts';
import type { Rule } from '../permissions/rule.ts';
import { aliasesOf } from '../pool/unique-names.ts';
import type { HookEvent, HookInput, McpServerProvenance } from '../protocol/hook.ts';
import { isMcpToolName, mcpToolName, normalizeName, writtenToolName } from '../protocol/tool-name.ts';

/** A registered hook: when it runs, and what it runs. */
export type RegisteredHook = {
  readonly event: HookEvent;
  /** Empty or `*`: always. Names separated by `|`: exactly those. Anything else: an unanchored regular expression. */
  readonly matcher?: string;
  /** The hook runs only for tool calls that this rule may match. */
  readonly condition?: Rule;
  readonly timeoutMs?: number;
  /** Overrides the event's failure policy. */
  readonly onFailure?: OnFailure;
  readonly target: { readonly kind: 'callback'; readonly id: string } | HookCommand;
};

/** A shell command, or with `args` a program that is started without a shell. */
export type HookCommand = {
  readonly kind: 'command';
  readonly command: string;
  readonly args?: readonly string[];
  /** The action does not wait for the command, and its output is ignored. */
  readonly isBackground?: true;
};

/**
 * The hooks that run for an event, in the order of registration. An MCP tool is matched by its alias and by its full name
 * `mcp__server__tool`, normalized or as the server writes it, as in permission rules: a hook still runs if another server
 * takes the name, and a name that two servers could mean runs it for both.
 */
export function matchingHooks(
  hooks: readonly RegisteredHook[],
  input: HookInput,
  home = '/',
): RegisteredHook[] {
  const subjects = matchedNames(input);
  return hooks.filter(
    ({ event, matcher = '', condition }) =>
      event === input.hook_event_name &&
      (subjects === undefined || subjects.some((subject) => matches(matcher, subject))) &&
      (condition === undefined || mayMatch(condition, input, home)),
  );
}

/** A hook may be a guard, so it also runs if the rule cannot be compared with the call. */
function mayMatch(rule: Rule, input: HookInput, home: string): boolean {
  if (!('tool_name' in input) || !isRecord(input.tool_input)) return true;
  const { tool_name: name, tool_input } = input;
  const server = 'mcp_server' in input ? (input.mcp_server as McpServerProvenance) : undefined;
  const call = {
    name,
    ...(server && { server: server.name, tool: ownToolName(name, server) }),
    input: tool_input,
  };
  return matchCall(rule, call, { cwd: input.cwd, home, directories: [] }).kind !== 'no';
}

/**
 * Why a matcher is not a valid regular expression. Its hooks never run, as in the `claude` CLI; if only our syntax lacks
 * something that it contains, they always run, because they may be guards.
 */
export function matcherFault(matcher: string): string | undefined {
  if (isEverything(matcher) || isNames(matcher)) return undefined;
  const compiled = compilePattern(matcher);
  return typeof compiled === 'string' ? compiled : undefined;
}

/** The names that a matcher is compared with; undefined for events without names, which run all their hooks. */
function matchedNames(input: HookInput): readonly string[] | undefined {
  const member = SUBJECTS[input.hook_event_name];
  const value = member === undefined ? undefined : (input as Record<string, unknown>)[member];
  if (typeof value !== 'string') return undefined;
  if (member === 'mcp_server_name') return [value, normalizeName(value)];
  const server = 'mcp_server' in input ? (input.mcp_server as McpServerProvenance) : undefined;
  if (server === undefined) return [value];
  const { name } = server;
  const tool = ownToolName(value, server);
  return [value, mcpToolName(name, tool), writtenToolName(name, tool), ...aliasesOf(name, tool)];
}

/** The tool's own name at its server, which is given only if the model sees an alias. */
function ownToolName(name: string, { name: server, tool }: McpServerProvenance): string {
  return tool ?? name.slice(writtenToolName(server, '').length);
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
  return typeof pattern === 'string' ? isRegularExpression(matcher) : pattern.test(subject);
}

/** Whether JavaScript accepts the pattern, which may contain lookaheads. It is only compiled, not matched. */
export function isRegularExpression(pattern: string): boolean {
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}

/** MCP tool names may be written without normalization: `mcp__my server__read` is `mcp__my_server__read`. */
function isNamed(name: string, subject: string): boolean {
  return name === subject || (isMcpToolName(name) && normalizeName(name) === subject);
}

function isEverything(matcher: string): boolean {
  return matcher.trim() === '' || matcher.trim() === '*';
}

function isNames(matcher: string): boolean {
  return /^[\w\s|-]+$/.test(matcher);
}

/** Events that Toolplane's agent never runs; hooks for them are reported. */
const NEVER_RUN: ReadonlySet<HookEvent> = new Set<HookEvent>([
  'ConfigChange',
  'CwdChanged',
  'DirectoryAdded',
  'FileChanged',
  'MessageDisplay',
  'PostModelSwitch',
  'PreModelSwitch',
  'Setup',
  'StopFailure',
  'TeammateIdle',
  'UserPromptExpansion',
]);

/** Why the hooks for an event never run; undefined if they run. */
export function neverRuns(event: HookEvent): string | undefined {
  return NEVER_RUN.has(event)
    ? "Toolplane's agent does not support this event, so its hooks do not run"
    : undefined;
}

/** Whether the action continues or is blocked when a hook fails. */
export type OnFailure = 'continue' | 'block';

/**
 * The consequence of a failed hook: it threw, timed out, was aborted, exited with a code other than 0 and 2, or returned
 * invalid output. Events that guard an action fail closed; events that only report, or whose denial would keep an agent
 * running forever, fail open.
 */
export function onFailure(event: HookEvent, chosen?: OnFailure): OnFailure {
  return chosen ?? FAILURE_POLICY[event];
}

/** The failure policy of every event; also shown in the documentation. */
export const FAILURE_POLICY: Readonly<Record<HookEvent, OnFailure>> = {
  // The hook guards an action.
  PreToolUse: 'block',
  PermissionRequest: 'block',
  UserPromptSubmit: 'block',
  UserPromptExpansion: 'block',
  PreModelSwitch: 'block',
  ConfigChange: 'block',
  // The hook guards what the user sends to a server.
  Elicitation: 'block',
  ElicitationResult: 'block',
  // A denial means "continue": a failing hook would keep the agent running forever.
  Stop: 'continue',
  SubagentStop: 'continue',
  TeammateIdle: 'continue',
  // A denial would leave the context window full and the conversation stuck.
  PreCompact: 'continue',
  // The tool has run, and the model needs its result.
  PostToolUse: 'continue',
  PostToolUseFailure: 'continue',
  PostToolBatch: 'continue',
  // These events only report.
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
