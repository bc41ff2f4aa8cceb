import { parseToolSearch, TOOL_SEARCH_VALUES, type ToolSearchSetting } from '../../pool/disclosure.ts';
import type { RetryOptions } from '../models/retry.ts';
import type { SessionOptions } from '../session/session.ts';
import type { AgentFlags } from './flag-table.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment an agent is started in; all paths are absolute. */
export type LaunchEnvironment = {
  readonly env: Environment;
  readonly cwd: string;
  readonly home: string;
  readonly version: string;
};

/** The value of a setting, and a warning for each invalid variable. */
type Read<T> = T & { readonly notes: readonly string[] };

/** `--tool-search`, else `ENABLE_TOOL_SEARCH`. */
export function readToolSearch(
  { toolSearch: flag }: Pick<AgentFlags, 'toolSearch'>,
  env: Environment,
): Read<{ readonly toolSearch?: ToolSearchSetting }> {
  const text = flag === undefined ? (env.ENABLE_TOOL_SEARCH?.trim() ?? '') : '';
  const toolSearch = flag ?? parseToolSearch(text);
  const isInvalid = text !== '' && !toolSearch;
  return {
    ...(toolSearch && { toolSearch }),
    notes: isInvalid
      ? [`the variable ENABLE_TOOL_SEARCH is ignored: its value must be ${TOOL_SEARCH_VALUES}`]
      : [],
  };
}

/**
 * `MAX_MCP_OUTPUT_TOKENS` and `ENABLE_MCP_LARGE_OUTPUT_FILES`: how much of a result is sent to the model, and whether
 * the rest is saved.
 */
export function readResultSettings(
  env: Environment,
): Read<{ readonly options: Pick<SessionOptions, 'maxResultTokens' | 'resultFiles'> }> {
  const notes: string[] = [];
  const maxResultTokens = wholeNumber(env, 'MAX_MCP_OUTPUT_TOKENS', { min: 1, max: 999_999_999, notes });
  const files = env.ENABLE_MCP_LARGE_OUTPUT_FILES?.trim().toLowerCase() ?? '';
  if (files !== '' && !NO.has(files) && !YES.has(files))
    notes.push('the variable ENABLE_MCP_LARGE_OUTPUT_FILES is ignored: its value must be true or false');
  return {
    options: {
      ...(maxResultTokens !== undefined && { maxResultTokens }),
      ...(NO.has(files) && { resultFiles: false }),
    },
    notes,
  };
}

/** `MAX_STRUCTURED_OUTPUT_RETRIES`: how many calls with invalid output end a turn. */
export function readOutputSettings(env: Environment): Read<{ readonly maxAttempts?: number }> {
  const notes: string[] = [];
  const maxAttempts = wholeNumber(env, 'MAX_STRUCTURED_OUTPUT_RETRIES', { min: 1, max: 1000, notes });
  return { ...(maxAttempts !== undefined && { maxAttempts }), notes };
}

/** After this time, the chat moves a call of a server's tool to the background. */
const CHAT_BACKGROUND_MS = 120_000;

/**
 * The work beside a turn: `CLAUDE_CODE_DISABLE_BACKGROUND_TASKS`, `CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS`,
 * `CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS`, and `CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS`, else `timeouts.backgroundMs` of settings, else a default for the chat.
 */
export function readTaskSettings(
  { backgroundCalls }: Pick<AgentFlags, 'backgroundCalls'>,
  env: Environment,
  configuredMs?: number,
): Read<{
  readonly options: Pick<
    SessionOptions,
    'backgroundTasks' | 'maxSubAgents' | 'teams' | 'backgroundCallsAfterMs'
  >;
}> {
  const notes: string[] = [];
  const given = wholeNumber(env, 'CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS', {
    min: 0,
    max: MAX_TIMEOUT_MS,
    notes,
  });
  const afterMs = given ?? configuredMs ?? (backgroundCalls ? CHAT_BACKGROUND_MS : undefined);
  const maxSubAgents = wholeNumber(env, 'CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS', { min: 1, max: 1000, notes });
  const isDisabled = isSwitchedOn(env.CLAUDE_CODE_DISABLE_BACKGROUND_TASKS);
  return {
    options: {
      ...(maxSubAgents !== undefined && { maxSubAgents }),
      ...(isDisabled && { backgroundTasks: false }),
      ...(isSwitchedOn(env.CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS) && { teams: true }),
      ...(afterMs !== undefined && { backgroundCallsAfterMs: afterMs }),
    },
    notes,
  };
}

