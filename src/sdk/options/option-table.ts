import { isRecord } from '../../base/json-value.ts';
import {
  boolean,
  type Check,
  callback,
  countFrom,
  either,
  isListOf,
  isString,
  listOf,
  numberFrom,
  oneOf,
  record,
  string,
  stringList,
  stringMap,
} from '../../base/option-check.ts';
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

/** Rules are joined with commas on the command line; an unbalanced rule could add another rule. */
export const toolRules: Check = {
  what: 'a list of tool rules: a tool name, optionally followed by a pattern in parentheses',
  holds: (value) => isListOf(value, (rule) => isString(rule) && isWholeRule(rule)),
};

/** Names that are joined with commas on the command line. */
export const names: Check = {
  what: 'a list of strings without commas',
  holds: (value) => isListOf(value, (name) => isString(name) && !name.includes(',')),
};

export const environment: Check = {
  what: 'an object whose values are strings or undefined',
  holds: (value) => isRecord(value) && Object.values(value).every((it) => it === undefined || isString(it)),
};

/** Names without the leading dashes; `null` for a flag without a value. */
export const flagMap: Check = {
  what: 'an object that maps flag names (letters, digits, dashes) to strings or null',
  holds: (value) =>
    isRecord(value) &&
    Object.entries(value).every(
      ([name, it]) => /^[a-zA-Z][a-zA-Z0-9-]*$/.test(name) && (it === null || isString(it)),
    ),
};
export const anything: Check = { what: 'anything', holds: () => true };

/** Skill names become rules, so they must not contain rule syntax. */
export const skillNames: Check = {
  what: 'a list of skill names without commas and parentheses',
  holds: (value) => isListOf(value, (name) => isString(name) && !/[(),]/.test(name)),
};

