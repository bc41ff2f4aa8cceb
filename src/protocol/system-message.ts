import type { PermissionMode } from './permission.ts';

/** The id of a message, as `crypto.randomUUID()` returns it. */
export type Uuid = `${string}-${string}-${string}-${string}-${string}`;

/** The members that every message from an agent has. */
export type Envelope = { uuid: Uuid; session_id: string };

/** Why the model gave no answer. */
export type SDKAssistantMessageError =
  | 'authentication_failed'
  | 'oauth_org_not_allowed'
  | 'account_on_hold'
  | 'verification_required'
  | 'billing_error'
  | 'rate_limit'
  | 'overloaded'
  | 'invalid_request'
  | 'model_not_found'
  | 'server_error'
  | 'unknown'
  | 'max_output_tokens'
  | 'cloud_credential_error';

/** Whether the model runs in fast mode. */
export type FastModeState = 'off' | 'cooldown' | 'on';
/** Why fast mode is not available. */
export type FastModeDisabledReason =
  | 'free'
  | 'preference'
  | 'extra_usage_disabled'
  | 'network_error'
  | 'unknown'
  | 'not_first_party'
  | 'disabled_by_env'
  | 'model_not_allowed'
  | 'sdk_opt_in_required'
  | 'pending';
/** The state of fast mode, as messages report it. */
export type FastModeFields = {
  fast_mode_state?: FastModeState;
  fast_mode_disabled_reason?: FastModeDisabledReason;
};

/** The members of a `system` message. */
type System<Subtype extends string> = Envelope & { type: 'system'; subtype: Subtype };

