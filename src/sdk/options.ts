import type { AgentLink } from '../control/link.ts';
import type { SpawnedProcess, SpawnRequest } from '../control/spawned-process.ts';
import type { HookEvent } from '../protocol/hook.ts';
import type { PermissionMode } from '../protocol/permission.ts';
import type { ExternalServerEntry } from '../protocol/server-entry.ts';
import type { SdkServer, SdkServerEntry } from '../tool-server/sdk-server.ts';
import type { CanUseTool, HookCallbackMatcher, OnElicitation, OnToolUse, OnUserDialog } from './callbacks.ts';

/** An entry of `mcpServers`. */
export type McpServerConfig = SdkServer | SdkServerEntry | ExternalServerEntry;

/** A sub-agent that the `Task` tool can start. */
export type AgentDefinition = {
  description: string;
  prompt: string;
  tools?: string[];
  disallowedTools?: string[];
  model?: string;
  mcpServers?: (string | Record<string, ExternalServerEntry>)[];
  skills?: string[];
  maxTurns?: number;
  permissionMode?: PermissionMode;
  [more: string]: unknown;
};

/** The system prompt: a text, a list of blocks, or a preset. */
export type SystemPrompt =
  | string
  | string[]
  | { type: 'custom'; prompt: string | string[]; snapshot?: boolean }
  | {
      type: 'preset';
      preset: 'claude_code';
      append?: string;
      excludeDynamicSections?: boolean;
      snapshot?: boolean;
    };

/** Controls extended thinking. */
export type ThinkingConfig =
  | { type: 'adaptive'; display?: 'summarized' | 'omitted' }
  | { type: 'enabled'; budgetTokens?: number; display?: 'summarized' | 'omitted' }
  | { type: 'disabled' };

/** A plugin directory. */
export type SdkPluginConfig = { type: 'local'; path: string; skipMcpDiscovery?: boolean };

/** The content of a settings file. The agent validates it. */
export type Settings = Record<string, unknown>;

/** The options of the official package. What each does, and the few that are refused: `docs/compatibility.md`. */
export type OfficialOptions = {
  abortController?: AbortController;
  additionalDirectories?: string[];
  agent?: string;
  agentProgressSummaries?: boolean;
  agents?: Record<string, AgentDefinition>;
  allowDangerouslySkipPermissions?: boolean;
  allowedTools?: string[];
  betas?: string[];
  canUseTool?: CanUseTool;
  continue?: boolean;
  cwd?: string;
  debug?: boolean;
  debugFile?: string;
  disallowedTools?: string[];
  effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  enableFileCheckpointing?: boolean;
  env?: { [name: string]: string | undefined };
  executable?: 'bun' | 'deno' | 'node';
  executableArgs?: string[];
  extraArgs?: Record<string, string | null>;
  fallbackModel?: string;
  forkSession?: boolean;
  forwardSubagentText?: boolean;
  hooks?: Partial<Record<HookEvent, HookCallbackMatcher[]>>;
  includeHookEvents?: boolean;
  includePartialMessages?: boolean;
  loadTimeoutMs?: never;
  managedSettings?: Settings;
  maxBudgetUsd?: number;
  maxThinkingTokens?: number;
  maxTurns?: number;
  mcpServers?: Record<string, McpServerConfig>;
  model?: string;
  onElicitation?: OnElicitation;
  onUserDialog?: OnUserDialog;
  outputFormat?: { type: 'json_schema'; schema: Record<string, unknown> };
  pathToClaudeCodeExecutable?: string;
  perTaskStopAffordance?: boolean;
  permissionMode?: PermissionMode;
  permissionPromptToolName?: string;
  permissionPrompts?: 'host' | 'none';
  persistSession?: boolean;
  planModeInstructions?: string;
  pluginDelivery?: 'argv' | 'initialize';
  plugins?: SdkPluginConfig[];
  projectConfigRoot?: string;
  promptSuggestions?: boolean;
  resume?: string;
  resumeDropsTurn?: string;
  resumeSessionAt?: string;
  sandbox?: Record<string, unknown>;
  sessionId?: string;
  sessionStore?: never;
  sessionStoreFlush?: never;
  settingSources?: ('user' | 'project' | 'local')[];
  settings?: string | Settings;
  skills?: string[] | 'all';
  spawnClaudeCodeProcess?: (options: SpawnRequest) => SpawnedProcess;
  stderr?: (data: string) => void;
  strictMcpConfig?: boolean;
  supportedDialogKinds?: string[];
  systemPrompt?: SystemPrompt;
  taskBudget?: { total: number };
  thinking?: ThinkingConfig;
  title?: string;
  toolAliases?: Record<string, string>;
  toolConfig?: { askUserQuestion?: { previewFormat?: 'markdown' | 'html' } };
  tools?: string[] | { type: 'preset'; preset: 'claude_code' };
  verbatimPrompts?: boolean;
};

/** What Toolplane adds. */
export type OwnOptions = {
  /** Application state for the handlers of every in-process server of this query that was not attached with its own. */
  assigns?: object;
  /** Called for every tool use once its result is known. */
  onToolUse?: OnToolUse;
  /** A path to an MCP configuration file. Deprecated: use `mcpServers`. */
  mcpConfig?: string;
  /** Also name in-process servers in `--mcp-config`, for agents that do not read them from `initialize`. */
  sdkServersOnArgv?: boolean;
  /** How long the agent may take to answer a control request; 60,000 by default. */
  controlTimeoutMs?: number;
  /** Longest line in characters the agent may send; 64 Mi by default. */
  maxLineLength?: number;
  /** How long each step of ending the agent process may take; 5,000 by default. */
  closeGraceMs?: number;
  /** Where the agent is, if it is not a process to be started: a scripted agent in a test. */
  link?: (launch: AgentLaunch) => AgentLink;
};

/** Options of `query()`, `startup()` and `AgentClient.open()`. */
export type Options = OfficialOptions & OwnOptions;

/** Everything an agent is started with. */
export type AgentLaunch = {
  argv: string[];
  cwd: string | undefined;
  env: { [name: string]: string | undefined };
};