/** Every option of the official package: supported, or refused by name. The compatibility page is generated from this table. */
export const OFFICIAL_OPTIONS: Readonly<Record<keyof OfficialOptions, OptionRow>> = {
  abortController: row('here', abortController, 'aborting it closes the query with an `AbortError`'),
  additionalDirectories: row('argv', stringList, '`--add-dir=…` each'),
  agent: row('argv', string, '`--agent=…`'),
  agentProgressSummaries: row('initialize', boolean, '`agentProgressSummaries`'),
  agents: row('initialize', record, '`agents`'),
  allowDangerouslySkipPermissions: row('argv', boolean, '`--allow-dangerously-skip-permissions`'),
  allowedTools: row('argv', toolRules, '`--allowedTools=…`'),
  betas: row('argv', names, '`--betas=…`'),
  canUseTool: row('here', callback, 'answers `can_use_tool`; `--permission-prompt-tool=stdio`'),
  continue: row('argv', boolean, '`--continue`'),
  cwd: row('process', string, 'the working directory of the agent'),
  debug: row('argv', boolean, '`--debug`; also prints every control frame to stderr, secrets masked'),
  debugFile: row('argv', string, '`--debug-file=…`, instead of `--debug`'),
  disallowedTools: row('argv', toolRules, '`--disallowedTools=…`'),
  effort: row('argv', oneOf('low', 'medium', 'high', 'xhigh', 'max'), '`--effort=…`'),
  enableFileCheckpointing: row('environment', boolean, '`CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING`'),
  env: row('process', environment, 'replaces the environment of the agent'),
  executable: row('process', oneOf('bun', 'deno', 'node'), 'the runtime for an agent that is a script'),
  executableArgs: row('process', stringList, 'arguments before the script'),
  extraArgs: row(
    'argv',
    flagMap,
    '`--name value`, or `--name` for null; a flag without a value also accepts an empty string',
  ),
  fallbackModel: row('argv', string, '`--fallback-model=…`'),
  forkSession: row('argv', boolean, '`--fork-session`'),
  forwardSubagentText: row('initialize', boolean, '`forwardSubagentText`'),
  hooks: row('initialize', record, '`hooks`; callbacks answer `hook_callback`'),
  includeHookEvents: row('argv', boolean, '`--include-hook-events`'),
  includePartialMessages: row('argv', boolean, '`--include-partial-messages`'),
  loadTimeoutMs: row('refused', anything, 'belongs to `sessionStore`'),
  managedSettings: row('argv', record, '`--managed-settings …`'),
  maxBudgetUsd: row('argv', numberFrom(0), '`--max-budget-usd=…`'),
  maxThinkingTokens: row('argv', countFrom(0), '`--max-thinking-tokens=…`; 0 is `--thinking=disabled`'),
  maxTurns: row('argv', countFrom(1), '`--max-turns=…`'),
  mcpServers: row('argv', record, 'in-process servers in `initialize`, the others in `--mcp-config …`'),
  model: row('argv', string, '`--model=…`'),
  onElicitation: row('here', callback, 'answers `elicitation`; without it, elicitations are declined'),
  onUserDialog: row('here', callback, 'answers `request_user_dialog`'),
  outputFormat: row('argv', kindOf('json_schema'), '`--json-schema=…` and `jsonSchema`'),
  pathToClaudeCodeExecutable: row(
    'process',
    string,
    'the agent to start; without it, Toolplane’s agent runs in this process',
  ),
  perTaskStopAffordance: row('initialize', boolean, '`perTaskStopAffordance`'),
  permissionMode: row('argv', oneOf(...PERMISSION_MODES), '`--permission-mode=…`'),
  permissionPromptToolName: row(
    'argv',
    string,
    '`--permission-prompt-tool=…`; Toolplane’s agent supports only "stdio"',
  ),
  permissionPrompts: row('argv', oneOf('host', 'none'), '`--permission-prompts=…`'),
  persistSession: row('argv', boolean, 'false is `--no-session-persistence`'),
  planModeInstructions: row('initialize', string, '`planModeInstructions`'),
  pluginDelivery: row(
    'argv',
    oneOf('argv', 'initialize'),
    '"initialize" sends `plugins` in the `initialize` request and adds `--await-initialize`',
  ),
  plugins: row(
    'argv',
    { what: 'a list of { type: "local", path }', holds: isPluginList },
    '`--plugin-dir=…` each',
  ),
  projectConfigRoot: row('argv', string, '`--project-config-root=…`'),
  promptSuggestions: row('initialize', boolean, '`promptSuggestions`'),
  resume: row('argv', string, '`--resume=…`'),
  resumeDropsTurn: row('argv', string, '`--resume-drops-turn=…`'),
  resumeSessionAt: row('argv', string, '`--resume-session-at=…`'),
  sandbox: row('argv', record, 'merged into `--settings …`'),
  sessionId: row('argv', string, '`--session-id=…`'),
  sessionStore: row(
    'refused',
    anything,
    'to copy sessions, read the transcript files: under `TOOLPLANE_HOME` with Toolplane’s agent, under `CLAUDE_CONFIG_DIR` with the `claude` CLI',
  ),
  sessionStoreFlush: row('refused', anything, 'belongs to `sessionStore`'),
  settingSources: row('argv', listOf(['user', 'project', 'local']), '`--setting-sources=…`'),
  settings: row('argv', either(string, record), '`--settings …`'),
  skills: row(
    'initialize',
    either(oneOf('all'), skillNames),
    '`skills`, and `Skill(…)` rules in `--allowedTools`',
  ),
  spawnClaudeCodeProcess: row('process', callback, 'starts the agent instead of a local spawn'),
  stderr: row('here', callback, 'receives the stderr output of the agent'),
  strictMcpConfig: row('argv', boolean, '`--strict-mcp-config`'),
  supportedDialogKinds: row('initialize', stringList, '`supportedDialogKinds`; needs `onUserDialog`'),
  systemPrompt: row(
    'initialize',
    either(string, stringList, kindOf('custom', 'preset')),
    '`systemPrompt` or `appendSystemPrompt`',
  ),
  taskBudget: row('argv', { what: '{ total: number }', holds: isBudget }, '`--task-budget=…`'),
  thinking: row(
    'argv',
    kindOf('adaptive', 'enabled', 'disabled'),
    '`--thinking=…` or `--max-thinking-tokens=…`',
  ),
  title: row('initialize', string, '`title`'),
  toolAliases: row('initialize', stringMap, '`toolAliases`'),
  toolConfig: row('environment', record, '`CLAUDE_CODE_QUESTION_PREVIEW_FORMAT`'),
  tools: row('argv', either(names, kindOf('preset')), '`--tools=…`'),
  verbatimPrompts: row('here', boolean, '`client_composed` on every message'),
};

/** The options that only Toolplane has. */
export const OWN_OPTIONS: Readonly<Record<keyof OwnOptions, OptionRow>> = {
  assigns: row('here', record, 'application state for the handlers of this query'),
  onToolUse: row('here', callback, 'called for every tool use when its result is known'),
  mcpConfig: row('argv', string, '`--mcp-config PATH`; deprecated, use `mcpServers`'),
  sdkServersOnArgv: row('argv', boolean, 'lists in-process servers in `--mcp-config` too, for older agents'),
  controlTimeoutMs: row('here', numberFrom(1), 'time limit for control requests'),
  maxLineLength: row('here', countFrom(1024), 'maximum length of a line from the agent, in characters'),
  closeGraceMs: row('here', numberFrom(0), 'time limit for each step of closing the agent'),
  strictOptions: row('here', boolean, 'rejects unknown options and null values'),
  link: row('process', callback, 'connects to the agent instead of starting a process'),
};

export const OPTION_TABLE: Readonly<Record<string, OptionRow>> = { ...OFFICIAL_OPTIONS, ...OWN_OPTIONS };

function isPluginList(value: unknown): boolean {
  return Array.isArray(value) && value.every((it) => kindOf('local').holds(it) && string.holds(it.path));
}

function isBudget(value: unknown): boolean {
  return record.holds(value) && numberFrom(0).holds((value as { total?: unknown }).total);
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
