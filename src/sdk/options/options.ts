import type { AgentLink } from '../../control/link.ts';
import type { SpawnedProcess, SpawnRequest } from '../../control/process-link.ts';
import type { HookEvent, HookInput, McpServerProvenance } from '../../protocol/hook.ts';
import type { HookJSONOutput } from '../../protocol/hook-output.ts';
import type { LaunchFlag } from '../../protocol/launch-flag.ts';
import type { MessageMeta } from '../../protocol/mcp.ts';
import type { PermissionMode, PermissionResult, PermissionUpdate } from '../../protocol/permission.ts';
import type {
  ExternalServerEntry,
  HttpServerEntry,
  SseServerEntry,
  StdioServerEntry,
  ToolPolicy,
} from '../../protocol/server-entry.ts';
import type { EffortLevel } from '../../protocol/system-message.ts';
import type { SdkServer, SdkServerEntry } from '../../tool-server/sdk-server.ts';
import type { SessionStore, SessionStoreFlush } from '../session-store.ts';
import type { SandboxSettings, SettingSource, Settings } from './settings.ts';

/** An entry of `mcpServers`. */
export type McpServerConfig = SdkServer | SdkServerEntry | ExternalServerEntry;
/** The entry of an in-process server as it is sent to the agent, without `instance`. */
export type McpSdkServerConfig = { type: 'sdk'; name: string; timeout?: number; tools?: ToolPolicy[] };
/** The entry of a server as it is sent to the agent. */
export type McpServerConfigForProcessTransport =
  | StdioServerEntry
  | SseServerEntry
  | HttpServerEntry
  | McpSdkServerConfig;
/** A server that claude.ai connects, as `mcpServerStatus()` reports it. */
export type McpClaudeAIProxyServerConfig = {
  type: 'claudeai-proxy';
  url: string;
  id: string;
  timeout?: number;
};
/** The configuration of a server, as `mcpServerStatus()` reports it. */
export type McpServerStatusConfig = McpServerConfigForProcessTransport | McpClaudeAIProxyServerConfig;

/** The servers of a sub-agent: the name of a known one, or new ones. */
export type AgentMcpServerSpec = string | Record<string, McpServerConfigForProcessTransport>;

/** A sub-agent that the `Agent` tool can start. */
export type AgentDefinition = {
  description: string;
  prompt: string;
  tools?: string[];
  disallowedTools?: string[];
  model?: string;
  effort?: EffortLevel | number;
  mcpServers?: AgentMcpServerSpec[];
  skills?: string[];
  initialPrompt?: string;
  maxTurns?: number;
  autoCompactWindow?: number;
  background?: boolean;
  omitClaudeMd?: boolean;
  memory?: 'user' | 'project' | 'local';
  permissionMode?: PermissionMode;
  observer?: string;
  observerMessage?: string;
  criticalSystemReminder_EXPERIMENTAL?: string;
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

/** The model decides how much it thinks. */
export type ThinkingAdaptive = { type: 'adaptive'; display?: 'summarized' | 'omitted' };
/** The model thinks within a budget of tokens. */
export type ThinkingEnabled = {
  type: 'enabled';
  budgetTokens?: number;
  display?: 'summarized' | 'omitted';
};
/** The model does not think. */
export type ThinkingDisabled = { type: 'disabled' };
/** Controls extended thinking. */
export type ThinkingConfig = ThinkingAdaptive | ThinkingEnabled | ThinkingDisabled;

/** A plugin directory. */
export type SdkPluginConfig = { type: 'local'; path: string; skipMcpDiscovery?: boolean };

/** A beta feature of the API. */
export type SdkBeta = 'context-1m-2025-08-07';

/** The kinds of structured output. */
export type OutputFormatType = 'json_schema';
/** What every output format has. */
export type BaseOutputFormat = { type: OutputFormatType };
/** Structured output that matches a JSON Schema. */
export type JsonSchemaOutputFormat = { type: 'json_schema'; schema: Record<string, unknown> };
/** The format of the result of a turn. */
export type OutputFormat = JsonSchemaOutputFormat;

/** Options of built-in tools. */
export type ToolConfig = { askUserQuestion?: { previewFormat?: 'markdown' | 'html' } };

/** The options of the official package. What each does, and the few that are refused: `docs/compatibility.md`. */
export type OfficialOptions = {
  abortController?: AbortController;
  additionalDirectories?: string[];
  agent?: string;
  agentProgressSummaries?: boolean;
  agents?: Record<string, AgentDefinition>;
  allowDangerouslySkipPermissions?: boolean;
  allowedTools?: string[];
  betas?: (SdkBeta | (string & {}))[];
  canUseTool?: CanUseTool;
  continue?: boolean;
  cwd?: string;
  debug?: boolean;
  debugFile?: string;
  disallowedTools?: string[];
  effort?: EffortLevel;
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
  loadTimeoutMs?: number;
  managedSettings?: Settings;
  maxBudgetUsd?: number;
  maxThinkingTokens?: number;
  maxTurns?: number;
  mcpServers?: Record<string, McpServerConfig>;
  model?: string;
  onElicitation?: OnElicitation;
  onUserDialog?: OnUserDialog;
  outputFormat?: OutputFormat;
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
  sandbox?: SandboxSettings;
  sessionId?: string;
  sessionStore?: SessionStore;
  sessionStoreFlush?: SessionStoreFlush;
  settingSources?: SettingSource[];
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
  toolConfig?: ToolConfig;
  tools?: string[] | { type: 'preset'; preset: 'claude_code' };
  verbatimPrompts?: boolean;
};

/** The options that only Toolplane has. */
export type OwnOptions = {
  /** Application state for the handlers of every in-process server of this query that was not attached with its own. */
  assigns?: object;
  /** Called for every tool use once its result is known. */
  onToolUse?: OnToolUse;
  /** A path to an MCP configuration file. Deprecated: use `mcpServers`. */
  mcpConfig?: string;
  /** Also name in-process servers in `--mcp-config`, for agents that do not read them from `initialize`. */
  sdkServersOnArgv?: boolean;
  /** Time limit for control requests in milliseconds; 60,000 by default. */
  controlTimeoutMs?: number;
  /** The servers that may push messages into the conversation, such as `server:chat`. Only with Toolplane's agent. */
  channels?: string[];
  /** Maximum length of a line from the agent, in characters; 64 Mi by default. */
  maxLineLength?: number;
  /** Time limit for each step of closing the agent process, in milliseconds; 5,000 by default. */
  closeGraceMs?: number;
  /** Reject unknown options and null values. Without it, unknown options are ignored with a warning, and null is not given. */
  strictOptions?: boolean;
  /** Connects to an agent instead of starting a process, for example to a scripted agent in a test. */
  link?: (launch: AgentLaunch) => AgentLink;
};

/** Options of `query()`, `startup()` and `AgentClient.open()`. */
export type Options = OfficialOptions & OwnOptions;

/** The launch parameters of an agent as values; `flags` become the command line of a process. */
export type LaunchPlan = Omit<AgentLaunch, 'argv'> & { readonly flags: readonly LaunchFlag[] };

/** The launch parameters of an agent process. */
export type AgentLaunch = {
  argv: string[];
  cwd: string | undefined;
  env: { [name: string]: string | undefined };
};

/**
 * Decides whether one tool call may run. With `null`, no response is sent to the agent: the program has to answer the
 * request in another way. A malformed value denies the call.
 */
export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  options: {
    signal: AbortSignal;
    suggestions?: PermissionUpdate[];
    blockedPath?: string;
    mcpServer?: McpServerProvenance;
    decisionReason?: string;
    title?: string;
    displayName?: string;
    description?: string;
    defaultToNo?: boolean;
    suppressAlwaysAllowRule?: boolean;
    serverPolicyAskOnly?: boolean;
    toolUseID: string;
    agentID?: string;
    requestId: string;
    matchedAskRule?: { source: string; toolName: string; ruleContent?: string };
    /**
     * The tool's definition changed since it was accepted, or the tool is new on a known server and no rule allows it.
     * Allowing the call accepts the definition. Only Toolplane's agent sends this.
     */
    toolChange?: { server: string; tool: string };
    /**
     * The channels that are asked too; the first answer wins, and `signal` aborts if it is not yours. Only Toolplane's agent
     * sends this.
     */
    relayedTo?: string[];
  },
) => Promise<PermissionResult | null>;

