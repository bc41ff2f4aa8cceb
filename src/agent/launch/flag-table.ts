import { readToolSearch, TOOL_SEARCH_WORDS, type ToolSearchSetting } from '../../pool/tool-budget.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permission.ts';
import { count, type FlagKind, jsonObject, list, number, on, oneOf, repeated, text } from './flag-kind.ts';

/** The command line of an agent, read; lists are empty if the flag was given without items. */
export type AgentFlags = {
  readonly addDirs?: readonly string[];
  readonly agent?: string;
  readonly agents?: JsonObject;
  readonly allowedTools?: readonly string[];
  readonly appendSystemPrompt?: string;
  readonly appendSystemPromptFile?: string;
  readonly betas?: readonly string[];
  readonly continue?: boolean;
  readonly debugFile?: string;
  readonly disallowedTools?: readonly string[];
  readonly effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max';
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
  /** JSON texts and paths of files, in the order given. */
  readonly mcpConfigs?: readonly string[];
  readonly mayBypass?: boolean;
  readonly model?: string;
  readonly noPersistence?: boolean;
  readonly permissionMode?: PermissionMode;
  readonly permissionPrompts?: 'host' | 'none';
  readonly permissionPromptTool?: string;
  readonly pluginDirs?: readonly string[];
  readonly projectConfigRoot?: string;
  readonly replayUserMessages?: boolean;
  readonly resume?: string;
  readonly resumeDropsTurn?: string;
  readonly resumeSessionAt?: string;
  readonly sessionId?: string;
  readonly settingSources?: readonly string[];
  /** JSON text or the path of a file. */
  readonly settings?: string;
  readonly skipPermissions?: boolean;
  readonly strictMcpConfig?: boolean;
  readonly systemPrompt?: string;
  readonly systemPromptFile?: string;
  readonly taskBudget?: number;
  readonly thinking?: 'adaptive' | 'disabled';
  readonly thinkingDisplay?: 'summarized' | 'omitted';
  readonly tellDecisions?: boolean;
  readonly toolMarks?: boolean;
  readonly toolSearch?: ToolSearchSetting;
  readonly tools?: readonly string[];
};

type JsonObject = Readonly<Record<string, unknown>>;

/** What becomes of a flag: it takes effect; it asks for what is so anyway; it has no effect, which is told; it is refused. */
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
  what: TOOL_SEARCH_WORDS,
  read: readToolSearch,
};

/** Every flag that an SDK or a person may give an agent, by its name without dashes. */
export const FLAGS: Readonly<Record<string, FlagRow>> = {
  'output-format': harmless(oneOf('stream-json'), 'it is the only format'),
  'input-format': harmless(oneOf('stream-json'), 'it is the only format'),
  print: harmless(on, 'there is no interactive mode here'),
  p: harmless(on, 'there is no interactive mode here'),
  verbose: harmless(on, 'every message is always sent'),
  debug: harmless(on, 'whoever drives the agent sees every frame'),
  'debug-to-stderr': harmless(on, 'whoever drives the agent sees every frame'),
  'debug-file': unused(text, 'no log is written', 'debugFile'),

  model: used(text, 'model'),
  'fallback-model': used(text, 'fallbackModel'),
  betas: used(list, 'betas'),
  'max-retries': used(count(0), 'maxRetries'),
  thinking: used(oneOf('adaptive', 'disabled'), 'thinking'),
  'max-thinking-tokens': used(count(0), 'maxThinkingTokens'),
  'thinking-display': unused(
    oneOf('summarized', 'omitted'),
    'thoughts are shown as the model gives them',
    'thinkingDisplay',
  ),
  effort: unused(
    oneOf('low', 'medium', 'high', 'xhigh', 'max'),
    'the model chooses its effort itself',
    'effort',
  ),
  'max-turns': used(count(1), 'maxTurns'),
  'max-budget-usd': refused(number, 'prices are not known: limit a turn by --max-turns', 'maxBudgetUsd'),
  'task-budget': unused(number, 'the model is not told of a budget', 'taskBudget'),
  'json-schema': refused(jsonObject, 'describe the format in the prompt', 'jsonSchema'),

  'system-prompt': used(text, 'systemPrompt'),
  'system-prompt-file': used(text, 'systemPromptFile'),
  'append-system-prompt': used(text, 'appendSystemPrompt'),
  'append-system-prompt-file': used(text, 'appendSystemPromptFile'),

  'mcp-config': used(repeated, 'mcpConfigs'),
  'strict-mcp-config': used(on, 'strictMcpConfig'),
  tools: used(list, 'tools'),
  allowedTools: used(list, 'allowedTools'),
  'allowed-tools': used(list, 'allowedTools'),
  disallowedTools: used(list, 'disallowedTools'),
  'disallowed-tools': used(list, 'disallowedTools'),
  'tool-marks': used(on, 'toolMarks'),
  'tool-search': used(toolSearch, 'toolSearch'),
  'tell-decisions': used(on, 'tellDecisions'),
  agents: used(jsonObject, 'agents'),
  'lead-only': used(on, 'leadOnly'),
  agent: refused(text, 'put its prompt into --system-prompt', 'agent'),
  'plugin-dir': used(repeated, 'pluginDirs'),
  'plugin-dir-no-mcp': unused(repeated, 'of plugins only their servers are used, and these are left out'),
  'await-initialize': harmless(on, 'everything waits for it'),
  channels: refused(repeated, 'there are no inbox channels'),

  'permission-mode': used(oneOf(...PERMISSION_MODES), 'permissionMode'),
  'allow-dangerously-skip-permissions': used(on, 'mayBypass'),
  'dangerously-skip-permissions': used(on, 'skipPermissions'),
  'permission-prompt-tool': used(text, 'permissionPromptTool'),
  'permission-prompts': used(oneOf('host', 'none'), 'permissionPrompts'),
  'add-dir': used(repeated, 'addDirs'),

  settings: used(text, 'settings'),
  'managed-settings': used(jsonObject, 'managedSettings'),
  'managed-settings-in-initialize': refused(on, 'pass --managed-settings'),
  'setting-sources': used(list, 'settingSources'),
  'project-config-root': used(text, 'projectConfigRoot'),

  'include-partial-messages': used(on, 'includePartialMessages'),
  'include-hook-events': unused(on, 'hooks are not reported', 'includeHookEvents'),
  'replay-user-messages': unused(on, 'messages are not sent back', 'replayUserMessages'),

  continue: used(on, 'continue'),
  resume: used(text, 'resume'),
  'fork-session': used(on, 'forkSession'),
  'resume-session-at': used(text, 'resumeSessionAt'),
  'resume-drops-turn': refused(
    text,
    'name the last message to keep by --resume-session-at',
    'resumeDropsTurn',
  ),
  'session-id': used(text, 'sessionId'),
  'no-session-persistence': used(on, 'noPersistence'),
  'session-mirror': refused(on, 'keep what the messages tell'),
  'sdk-url': refused(text, 'the agent is driven over its stdin and stdout'),
};