/** How hard the model thinks before it answers. */
export type EffortLevel = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** All levels of effort, in ascending order. */
export const EFFORT_LEVELS: readonly EffortLevel[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** Where the agent got its API key. */
export type ApiKeySource =
  | 'ANTHROPIC_API_KEY'
  | 'apiKeyHelper'
  | '/login managed key'
  | 'none'
  | 'user'
  | 'project'
  | 'org'
  | 'temporary'
  | 'oauth';

/** The account that the agent uses. */
export type AccountInfo = {
  email?: string;
  organization?: string;
  subscriptionType?: string;
  tokenSource?: string;
  apiKeySource?: string;
  apiProvider?:
    | 'firstParty'
    | 'bedrock'
    | 'vertex'
    | 'foundry'
    | 'anthropicAws'
    | 'anthropicGoogleCloud'
    | 'mantle'
    | 'gateway';
};

/** A model that the agent can use. */
export type ModelInfo = {
  value: string;
  resolvedModel?: string;
  displayName: string;
  description: string;
  supportsEffort?: boolean;
  supportedEffortLevels?: EffortLevel[];
  supportsAdaptiveThinking?: boolean;
  supportsFastMode?: boolean;
  supportsAutoMode?: boolean;
};

/** A command that a prompt runs by starting with `/` and its name. */
export type SlashCommand = {
  name: string;
  description: string;
  argumentHint: string;
  aliases?: string[];
  builtin?: boolean;
};

/** The start of a turn, with the available tools, servers and commands. */
export type SDKSystemMessage = System<'init'> &
  FastModeFields & {
    cwd: string;
    model: string;
    permissionMode: PermissionMode;
    tools: string[];
    mcp_servers: { name: string; status: string; source?: string }[];
    slash_commands: string[];
    terminal_slash_commands?: string[];
    agents?: string[];
    skills: string[];
    plugins: { name: string; path: string; version?: string }[];
    plugin_errors?: PluginError[];
    output_style: string;
    apiKeySource: ApiKeySource;
    betas?: string[];
    claude_code_version: string;
    effort?: EffortLevel | null;
    view_mode?: 'focus' | 'default';
    capabilities?: string[];
  };

type PluginError = {
  plugin: string;
  type: string;
  message: string;
  path?: string;
  managed_lock?: { plugin_enabled: boolean; name: string; marketplace?: string };
};

/** Marks where the conversation was compacted. */
export type SDKCompactBoundaryMessage = System<'compact_boundary'> & {
  compact_metadata: {
    trigger: 'manual' | 'auto';
    pre_tokens: number;
    post_tokens?: number;
    duration_ms?: number;
    preserved_segment?: { head_uuid: Uuid; anchor_uuid: Uuid; tail_uuid: Uuid };
    preserved_messages?: { anchor_uuid: Uuid; uuids: Uuid[] };
  };
};

/** The activity of the agent between messages; `null` if it is idle. */
export type SDKStatus = 'compacting' | 'requesting' | null;
/** The activity or the permission mode of the agent changed. */
export type SDKStatusMessage = System<'status'> & {
  status: SDKStatus;
  permissionMode?: PermissionMode;
  compact_result?: 'success' | 'failed';
  compact_error?: string;
};

/** A request to the model failed and is repeated. */
export type SDKAPIRetryMessage = System<'api_retry'> & {
  attempt: number;
  max_retries: number;
  retry_delay_ms: number;
  error_status: number | null;
  error: SDKAssistantMessageError;
  no_response?: { waited_ms: number; retry_wait_ms: number };
};
/** The progress of a control request that takes long. */
export type SDKControlRequestProgressMessage = System<'control_request_progress'> & {
  request_id: string;
  status: 'started' | 'api_retry';
  attempt?: number;
  max_retries?: number;
  retry_delay_ms?: number;
  error_status?: number | null;
};

type Refusal = {
  original_model: string;
  request_id: string | null;
  api_refusal_category?: string | null;
  api_refusal_explanation?: string | null;
  refused_user_message_uuid?: string | null;
  content: string;
};
/** The model refused, and another model continues. */
export type SDKModelRefusalFallbackMessage = System<'model_refusal_fallback'> &
  Refusal & {
    trigger: 'refusal';
    direction: 'retry' | 'revert' | 'sticky';
    scope?: 'session' | 'local';
    fallback_model: string;
    retracted_message_uuids?: string[];
  };
/** The model refused, and no other model can continue. */
export type SDKModelRefusalNoFallbackMessage = System<'model_refusal_no_fallback'> & Refusal;

/** The output of a slash command that ran without the model. */
export type SDKLocalCommandOutputMessage = System<'local_command_output'> & { content: string };

type HookRun = { hook_id: string; hook_name: string; hook_event: string };
type HookOutput = { output: string; stdout: string; stderr: string };
/** A hook started. */
export type SDKHookStartedMessage = System<'hook_started'> & HookRun;
/** A running hook wrote output. */
export type SDKHookProgressMessage = System<'hook_progress'> & HookRun & HookOutput;
/** A hook ended. */
export type SDKHookResponseMessage = System<'hook_response'> &
  HookRun &
  HookOutput & { exit_code?: number; outcome: 'success' | 'error' | 'cancelled' };

/** The progress of installing a plugin. */
export type SDKPluginInstallMessage = System<'plugin_install'> & {
  status: 'started' | 'installed' | 'failed' | 'completed';
  name?: string;
  error?: string;
};

type Task = { task_id: string; run_id?: string };
type TaskUsage = { total_tokens: number; tool_uses: number; duration_ms: number };
/** A background task or sub-agent started. */
export type SDKTaskStartedMessage = System<'task_started'> &
  Task & {
    tool_use_id?: string;
    description: string;
    subagent_type?: string;
    is_backgrounded?: boolean;
    spawn_depth?: number;
    parent_task_id?: string;
    task_type?: string;
    workflow_name?: string;
    prompt?: string;
    skip_transcript?: boolean;
    ambient?: boolean;
  };
/** The progress of a task. */
export type SDKTaskProgressMessage = System<'task_progress'> &
  Task & {
    tool_use_id?: string;
    description: string;
    subagent_type?: string;
    usage: TaskUsage;
    last_tool_name?: string;
    summary?: string;
  };
/** The state of a task changed; `patch` has the changed members. */
export type SDKTaskUpdatedMessage = System<'task_updated'> &
  Task & {
    patch: {
      status?: 'pending' | 'running' | 'completed' | 'failed' | 'killed' | 'paused';
      description?: string;
      end_time?: number;
      total_paused_ms?: number;
      error?: string;
      is_backgrounded?: boolean;
    };
  };
/** A link to an MCP resource. */
export type SDKMcpResourceLink = {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  annotations?: Record<string, unknown>;
};
/** A task ended. */
export type SDKTaskNotificationMessage = System<'task_notification'> &
  Task & {
    tool_use_id?: string;
    status: 'completed' | 'failed' | 'stopped';
    reason?: 'worker_restart';
    output_file: string;
    summary: string;
    usage?: TaskUsage;
    resource_links?: SDKMcpResourceLink[];
    skip_transcript?: boolean;
    ambient?: boolean;
  };
/** The list of running background tasks changed. */
export type SDKBackgroundTasksChangedMessage = System<'background_tasks_changed'> & {
  tasks: (Task & {
    task_type: string;
    subagent_type?: string;
    description: string;
    parent_task_id?: string;
    ambient?: boolean;
  })[];
};

/** An estimate of the tokens that the model used for thinking so far. */
export type SDKThinkingTokensMessage = System<'thinking_tokens'> & {
  estimated_tokens: number;
  estimated_tokens_delta: number;
  user_message_uuid?: string;
};
/** The session started to work, became idle or waits for the user. */
export type SDKSessionStateChangedMessage = System<'session_state_changed'> & {
  state: 'idle' | 'running' | 'requires_action';
};
/** Parts of the session could not be written to disk. */
export type SDKSessionWritesLostMessage = System<'session_writes_lost'> & {
  error_code: 'ENOSPC' | 'EDQUOT';
  lost: ('transcript' | 'global_config')[];
  transcript_session_ids?: string[];
};
/** The process that runs the agent is about to end. */
export type SDKWorkerShuttingDownMessage = System<'worker_shutting_down'> & { reason: string };
/** The list of slash commands changed. */
export type SDKCommandsChangedMessage = System<'commands_changed'> & { commands: SlashCommand[] };
/** A short notification for the user. */
export type SDKNotificationMessage = System<'notification'> & {
  key: string;
  text: string;
  priority: 'low' | 'medium' | 'high' | 'immediate';
  color?: string;
  timeout_ms?: number;
};
/** A note of the agent about the conversation. */
export type SDKInformationalMessage = System<'informational'> & {
  content: string;
  level: 'info' | 'notice' | 'suggestion' | 'warning';
  tool_use_id?: string;
  prevent_continuation?: boolean;
  tag?: string;
};
/** Files were uploaded, or failed to be. */
export type SDKFilesPersistedEvent = System<'files_persisted'> & {
  files: { filename: string; file_id: string }[];
  failed: { filename: string; error: string }[];
  processed_at: string;
};
/** Memories were added to the context. */
export type SDKMemoryRecallMessage = System<'memory_recall'> & {
  mode: 'select' | 'synthesize';
  memories: { path: string; scope: 'personal' | 'team' | 'organization'; content?: string }[];
};
/** An elicitation that the user completed outside the conversation. */
export type SDKElicitationCompleteMessage = System<'elicitation_complete'> & {
  mcp_server_name: string;
  elicitation_id: string;
};
/** A tool call was denied without a question to the user. */
export type SDKPermissionDeniedMessage = System<'permission_denied'> & {
  tool_name: string;
  tool_use_id: string;
  agent_id?: string;
  decision_reason_type?: string;
  decision_reason?: string;
  message: string;
};
/** An entry could not be written to the session store. */
export type SDKMirrorErrorMessage = System<'mirror_error'> & {
  error: string;
  key: { projectKey: string; sessionId: string; subpath?: string };
};
