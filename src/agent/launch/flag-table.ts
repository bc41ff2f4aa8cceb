import { isRecord } from '../../base/json-value.ts';
import { parseToolSearch, TOOL_SEARCH_VALUES, type ToolSearchSetting } from '../../pool/disclosure.ts';
import { LOG_LEVELS, type LogLevel } from '../../protocol/mcp.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permission.ts';
import { EFFORT_LEVELS } from '../../protocol/system-message.ts';

/** The parsed flags of an agent; a list is empty if its flag was given without items. */
export type AgentFlags = {
  readonly addDirs?: readonly string[];
  readonly agent?: string;
  readonly agents?: JsonObject;
  readonly allowedTools?: readonly string[];
  readonly appendSystemPrompt?: string;
  readonly appendSystemPromptFile?: string;
  /** Whether long calls of servers' tools move to the background if nothing else is configured. */
  readonly backgroundCalls?: boolean;
  readonly betas?: readonly string[];
  /** `server:<name>` for each channel. */
  readonly channels?: readonly string[];
  readonly continue?: boolean;
  readonly debugFile?: string;
  readonly disallowedTools?: readonly string[];
  readonly effort?: string;
  readonly fallbackModel?: string;
  readonly forkSession?: boolean;
  readonly includeHookEvents?: boolean;
  readonly includePartialMessages?: boolean;
  readonly jsonSchema?: JsonObject;
  readonly managedSettings?: JsonObject;
  readonly leadOnly?: boolean;
  readonly maxBudgetUsd?: number;
  readonly maxRetries?: number;
  readonly maxThinkingTokens?: number;
  readonly maxTurns?: number;
  /** JSON or file paths, in the order given. */
  readonly mcpConfigs?: readonly string[];
  readonly mayBypass?: boolean;
  readonly model?: string;
  readonly noPersistence?: boolean;
  readonly permissionMode?: PermissionMode;
  readonly permissionPrompts?: 'host' | 'none';
  readonly permissionPromptTool?: string;
  readonly pluginDirs?: readonly string[];
  /** Plugins whose MCP servers are not used. */
  readonly pluginDirsNoMcp?: readonly string[];
  readonly projectConfigRoot?: string;
  readonly replayUserMessages?: boolean;
  readonly resume?: string;
  readonly resumeDropsTurn?: string;
  readonly resumeSessionAt?: string;
  readonly serverLogLevel?: LogLevel;
  readonly sessionId?: string;
  readonly settingSources?: readonly string[];
  /** JSON or a file path. */
  readonly settings?: string;
  readonly skipPermissions?: boolean;
  readonly strictMcpConfig?: boolean;
  readonly systemPrompt?: string;
  readonly systemPromptFile?: string;
  readonly taskBudget?: number;
  readonly thinking?: 'adaptive' | 'disabled';
  readonly thinkingDisplay?: 'summarized' | 'omitted';
  readonly reportDecisions?: boolean;
  readonly awaitChannels?: boolean;
  readonly toolMarks?: boolean;
  readonly toolSearch?: ToolSearchSetting;
  readonly tools?: readonly string[];
};

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * How a flag is handled: used, accepted without effect because the agent always behaves this way, ignored with a
 * warning, or rejected.
 */
export type FlagUse =
  | { readonly as: 'used' }
  | { readonly as: 'harmless' | 'unused'; readonly why: string }
  | { readonly as: 'refused'; readonly instead: string };

export type FlagRow = {
  readonly kind: FlagKind<unknown>;
  readonly use: FlagUse;
  readonly member?: keyof AgentFlags;
};

type MembersOf<T> = {
  [K in keyof AgentFlags]-?: T extends NonNullable<AgentFlags[K]> ? K : never;
}[keyof AgentFlags];

function row<T>(kind: FlagKind<T>, use: FlagUse, member: MembersOf<T> | undefined): FlagRow {
  return { kind, use, ...(member && { member }) };
}
const used = <T>(kind: FlagKind<T>, member: MembersOf<T>) => row(kind, { as: 'used' }, member);
const harmless = <T>(kind: FlagKind<T>, why: string, member?: MembersOf<T>) =>
  row(kind, { as: 'harmless', why }, member);
const unused = <T>(kind: FlagKind<T>, why: string, member?: MembersOf<T>) =>
  row(kind, { as: 'unused', why }, member);
const refused = <T>(kind: FlagKind<T>, instead: string, member?: MembersOf<T>) =>
  row(kind, { as: 'refused', instead }, member);

const toolSearch: FlagKind<ToolSearchSetting> = {
  takes: 'one',
  what: TOOL_SEARCH_VALUES,
  read: parseToolSearch,
};

