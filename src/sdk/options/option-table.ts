import { isRecord } from '../../base/json-value.ts';
import { PERMISSION_MODES } from '../../protocol/permission.ts';
import type { OfficialOptions, OwnOptions } from './options.ts';

/** Where an option takes effect. */
type OptionRoute = 'argv' | 'initialize' | 'environment' | 'process' | 'here' | 'refused';

export type OptionRow = {
  readonly goes: OptionRoute;
  readonly check: Check;
  /** One line for the compatibility page. */
  readonly does: string;
};

const row = (goes: OptionRoute, check: Check, does: string): OptionRow => ({ goes, check, does });
export const abortController: Check = {
  what: 'an AbortController',
  holds: (value) => isRecord(value) && value.signal instanceof AbortSignal,
};
export const texts: Check = { what: 'a list of strings', holds: (value) => isListOf(value, isText) };

export const text: Check = { what: 'a string', holds: (value) => typeof value === 'string' };
export const flag: Check = { what: 'true or false', holds: (value) => typeof value === 'boolean' };
export const record: Check = { what: 'an object', holds: isRecord };

/** Rules are joined with commas on the command line; an unbalanced rule could add another rule. */
export const toolRules: Check = {
  what: 'a list of tool rules, each a name or a name with one balanced pair of parentheses at its end',
  holds: (value) => isListOf(value, (rule) => isText(rule) && isWholeRule(rule)),
};

/** Names that are joined with commas on their way. */
export const names: Check = {
  what: 'a list of strings without commas',
  holds: (value) => isListOf(value, (name) => isText(name) && !name.includes(',')),
};
export const callback: Check = { what: 'a function', holds: (value) => typeof value === 'function' };

export const environment: Check = {
  what: 'an object whose values are strings or undefined',
  holds: (value) => isRecord(value) && Object.values(value).every((it) => it === undefined || isText(it)),
};

/** Names without the leading dashes; `null` for a flag without a value. */
export const flagMap: Check = {
  what: 'an object from flag names (letters, digits, dashes) to strings or null',
  holds: (value) =>
    isRecord(value) &&
    Object.entries(value).every(
      ([name, it]) => /^[a-zA-Z][a-zA-Z0-9-]*$/.test(name) && (it === null || isText(it)),
    ),
};
export const anything: Check = { what: 'anything', holds: () => true };

/** Skill names become rules, so they must not contain rule syntax. */
export const skillNames: Check = {
  what: 'a list of skill names without commas and parentheses',
  holds: (value) => isListOf(value, (name) => isText(name) && !/[(),]/.test(name)),
};

export const textMap: Check = {
  what: 'an object whose values are strings',
  holds: (value) => isRecord(value) && Object.values(value).every(isText),
};

