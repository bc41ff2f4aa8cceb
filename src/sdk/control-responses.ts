import type { PermissionBehavior, PermissionUpdateDestination } from '../protocol/permission.ts';
import type { AccountInfo, FastModeFields, ModelInfo, SlashCommand } from '../protocol/system-message.ts';
import type {
  ContextUsageKind,
  ExtraUsage,
  MessageBreakdown,
  SessionUsage,
} from '../protocol/usage-report.ts';
import type { McpServerStatusConfig } from './options/options.ts';

/** A sub-agent that the agent can start. */
export type AgentInfo = { name: string; description: string; model?: string };
/** The agent's response to `initialize`. */
export type SDKControlInitializeResponse = FastModeFields & {
  commands: SlashCommand[];
  agents: AgentInfo[];
  models: ModelInfo[];
  account: AccountInfo;
  output_style: string;
  available_output_styles: string[];
  hooks_applied?: boolean;
  hook_on_failure_supported?: boolean;
  plugins_applied?: boolean;
  sdk_mcp_manifests_parked?: Record<
    string,
    'parked' | 'already_connected' | 'protocol_version_mismatch' | 'malformed' | 'not_honoured'
  >;
  claude_code_version?: string;
  /** The process id of the agent, if it runs as a process. */
  pid?: number;
};
/** The result of `interrupt()`: the queued messages that remain, and those that were cancelled. */
export type SDKControlInterruptResponse = { still_queued: string[]; cancelled?: string[] };

/** The state of a server in a running conversation. */
export type McpServerStatus = {
  name: string;
  status: 'connected' | 'failed' | 'needs-auth' | 'pending' | 'disabled';
  serverInfo?: { name: string; version: string };
  error?: string;
  config?: McpServerStatusConfig;
  scope?: string;
  source?: string;
  /** Why Toolplane's agent lists it as disabled: `pending` approval, `rejected`, `blocked`, `disabled` or `broken`. */
  configured?: string;
  tools?: {
    name: string;
    description?: string;
    annotations?: { readOnly?: boolean; destructive?: boolean; openWorld?: boolean };
    _meta?: Record<string, unknown>;
  }[];
};
/** The result of `mcpAuthenticate()`: the address to open, unless the agent can sign in without the user. */
export type SDKControlMcpAuthenticateResponse = {
  authUrl?: string;
  requiresUserAction: boolean;
  callbackExpected?: boolean;
  redirectScheme?: string;
  state?: string;
  callbackPort?: number;
};
/** The result of `setMcpServers()`. */
export type McpSetServersResult = { added: string[]; removed: string[]; errors: Record<string, string> };
/** The result of `readMcpResource()`. */
export type SDKControlMcpReadResourceResponse = {
  contents: {
    uri: string;
    mimeType?: string;
    text?: string;
    blob?: string;
    _meta?: Record<string, unknown>;
  }[];
};
/** The result of `readFile()`. */
export type SDKControlReadFileResponse = {
  contents: string;
  absPath: string;
  truncated?: boolean;
  encoding?: 'base64';
  lossy?: boolean;
};
/** The result of `rewindFiles()`. */
export type RewindFilesResult = {
  canRewind: boolean;
  error?: string;
  filesChanged?: string[];
  insertions?: number;
  deletions?: number;
  skippedLinks?: number;
};
/** The result of `reloadPlugins()`. */
export type SDKControlReloadPluginsResponse = {
  commands: SlashCommand[];
  agents: AgentInfo[];
  plugins: { name: string; path: string; source?: string; version?: string }[];
  mcpServers: McpServerStatus[];
  error_count: number;
  held?: boolean;
  cache_impact?: {
    mcp_servers_added: string[];
    mcp_servers_removed: string[];
    lsp_tool_change: 'adds' | 'may-add' | 'removes' | 'may-remove' | null;
  };
};
/** The result of `reloadSkills()`. */
export type SDKControlReloadSkillsResponse = { skills: SlashCommand[] };
/** The result of `reloadOutputStyles()`. */
export type SDKControlReloadOutputStylesResponse = { available_output_styles: string[] };

