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
  /** Whether a value that fails the check is still passed to the agent without `strictOptions`, as the official package does. */
  readonly tolerates?: (value: unknown) => boolean;
};

const row = (
  goes: OptionRoute,
  check: Check,
  does: string,
  tolerates?: OptionRow['tolerates'],
): OptionRow => ({ goes, check, does, ...(tolerates && { tolerates }) });

/** A value that is written as text. */
const isScalar = (value: unknown): boolean =>
  ['string', 'number', 'boolean', 'bigint'].includes(typeof value);
/** Any value but a function or symbol, for an option that is tested for truth or read by its known members. */
const isData = (value: unknown): boolean => typeof value !== 'function' && typeof value !== 'symbol';
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
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
  holds: (value) => isFlagMap(value, (it) => it === null || isString(it)),
};

function isFlagMap(value: unknown, holds: (value: unknown) => boolean): boolean {
  if (!isRecord(value)) return false;
  return Object.entries(value).every(([name, it]) => /^[a-zA-Z][a-zA-Z0-9-]*$/.test(name) && holds(it));
}
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
  agent: row('argv', string, '`--agent=…`', isScalar),
  agentProgressSummaries: row('initialize', boolean, '`agentProgressSummaries`', isData),
  agents: row('initialize', record, '`agents`', isEmptyList),
  allowDangerouslySkipPermissions: row('argv', boolean, '`--allow-dangerously-skip-permissions`'),
  allowedTools: row('argv', toolRules, '`--allowedTools=…`', (value) =>
    isListOf(value, (it) => isScalar(it) && isWholeRule(String(it))),
  ),
  betas: row('argv', names, '`--betas=…`'),
  canUseTool: row('here', callback, 'answers `can_use_tool`; `--permission-prompt-tool=stdio`'),
  continue: row('argv', boolean, '`--continue`', isData),
  cwd: row('process', string, 'the working directory of the agent'),
  debug: row('argv', boolean, '`--debug`; also prints every control frame to stderr, secrets masked', isData),
  debugFile: row('argv', string, '`--debug-file=…`, instead of `--debug`', isScalar),
  disallowedTools: row('argv', toolRules, '`--disallowedTools=…`', (value) =>
    isListOf(value, (it) => isScalar(it) && isWholeRule(String(it))),
  ),
  effort: row('argv', oneOf('low', 'medium', 'high', 'xhigh', 'max'), '`--effort=…`', isScalar),
  enableFileCheckpointing: row('environment', boolean, '`CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING`', isData),
  env: row(
    'process',
    environment,
    'replaces the environment of the agent',
    (value) =>
      isRecord(value) && Object.values(value).every((it) => it === undefined || it === null || isScalar(it)),
  ),
  executable: row(
    'process',
    oneOf('bun', 'deno', 'node'),
    'the runtime for an agent that is a script',
    isString,
  ),
  executableArgs: row('process', stringList, 'arguments before the script'),
  extraArgs: row(
    'argv',
    flagMap,
    '`--name value`, or `--name` for null; a value for a flag that takes none is ignored',
    (value) =>
      isEmptyList(value) || isFlagMap(value, (it) => it === null || it === undefined || isScalar(it)),
  ),
  fallbackModel: row('argv', string, '`--fallback-model=…`', isScalar),
  forkSession: row('argv', boolean, '`--fork-session`', isData),
  forwardSubagentText: row('initialize', boolean, '`forwardSubagentText`', isData),
  hooks: row('initialize', record, '`hooks`; callbacks answer `hook_callback`', isEmptyList),
  includeHookEvents: row('argv', boolean, '`--include-hook-events`', isData),
  includePartialMessages: row('argv', boolean, '`--include-partial-messages`', isData),
  loadTimeoutMs: row(
    'refused',
    anything,
    'it is used only with `sessionStore`, which is not supported either',
  ),
  managedSettings: row('argv', record, '`--managed-settings …`'),
  maxBudgetUsd: row('argv', numberFrom(0), '`--max-budget-usd=…`', isScalar),
  maxThinkingTokens: row(
    'argv',
    countFrom(0),
    '`--max-thinking-tokens=…`; 0 is `--thinking=disabled`',
    isScalar,
  ),
  maxTurns: row('argv', countFrom(1), '`--max-turns=…`', isScalar),
  mcpServers: row(
    'argv',
    record,
    'in-process servers in `initialize`, the others in `--mcp-config …`',
    isEmptyList,
  ),
  model: row('argv', string, '`--model=…`', isScalar),
  onElicitation: row(
    'here',
    callback,
    'answers `elicitation`; without it, elicitations that no hook answers are declined',
  ),
  onUserDialog: row('here', callback, 'answers `request_user_dialog`'),
  outputFormat: row('argv', kindOf('json_schema'), '`--json-schema=…` and `jsonSchema`', isData),
  pathToClaudeCodeExecutable: row(
    'process',
    string,
    'the agent to start; without it, Toolplane’s agent runs in this process',
  ),
  perTaskStopAffordance: row('initialize', boolean, '`perTaskStopAffordance`', isData),
  permissionMode: row('argv', oneOf(...PERMISSION_MODES), '`--permission-mode=…`', isScalar),
  permissionPromptToolName: row(
    'argv',
    string,
    '`--permission-prompt-tool=…`; Toolplane’s agent supports only "stdio"',
    isScalar,
  ),
  permissionPrompts: row('argv', oneOf('host', 'none'), '`--permission-prompts=…`', isScalar),
  persistSession: row('argv', boolean, 'false is `--no-session-persistence`', isData),
  planModeInstructions: row('initialize', string, '`planModeInstructions`', isScalar),
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
  projectConfigRoot: row('argv', string, '`--project-config-root=…`', isScalar),
  promptSuggestions: row('initialize', boolean, '`promptSuggestions`', isData),
  resume: row('argv', string, '`--resume=…`', isScalar),
  resumeDropsTurn: row('argv', string, '`--resume-drops-turn=…`', isScalar),
  resumeSessionAt: row('argv', string, '`--resume-session-at=…`', isScalar),
  sandbox: row('argv', record, 'merged into `--settings …`'),
  sessionId: row('argv', string, '`--session-id=…`', isScalar),
  sessionStore: row(
    'refused',
    anything,
    'to copy sessions, read the transcript files: under `TOOLPLANE_HOME` with Toolplane’s agent, under `CLAUDE_CONFIG_DIR` with the `claude` CLI',
  ),
  sessionStoreFlush: row(
    'refused',
    anything,
    'it is used only with `sessionStore`, which is not supported either',
  ),
  settingSources: row('argv', listOf(['user', 'project', 'local']), '`--setting-sources=…`', (value) =>
    isListOf(value, isScalar),
  ),
  settings: row('argv', either(string, record), '`--settings …`'),
  skills: row(
    'initialize',
    either(oneOf('all'), skillNames),
    '`skills`, and `Skill(…)` rules in `--allowedTools`',
  ),
  spawnClaudeCodeProcess: row('process', callback, 'starts the agent instead of a local spawn'),
  stderr: row('here', callback, 'receives the stderr output of the agent'),
  strictMcpConfig: row('argv', boolean, '`--strict-mcp-config`', isData),
  supportedDialogKinds: row('initialize', stringList, '`supportedDialogKinds`; needs `onUserDialog`'),
  systemPrompt: row(
    'initialize',
    either(string, stringList, kindOf('custom', 'preset')),
    '`systemPrompt` or `appendSystemPrompt`',
    isData,
  ),
  taskBudget: row('argv', { what: '{ total: number }', holds: isBudget }, '`--task-budget=…`', isData),
  thinking: row(
    'argv',
    kindOf('adaptive', 'enabled', 'disabled'),
    '`--thinking=…` or `--max-thinking-tokens=…`',
    isData,
  ),
  title: row('initialize', string, '`title`', isScalar),
  toolAliases: row('initialize', stringMap, '`toolAliases`', isData),
  toolConfig: row('environment', record, '`CLAUDE_CODE_QUESTION_PREVIEW_FORMAT`', isData),
  tools: row('argv', either(names, kindOf('preset')), '`--tools=…`'),
  verbatimPrompts: row('here', boolean, '`client_composed` on every message', isData),
};

/** The options that only Toolplane has. */
export const OWN_OPTIONS: Readonly<Record<keyof OwnOptions, OptionRow>> = {
  assigns: row('here', record, 'application state for the handlers of this query'),
  onToolUse: row('here', callback, 'called for every tool use when its result is known'),
  mcpConfig: row('argv', string, '`--mcp-config PATH`; deprecated, use `mcpServers`'),
  sdkServersOnArgv: row('argv', boolean, 'lists in-process servers in `--mcp-config` too, for older agents'),
  channels: row('argv', stringList, '`--channels …` each'),
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