/** Every option of the official package: supported, or refused by name. The compatibility page is made from this table. */
export const OFFICIAL_OPTIONS: Readonly<Record<keyof OfficialOptions, OptionRow>> = {
  abortController: row('here', abortController, 'aborting it closes the query with an `AbortError`'),
  additionalDirectories: row('argv', texts, '`--add-dir=…` each'),
  agent: row('argv', text, '`--agent=…`'),
  agentProgressSummaries: row('initialize', flag, '`agentProgressSummaries`'),
  agents: row('initialize', record, '`agents`'),
  allowDangerouslySkipPermissions: row('argv', flag, '`--allow-dangerously-skip-permissions`'),
  allowedTools: row('argv', toolRules, '`--allowedTools=…`'),
  betas: row('argv', names, '`--betas=…`'),
  canUseTool: row('here', callback, 'answers `can_use_tool`; `--permission-prompt-tool=stdio`'),
  continue: row('argv', flag, '`--continue`'),
  cwd: row('process', text, 'the working directory of the agent'),
  debug: row('argv', flag, '`--debug`; also prints every control frame to stderr, secrets masked'),
  debugFile: row('argv', text, '`--debug-file=…`, instead of `--debug`'),
  disallowedTools: row('argv', toolRules, '`--disallowedTools=…`'),
  effort: row('argv', oneOf('low', 'medium', 'high', 'xhigh', 'max'), '`--effort=…`'),
  enableFileCheckpointing: row('environment', flag, '`CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING`'),
  env: row('process', environment, 'replaces the environment of the agent'),
  executable: row('process', oneOf('bun', 'deno', 'node'), 'the runtime for an agent that is a script'),
  executableArgs: row('process', texts, 'arguments before the script'),
  extraArgs: row('argv', flagMap, '`--name value`, or `--name` for null'),
  fallbackModel: row('argv', text, '`--fallback-model=…`'),
  forkSession: row('argv', flag, '`--fork-session`'),
  forwardSubagentText: row('initialize', flag, '`forwardSubagentText`'),
  hooks: row('initialize', record, '`hooks`; callbacks answer `hook_callback`'),
  includeHookEvents: row('argv', flag, '`--include-hook-events`'),
  includePartialMessages: row('argv', flag, '`--include-partial-messages`'),
  loadTimeoutMs: row('refused', anything, 'belongs to `sessionStore`'),
  managedSettings: row('argv', record, '`--managed-settings …`'),
  maxBudgetUsd: row('argv', numberFrom(0), '`--max-budget-usd=…`'),
  maxThinkingTokens: row('argv', countFrom(0), '`--max-thinking-tokens=…`; 0 is `--thinking=disabled`'),
  maxTurns: row('argv', countFrom(1), '`--max-turns=…`'),
  mcpServers: row('argv', record, 'in-process servers in `initialize`, the others in `--mcp-config …`'),
  model: row('argv', text, '`--model=…`'),
  onElicitation: row('here', callback, 'answers `elicitation`; without it the answer is decline'),
  onUserDialog: row('here', callback, 'answers `request_user_dialog`'),
  outputFormat: row('argv', kindOf('json_schema'), '`--json-schema=…` and `jsonSchema`'),
  pathToClaudeCodeExecutable: row(
    'process',
    text,
    'the agent to start; without it, Toolplane’s agent runs in this process',
  ),
  perTaskStopAffordance: row('initialize', flag, '`perTaskStopAffordance`'),
  permissionMode: row('argv', oneOf(...PERMISSION_MODES), '`--permission-mode=…`'),
  permissionPromptToolName: row('argv', text, '`--permission-prompt-tool=…`'),
  permissionPrompts: row('argv', oneOf('host', 'none'), '`--permission-prompts=…`'),
  persistSession: row('argv', flag, 'false is `--no-session-persistence`'),
  planModeInstructions: row('initialize', text, '`planModeInstructions`'),
  pluginDelivery: row(
    'argv',
    oneOf('argv', 'initialize'),
    '`initialize` sends `plugins` there, with `--await-initialize`',
  ),
  plugins: row(
    'argv',
    { what: 'a list of { type: "local", path }', holds: isPluginList },
    '`--plugin-dir=…` each',
  ),
  projectConfigRoot: row('argv', text, '`--project-config-root=…`'),
  promptSuggestions: row('initialize', flag, '`promptSuggestions`'),
  resume: row('argv', text, '`--resume=…`'),
  resumeDropsTurn: row('argv', text, '`--resume-drops-turn=…`'),
  resumeSessionAt: row('argv', text, '`--resume-session-at=…`'),
  sandbox: row('argv', record, 'merged into `--settings …`'),
  sessionId: row('argv', text, '`--session-id=…`'),
  sessionStore: row(
    'refused',
    anything,
    'keep a mirror by reading the transcripts under `CLAUDE_CONFIG_DIR`',
  ),
  sessionStoreFlush: row('refused', anything, 'belongs to `sessionStore`'),
  settingSources: row('argv', listOf(['user', 'project', 'local']), '`--setting-sources=…`'),
  settings: row('argv', either(text, record), '`--settings …`'),
  skills: row(
    'initialize',
    either(oneOf('all'), skillNames),
    '`skills`, and `Skill(…)` rules in `--allowedTools`',
  ),
  spawnClaudeCodeProcess: row('process', callback, 'starts the agent instead of a local spawn'),
  stderr: row('here', callback, 'receives the stderr output of the agent'),
  strictMcpConfig: row('argv', flag, '`--strict-mcp-config`'),
  supportedDialogKinds: row('initialize', texts, '`supportedDialogKinds`; needs `onUserDialog`'),
  systemPrompt: row(
    'initialize',
    either(text, texts, kindOf('custom', 'preset')),
    '`systemPrompt` or `appendSystemPrompt`',
  ),
  taskBudget: row('argv', { what: '{ total: number }', holds: isBudget }, '`--task-budget=…`'),
  thinking: row(
    'argv',
    kindOf('adaptive', 'enabled', 'disabled'),
    '`--thinking=…` or `--max-thinking-tokens=…`',
  ),
  title: row('initialize', text, '`title`'),
  toolAliases: row('initialize', textMap, '`toolAliases`'),
  toolConfig: row('environment', record, '`CLAUDE_CODE_QUESTION_PREVIEW_FORMAT`'),
  tools: row('argv', either(names, kindOf('preset')), '`--tools=…`'),
  verbatimPrompts: row('here', flag, '`client_composed` on every message'),
};