/** A hook that runs in this program. */
export type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookJSONOutput>;

/** Hooks for one event, restricted by `matcher`. */
export type HookCallbackMatcher = {
  /**
   * A pattern for the tool's name, or for what other events have instead, such as `source` of `SessionStart`. Without
   * it, the hooks run for every event of their kind.
   */
  matcher?: string;
  hooks: HookCallback[];
  /** Seconds the agent waits for each of these hooks. */
  timeout?: number;
  /** What happens to the action when a hook fails. */
  onFailure?: 'continue' | 'block';
};

/** A server's request for input from the user. */
export type ElicitationRequest = {
  serverName: string;
  message: string;
  mode?: 'form' | 'url';
  url?: string;
  elicitationId?: string;
  requestedSchema?: Record<string, unknown>;
  title?: string;
  displayName?: string;
  description?: string;
};
/** The answer to an elicitation request. */
export type ElicitationResult = {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, ElicitationValue>;
  _meta?: MessageMeta;
  [more: string]: unknown;
};
/** The value of one field of an elicitation form. */
export type ElicitationValue = string | number | boolean | string[];
/** Answers elicitation requests of servers. Without it, requests that no `Elicitation` hook answers are declined. */
export type OnElicitation = (
  request: ElicitationRequest,
  options: { signal: AbortSignal; requestId: string },
) => Promise<ElicitationResult | null>;

/** A dialog that the agent asks the program to show. */
export type UserDialogRequest = { dialogKind: string; payload: Record<string, unknown>; toolUseID?: string };
/** The answer to a dialog request. */
export type UserDialogResult = { behavior: 'completed'; result: unknown } | { behavior: 'cancelled' };
/** Answers dialog requests of the agent. */
export type OnUserDialog = (
  request: UserDialogRequest,
  options: { signal: AbortSignal; requestId: string },
) => Promise<UserDialogResult | null>;

/** One tool use with its result. */
export type ToolUse = {
  toolUseId: string;
  /** The name the model used. */
  name: string;
  input: unknown;
  /** The content of the result as the model received it. */
  result: unknown;
  isError: boolean;
  parentToolUseId: string | null;
};
/** Receives every tool use with its result. */
export type OnToolUse = (use: ToolUse) => void;