type Tokens = { name: string; tokens: number };
/** The result of `getContextUsage()`. */
export type SDKControlGetContextUsageResponse = {
  model: string;
  totalTokens: number;
  maxTokens: number;
  rawMaxTokens: number;
  percentage: number;
  autoCompactThreshold?: number;
  isAutoCompactEnabled: boolean;
  categories: (Tokens & {
    id?:
      | 'system_prompt'
      | 'system_tools'
      | 'mcp_tools'
      | 'mcp_instructions'
      | 'mcp_tools_deferred'
      | 'system_tools_deferred'
      | 'custom_agents'
      | 'memory_files'
      | 'skills'
      | 'messages'
      | 'autocompact_buffer'
      | 'compact_buffer'
      | 'free_space';
    color: string;
    isDeferred?: boolean;
    kind: ContextUsageKind;
  })[];
  gridRows: {
    color: string;
    isFilled: boolean;
    categoryName: string;
    tokens: number;
    percentage: number;
    squareFullness: number;
  }[][];
  memoryFiles: { path: string; type: string; tokens: number }[];
  mcpTools: (Tokens & { serverName: string; isLoaded?: boolean })[];
  mcpInstructions?: { serverName: string; tokens: number }[];
  deferredBuiltinTools?: (Tokens & { isLoaded: boolean })[];
  systemTools?: Tokens[];
  systemPromptSections?: Tokens[];
  agents: { agentType: string; source: string; pluginId?: string; path?: string; tokens: number }[];
  slashCommands?: { totalCommands: number; includedCommands: number; tokens: number };
  skills?: {
    totalSkills: number;
    includedSkills: number;
    tokens: number;
    skillFrontmatter: (Tokens & {
      source: string;
      pluginName?: string;
      pluginId?: string;
      path?: string;
    })[];
  };
  messageBreakdown?: MessageBreakdown;
  apiUsage: {
    input_tokens: number;
    output_tokens: number;
    cache_creation_input_tokens: number;
    cache_read_input_tokens: number;
  } | null;
};

type LimitWindow = { utilization: number | null; resets_at: string | null };
type Share = { name: string; pct: number };
type UsagePeriod = {
  request_count: number;
  session_count: number;
  behaviors: {
    key:
      | 'cache_miss'
      | 'long_context'
      | 'subagent_heavy'
      | 'high_parallel'
      | 'cron'
      | 'max_effort'
      | 'workflow'
      | 'always_on_context'
      | 'large_tool_results';
    pct: number;
    count: number;
  }[];
  recommendations?: { key: string; pct: number; title: string; detail?: string }[];
  fix?: { keys: string[]; messages: string[] };
  agents: Share[];
  skills: Share[];
  plugins: Share[];
  mcp_servers: Share[];
};
/** The usage of the session and of the account. */
export type SDKControlGetUsageResponse = {
  session: SessionUsage;
  subscription_type: string | null;
  rate_limits_available: boolean;
  rate_limits: {
    five_hour?: LimitWindow | null;
    seven_day?: LimitWindow | null;
    seven_day_oauth_apps?: LimitWindow | null;
    seven_day_opus?: LimitWindow | null;
    seven_day_sonnet?: LimitWindow | null;
    model_scoped?: (LimitWindow & { display_name: string })[];
    extra_usage?: ExtraUsage | null;
  } | null;
  behaviors: { day: UsagePeriod; week: UsagePeriod } | null;
};

/** An error in a settings file. */
export type SDKSettingsParseError = { file?: string; path: string; message: string };
/** A permission rule in words; `emphasis` is highlighted. */
export type SDKPermissionRuleDescription = { prefix: string; emphasis?: string; suffix?: string };
/** A permission rule with its source. */
export type SDKPermissionRuleEntry = {
  behavior: PermissionBehavior;
  source:
    | PermissionUpdateDestination
    | 'flagSettings'
    | 'policySettings'
    | 'command'
    | 'mcpMount'
    | 'toolsNarrowing'
    | 'mcpServerPolicy'
    | 'hostCredential';
  rule: string;
  description?: SDKPermissionRuleDescription;
  editability: 'persistent' | 'session' | 'readonly';
  notInEffect?: boolean;
};
/** A directory that the agent may work in. */
export type SDKPermissionWorkspaceDirectory = { path: string; source: string };
/** The permission rules and directories of a conversation. */
export type SDKControlPermissionRulesState = {
  rules: SDKPermissionRuleEntry[];
  workspaceDirectories: SDKPermissionWorkspaceDirectory[];
  originalCwd: string;
  managedOnly: boolean;
  errors?: SDKSettingsParseError[];
  withheld?: boolean;
};
/** The response to `list_permission_rules`. */
export type SDKControlListPermissionRulesResponse = { state: SDKControlPermissionRulesState };