const on: FlagKind<boolean> = {
  takes: 'none',
  what: 'no value',
  read: () => true,
  accept: (value) => value === true || undefined,
};

const text: FlagKind<string> = { takes: 'one', what: 'a string', read: (value) => value };

/** Each value is a list, separated by commas, or also by blanks in the form `--name value`. */
const list: FlagKind<string[]> = {
  takes: 'many',
  what: 'a list',
  read: (value, form) => splitList(value, form === 'joined' ? /,/ : /[,\s]/),
  accept: (value) => (isTexts(value) ? trimmed(value) : undefined),
};

/** Negative numbers and fractions are accepted too, as by the `claude` CLI. */
const anyNumber: FlagKind<number> = {
  takes: 'one',
  what: 'a number',
  read: (value) => (value.trim() === '' || Number.isNaN(Number(value)) ? undefined : Number(value)),
  accept: (value) => (typeof value === 'number' && !Number.isNaN(value) ? value : undefined),
};

const positive: FlagKind<number> = {
  takes: 'one',
  what: 'a number greater than 0',
  read: (value) => (Number(value) > 0 && Number.isFinite(+value) ? +value : undefined),
  accept: (value) => (Number.isFinite(value) && Number(value) > 0 ? Number(value) : undefined),
};

const jsonObject: FlagKind<Record<string, unknown>> = {
  takes: 'one',
  what: 'a JSON object',
  read: parseObject,
  // A copy, because the program may change its own object.
  accept: (value) => parseObject(JSON.stringify(value) ?? ''),
};

/** Each value is one item. */
const repeated: FlagKind<string[]> = { takes: 'many', what: 'a string', read: (value) => [value] };

/** All flags of an agent, by name without dashes. */
export const FLAGS: Readonly<Record<string, FlagRow>> = {
  'output-format': harmless(oneOf('stream-json'), 'stream-json is the only format'),
  'input-format': harmless(oneOf('stream-json'), 'stream-json is the only format'),
  print: harmless(on, 'the agent is never interactive'),
  p: harmless(on, 'the agent is never interactive'),
  verbose: harmless(on, 'every message is always sent'),
  debug: harmless(on, 'the controlling program sees every frame'),
  'debug-to-stderr': harmless(on, 'the controlling program sees every frame'),
  'debug-file': unused(text, 'no log is written', 'debugFile'),

  model: used(text, 'model'),
  'fallback-model': used(text, 'fallbackModel'),
  betas: used(list, 'betas'),
  'max-retries': used(count(0), 'maxRetries'),
  thinking: used(oneOf('adaptive', 'disabled'), 'thinking'),
  'max-thinking-tokens': used(anyNumber, 'maxThinkingTokens'),
  'thinking-display': used(oneOf('summarized', 'omitted'), 'thinkingDisplay'),
  effort: used({ ...text, what: `one of ${EFFORT_LEVELS.join(', ')}; another value is ignored` }, 'effort'),
  'max-turns': used(anyNumber, 'maxTurns'),
  'max-budget-usd': used(positive, 'maxBudgetUsd'),
  'task-budget': unused(count(1), 'budgets are not sent to the model', 'taskBudget'),
  'json-schema': used(jsonObject, 'jsonSchema'),

  'system-prompt': used(text, 'systemPrompt'),
  'system-prompt-file': used(text, 'systemPromptFile'),
  'append-system-prompt': used(text, 'appendSystemPrompt'),
  'append-system-prompt-file': used(text, 'appendSystemPromptFile'),

  'mcp-config': used(repeated, 'mcpConfigs'),
  'strict-mcp-config': used(on, 'strictMcpConfig'),
  'background-calls': used(on, 'backgroundCalls'),
  'server-log-level': used(oneOf(...LOG_LEVELS), 'serverLogLevel'),
  tools: used(list, 'tools'),
  allowedTools: used(list, 'allowedTools'),
  'allowed-tools': used(list, 'allowedTools'),
  disallowedTools: used(list, 'disallowedTools'),
  'disallowed-tools': used(list, 'disallowedTools'),
  'tool-marks': used(on, 'toolMarks'),
  'tool-search': used(toolSearch, 'toolSearch'),
  'report-decisions': used(on, 'reportDecisions'),
  'await-channels': used(on, 'awaitChannels'),
  agents: used(jsonObject, 'agents'),
  'lead-only': used(on, 'leadOnly'),
  agent: used(text, 'agent'),
  'plugin-dir': used(repeated, 'pluginDirs'),
  'plugin-dir-no-mcp': used(repeated, 'pluginDirsNoMcp'),
  'await-initialize': harmless(on, 'the agent always waits for initialize'),
  channels: used(list, 'channels'),

  'permission-mode': used(oneOf(...PERMISSION_MODES), 'permissionMode'),
  'allow-dangerously-skip-permissions': used(on, 'mayBypass'),
  'dangerously-skip-permissions': used(on, 'skipPermissions'),
  'permission-prompt-tool': used({ ...text, what: 'only stdio' }, 'permissionPromptTool'),
  'permission-prompts': used(oneOf('host', 'none'), 'permissionPrompts'),
  'add-dir': used(repeated, 'addDirs'),

  settings: used(text, 'settings'),
  'managed-settings': used(jsonObject, 'managedSettings'),
  'managed-settings-in-initialize': refused(on, 'pass --managed-settings'),
  'setting-sources': used(list, 'settingSources'),
  'project-config-root': used(text, 'projectConfigRoot'),

  'include-partial-messages': used(on, 'includePartialMessages'),
  'include-hook-events': unused(on, 'hook events are not reported', 'includeHookEvents'),
  'replay-user-messages': used(on, 'replayUserMessages'),

  continue: used(on, 'continue'),
  resume: used(text, 'resume'),
  'fork-session': used(on, 'forkSession'),
  'resume-session-at': used(text, 'resumeSessionAt'),
  'resume-drops-turn': refused(
    text,
    'resume the session at the last message to keep instead',
    'resumeDropsTurn',
  ),
  'session-id': used(text, 'sessionId'),
  'no-session-persistence': used(on, 'noPersistence'),
  'session-mirror': refused(on, 'store the messages yourself'),
  'sdk-url': refused(text, 'the agent communicates over stdin and stdout'),
};