/** Whether the value of a variable is `1`, `true`, `yes` or `on`. */
export function isSwitchedOn(value: string | undefined): boolean {
  return YES.has(value?.trim().toLowerCase() ?? '');
}

/** How long the id of a task list may be: it is the name of a directory. */
const MAX_LIST_ID = 100;

/** `CLAUDE_CODE_ENABLE_TASKS` and `CLAUDE_CODE_TASK_LIST_ID`: the tools for lists, and a list that sessions share. */
export function readListSettings(
  env: Environment,
): Read<{ readonly options: { readonly lists: NonNullable<SessionOptions['lists']> } }> {
  const id = env.CLAUDE_CODE_TASK_LIST_ID?.trim() ?? '';
  // Replaces the characters with which a name could lead out of the directory of task lists.
  const sharedId = id.replaceAll(/[^A-Za-z0-9_-]/g, '-');
  const isUsable = sharedId.length <= MAX_LIST_ID;
  const hasTodos = NO.has(env.CLAUDE_CODE_ENABLE_TASKS?.trim().toLowerCase() ?? '');
  return {
    options: {
      lists: { kind: hasTodos ? 'todos' : 'tasks', ...(sharedId !== '' && isUsable && { sharedId }) },
    },
    notes: isUsable
      ? []
      : [`the variable CLAUDE_CODE_TASK_LIST_ID is ignored: it must have at most ${MAX_LIST_ID} characters`],
  };
}

/** `CLAUDE_CODE_DISABLE_CRON`: whether scheduled prompts are off. */
export function isScheduleDisabled(env: Environment): boolean {
  return isSwitchedOn(env.CLAUDE_CODE_DISABLE_CRON);
}

const NO: ReadonlySet<string> = new Set(['false', '0', 'no', 'off']);
const YES: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on']);

/** The longest delay of Node's timers. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** `--max-retries`, else `CLAUDE_CODE_MAX_RETRIES`; and `API_TIMEOUT_MS`: retries and time limit of model requests. */
export function readRequestSettings(
  { maxRetries: flag }: Pick<AgentFlags, 'maxRetries'>,
  env: Environment,
): Read<{
  readonly retry: Pick<RetryOptions, 'maxRetries'>;
  readonly timeout: { readonly timeoutMs?: number };
}> {
  const notes: string[] = [];
  const maxRetries = flag ?? wholeNumber(env, 'CLAUDE_CODE_MAX_RETRIES', { min: 0, max: 1000, notes });
  const timeoutMs = wholeNumber(env, 'API_TIMEOUT_MS', { min: 1, max: MAX_TIMEOUT_MS, notes });
  return {
    retry: maxRetries === undefined ? {} : { maxRetries },
    timeout: timeoutMs === undefined ? {} : { timeoutMs },
    notes,
  };
}

function wholeNumber(
  env: Environment,
  name: string,
  { min, max, notes }: { readonly min: number; readonly max: number; readonly notes: string[] },
): number | undefined {
  const text = env[name]?.trim();
  if (!text) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  notes.push(`${name} must be a whole number from ${min} to ${max}; using the default`);
  return undefined;
}

const SECRET = /KEY$|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|CUSTOM_HEADERS$|PRIVATE/i;

/**
 * The environment of shell commands: all variables except those that look like secrets, because the model reads the
 * output of commands. `TOOLPLANE_PASS_ENV` lists variables to pass anyway, separated by commas.
 */
export function shellEnvironment(env: Environment): Environment {
  const passed = new Set((env.TOOLPLANE_PASS_ENV ?? '').split(',').map((name) => name.trim()));
  return Object.fromEntries(Object.entries(env).filter(([name]) => passed.has(name) || !SECRET.test(name)));
}