/** The options that only Toolplane has. */
export const OWN_OPTIONS: Readonly<Record<keyof OwnOptions, OptionRow>> = {
  assigns: row('here', record, 'application state for the handlers of this query'),
  onToolUse: row('here', callback, 'called for every tool use when its result is known'),
  mcpConfig: row('argv', text, '`--mcp-config PATH`; deprecated, use `mcpServers`'),
  sdkServersOnArgv: row('argv', flag, 'lists in-process servers in `--mcp-config` too, for older agents'),
  controlTimeoutMs: row('here', numberFrom(1), 'time limit for control requests'),
  maxLineLength: row('here', countFrom(1024), 'maximum length of a line from the agent, in characters'),
  closeGraceMs: row('here', numberFrom(0), 'time limit for each step of closing the agent'),
  link: row('process', callback, 'connects to the agent instead of starting a process'),
};

export const OPTION_TABLE: Readonly<Record<string, OptionRow>> = { ...OFFICIAL_OPTIONS, ...OWN_OPTIONS };

function isPluginList(value: unknown): boolean {
  return Array.isArray(value) && value.every((it) => kindOf('local').holds(it) && text.holds(it.path));
}

function isBudget(value: unknown): boolean {
  return record.holds(value) && numberFrom(0).holds((value as { total?: unknown }).total);
}

/** Validation of an option's value; `what` completes "must be …" in the error message. */
export type Check = { readonly what: string; holds(value: unknown): boolean };

export function numberFrom(least: number): Check {
  return {
    what: `a number, ${least} or more`,
    holds: (value) => typeof value === 'number' && Number.isFinite(value) && value >= least,
  };
}

export function countFrom(least: number): Check {
  return {
    what: `a whole number, ${least} or more`,
    holds: (value) => Number.isInteger(value) && Number(value) >= least,
  };
}

export function oneOf(...values: readonly string[]): Check {
  return {
    what: `one of ${values.map((word) => `"${word}"`).join(', ')}`,
    holds: (value) => values.includes(value as string),
  };
}

export function listOf(values: readonly string[]): Check {
  const one = oneOf(...values);
  return { what: `a list, each ${one.what}`, holds: (value) => isListOf(value, one.holds) };
}

export function either(...checks: readonly Check[]): Check {
  return {
    what: checks.map((check) => check.what).join(', or '),
    holds: (value) => checks.some((check) => check.holds(value)),
  };
}

/** An object whose `type` is one of these. */
export function kindOf(...types: readonly string[]): Check {
  const names = types.map((type) => `"${type}"`).join(' or ');
  return {
    what: `an object with type ${names}`,
    holds: (value) => isRecord(value) && types.includes(value.type as string),
  };
}

/** `Name` or `Name(content)`, where the parenthesis that opens after the name closes at the very end. */
function isWholeRule(rule: string): boolean {
  const open = rule.indexOf('(');
  if (open === -1) return !/[),]/.test(rule);
  if (/[),]/.test(rule.slice(0, open))) return false;
  let depth = 0;
  for (let at = open; at < rule.length; at++) {
    if (rule[at] === '(') depth++;
    else if (rule[at] === ')' && --depth === 0) return at === rule.length - 1;
  }
  return false;
}

function isListOf(value: unknown, holds: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(holds);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