/** How many values a flag takes: none, one (the last wins), or any number over all its uses. */
type FlagTakes = 'none' | 'one' | 'many';

/** The values of a flag. Errors show `what` after "takes", and not the given value, which may be a secret. */
type FlagKind<T> = {
  readonly takes: FlagTakes;
  readonly what: string;
  /** Parses a value of the command line; undefined if it is invalid. */
  read(text: string, form: ValueForm): T | undefined;
  /** Parses a value of a program in this process; by default such a value is a string too. */
  accept?(value: unknown): T | undefined;
};

/** `joined`: `--name=value`. `apart`: `--name value`, where items of a list may be separated by blanks. */
export type ValueForm = 'joined' | 'apart';

/** An integer of at least `min`. */
function count(min: number): FlagKind<number> {
  return {
    takes: 'one',
    what: `an integer of at least ${min}`,
    read: (value) => (/^\d+$/.test(value.trim()) && Number(value) >= min ? Number(value) : undefined),
    accept: (value) => (Number.isInteger(value) && Number(value) >= min ? Number(value) : undefined),
  };
}

function oneOf<const T extends string>(...values: readonly T[]): FlagKind<T> {
  return {
    takes: 'one',
    what: values.length > 1 ? `one of ${values.join(', ')}` : `only ${values[0]}`,
    read: (value) => values.find((known) => known === value),
  };
}

function parseObject(value: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(value);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Splits a list; separators in parentheses belong to the content of a rule. */
function splitList(value: string, separator: RegExp): string[] {
  const items: string[] = [''];
  let depth = 0;
  for (const character of value) {
    if (character === '(') depth++;
    if (character === ')') depth = Math.max(0, depth - 1);
    if (depth === 0 && separator.test(character)) items.push('');
    else items[items.length - 1] += character;
  }
  return trimmed(items);
}

function trimmed(items: readonly string[]): string[] {
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** All flags, one per line, for `--help`. */
export function describeFlags(): string {
  const rows = Object.entries(FLAGS).map(([name, { kind, use }]) => {
    const flag = name.length > 1 ? `--${name}` : `-${name}`;
    return [flag, kind.takes === 'none' ? '' : kind.what, aboutUse(use)] as const;
  });
  const width = Math.max(...rows.map(([flag]) => flag.length));
  const lines = rows.map(
    ([flag, what, about]) => `  ${flag.padEnd(width)}  ${[what, about].filter(Boolean).join('; ')}`,
  );
  return ['Flags:', ...lines.map((line) => line.trimEnd())].join('\n');
}

function aboutUse(use: FlagUse): string {
  switch (use.as) {
    case 'used':
      return '';
    case 'harmless':
      return `accepted, no effect: ${use.why}`;
    case 'unused':
      return `ignored: ${use.why}`;
    case 'refused':
      return `not supported: ${use.instead}`;
  }
}
