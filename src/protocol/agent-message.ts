import type { ApiMessage, ApiMessageParam, ApiStreamEvent } from './messages-api.ts';
import type {
  Envelope,
  FastModeFields,
  SDKAPIRetryMessage,
  SDKAssistantMessageError,
  SDKBackgroundTasksChangedMessage,
  SDKCommandsChangedMessage,
  SDKCompactBoundaryMessage,
  SDKControlRequestProgressMessage,
  SDKElicitationCompleteMessage,
  SDKFilesPersistedEvent,
  SDKHookProgressMessage,
  SDKHookResponseMessage,
  SDKHookStartedMessage,
  SDKInformationalMessage,
  SDKLocalCommandOutputMessage,
  SDKMemoryRecallMessage,
  SDKMirrorErrorMessage,
  SDKModelRefusalFallbackMessage,
  SDKModelRefusalNoFallbackMessage,
  SDKNotificationMessage,
  SDKPermissionDeniedMessage,
  SDKPluginInstallMessage,
  SDKSessionStateChangedMessage,
  SDKSessionWritesLostMessage,
  SDKStatusMessage,
  SDKSystemMessage,
  SDKTaskNotificationMessage,
  SDKTaskProgressMessage,
  SDKTaskStartedMessage,
  SDKTaskUpdatedMessage,
  SDKThinkingTokensMessage,
  SDKWorkerShuttingDownMessage,
  Uuid,
} from './system-message.ts';
import type {
  ModelUsage,
  NonNullableUsage,
  SDKContextUsage,
  SDKRateLimitInfo,
  SDKUsageReport,
} from './usage-report.ts';

/** One content block of a model message. Unknown kinds keep their `type`. */
export type ModelBlock =
  | { type: 'text'; text: string; citations?: unknown }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown; caller?: unknown };

/** One content block of a user message. */
export type UserBlock =
  | { type: 'text'; text: string; cache_control?: unknown }
  | { type: 'image'; source: Record<string, unknown> }
  | { type: 'document'; source: Record<string, unknown>; title?: string }
  | { type: 'tool_result'; tool_use_id: string; content?: string | UserBlock[]; is_error?: boolean };

export type Usage = {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  [more: string]: unknown;
};

/** How a prompt reached the agent. */
export type SDKMessageOrigin =
  | { kind: 'human' | 'coordinator' | 'unclassified' | 'auto-continuation' | 'observer-activity' }
  | { kind: 'channel'; server: string }
  | {
      kind: 'peer';
      from: string;
      fromMode?: 'bypass' | 'prompting';
      name?: string;
      fromSession?: string;
      senderTaskId?: string;
      body?: string;
      verifiedPeerPid?: number;
    }
  | {
      kind: 'task-notification';
      subkind?: 'scheduled-trigger' | 'peer-send-message' | 'projects-relay' | 'session-inbox';
      fireReason?: string;
      runId?: string;
    }
  | { kind: 'observer'; from: string; senderTaskId: string };

type UserMessageBase = {
  type: 'user';
  message: ApiMessageParam;
  parent_tool_use_id: string | null;
  isSynthetic?: boolean;
  tool_use_result?: unknown;
  priority?: 'now' | 'next' | 'later';
  origin?: SDKMessageOrigin;
  shouldQuery?: boolean;
  timestamp?: string;
  client_composed?: true;
};

/** Identifies the sub-agent that a message belongs to. */
type SubAgentFields = { agent_id?: string; subagent_type?: string; task_description?: string };

/** Identifies the user messages that a turn answers. */
type AnsweredMessages = { user_message_uuid?: string; user_message_uuids?: string[]; resume_reason?: string };

/** A message of the user, or tool results. */
export type SDKUserMessage = UserMessageBase &
  SubAgentFields & {
    uuid?: Uuid;
    session_id?: string;
    pasted_content?: ApiMessageParam['content'][];
    inline_pastes?: string[];
  };

/** A user message that the agent sends back, for example when a session is resumed. */
export type SDKUserMessageReplay = UserMessageBase &
  Envelope & { isReplay: true; file_attachments?: unknown[] };

/** A message of the model. */
export type SDKAssistantMessage = Envelope &
  SubAgentFields &
  AnsweredMessages & {
    type: 'assistant';
    message: ApiMessage;
    parent_tool_use_id: string | null;
    error?: SDKAssistantMessageError;
    request_id?: string;
    resumed_from_incomplete_thinking?: true;
    supersedes?: Uuid[];
    aborted?: true;
    timestamp?: string;
    context_usage?: SDKContextUsage;
    usage_report?: SDKUsageReport;
  };

/** A piece of a model message while it is streamed. */
export type SDKPartialAssistantMessage = Envelope &
  AnsweredMessages & {
    type: 'stream_event';
    event: ApiStreamEvent;
    parent_tool_use_id: string | null;
    ttft_ms?: number;
  };

/** A tool call that was denied during a turn. */
export type SDKPermissionDenial = {
  tool_name: string;
  tool_use_id: string;
  tool_input: Record<string, unknown>;
};
/** A tool call that a hook deferred. */
export type SDKDeferredToolUse = { id: string; name: string; input: Record<string, unknown> };

/** Why a turn ended. */
export type TerminalReason =
  | 'blocking_limit'
  | 'rapid_refill_breaker'
  | 'prompt_too_long'
  | 'image_error'
  | 'model_error'
  | 'api_error'
  | 'malformed_tool_use_exhausted'
  | 'aborted_streaming'
  | 'aborted_tools'
  | 'stop_hook_prevented'
  | 'hook_stopped'
  | 'tool_deferred'
  | 'max_turns'
  | 'background_requested'
  | 'completed'
  | 'budget_exhausted'
  | 'structured_output_retry_exhausted'
  | 'tool_deferred_unavailable'
  | 'turn_setup_failed';

/** Why an agent could not start. */
export type SDKStartupFailureReason =
  | 'org_pin_api_key_conflict'
  | 'provider_not_allowed'
  | 'org_verify_failed'
  | 'org_pin_mismatch'
  | 'managed_settings_invalid'
  | 'managed_settings_not_delivered'
  | 'remote_settings_required_unavailable'
  | 'gateway_signin_required'
  | 'gateway_access_denied'
  | 'proxy_invalid'
  | 'temp_dir_unusable'
  | 'cwd_unavailable'
  | 'shell_tool_missing'
  | 'session_held_by_background'
  | 'worktree_resume_refused'
  | 'worktree_unverified'
  | 'cli_version_too_old'
  | 'bypass_root'
  | 'org_config_required_unavailable'
  | 'org_config_refused'
  | 'sandbox_required_unavailable'
  | 'initialize_not_first'
  | 'config_file_invalid';

type ResultBase = Envelope &
  AnsweredMessages &
  FastModeFields & {
    type: 'result';
    duration_ms: number;
    duration_api_ms: number;
    is_error: boolean;
    num_turns: number;
    stop_reason: string | null;
    /** The cost of the session in US dollars, at list prices; Toolplane's agent leaves it out if a price is unknown. */
    total_cost_usd: number;
    usage: NonNullableUsage;
    modelUsage: Record<string, ModelUsage>;
    permission_denials: SDKPermissionDenial[];
    queued_turn_count?: number;
    terminal_reason?: TerminalReason;
    result_index?: number;
    credential_expires_at?: string;
    origin?: SDKMessageOrigin;
  };

type QueuedBehind = 'durable_post' | 'ephemeral_post' | 'retry_backoff' | 'hold' | 'none';

/** Measurements of the first request and the first streamed content of a turn. */
type TurnTimings = {
  ttft_ms?: number;
  ttft_stream_ms?: number;
  time_to_request_ms?: number;
  time_to_request_from_spawn_ms?: number;
  time_origin_ms?: number;
  request_sent_wall_ms?: number;
  first_content_frame_ms?: number;
  first_stream_post_ms?: number;
  first_stream_post_ack_ms?: number;
  first_stream_post_queue_wait_ms?: number;
  first_stream_post_queued_behind?: QueuedBehind;
  first_stream_post_wall_ms?: number;
  first_text_post_ms?: number;
  first_text_post_queue_wait_ms?: number;
  first_text_post_queued_behind?: QueuedBehind;
  first_text_post_wall_ms?: number;
  warm_spare_claimed?: boolean;
};

/** The result of a successful turn. */
export type SDKResultSuccess = ResultBase &
  TurnTimings & {
    subtype: 'success';
    result: string;
    structured_output?: unknown;
    deferred_tool_use?: SDKDeferredToolUse;
    local_command?: string;
    api_error_status?: number | null;
  };
/** The result of a failed turn. */
export type SDKResultError = ResultBase & {
  subtype:
    | 'error_during_execution'
    | 'error_max_turns'
    | 'error_max_budget_usd'
    | 'error_max_structured_output_retries';
  errors: string[];
  startup_failure_reason?: SDKStartupFailureReason;
  invalid_config_file?: { path: string; is_global: boolean; backup_searched: boolean; backup_path?: string };
};
/** The result of a turn. */
export type SDKResultMessage = SDKResultSuccess | SDKResultError;

/** The progress of a running tool call. */
export type SDKToolProgressMessage = Envelope & {
  type: 'tool_progress';
  tool_use_id: string;
  tool_name: string;
  parent_tool_use_id: string | null;
  elapsed_time_seconds: number;
  task_id?: string;
  heartbeat?: boolean;
  subagent_type?: string;
  subagent_retry?: {
    agent_id: string;
    attempt: number;
    max_retries: number;
    retry_delay_ms: number;
    error_status: number | null;
    error_category: string;
  };
};
/** A summary of several tool calls. */
export type SDKToolUseSummaryMessage = Envelope & {
  type: 'tool_use_summary';
  summary: string;
  preceding_tool_use_ids: string[];
};
/** The progress of signing in. */
export type SDKAuthStatusMessage = Envelope & {
  type: 'auth_status';
  isAuthenticating: boolean;
  output: string[];
  error?: string;
};
/** The rate limits of the account changed. */
export type SDKRateLimitEvent = Envelope & { type: 'rate_limit_event'; rate_limit_info: SDKRateLimitInfo };
/** A suggestion for the next prompt. */
export type SDKPromptSuggestionMessage = Envelope & { type: 'prompt_suggestion'; suggestion: string };
/** The conversation was cleared and continues under a new id. */
export type SDKConversationResetMessage = Envelope & {
  type: 'conversation_reset';
  new_conversation_id: Uuid;
  trigger?: 'clear' | 'plan_mode_exit' | 'fresh_session' | 'onboarding';
  user_message_uuid?: string;
  timestamp?: string;
};
/** The goal that the agent works towards, or `null` if there is none. */
export type SDKActiveGoalMessage = Envelope & {
  type: 'active_goal';
  value: {
    condition: string;
    iterations: number;
    set_at: number;
    tokens_at_start: number;
    last_reason?: string;
  } | null;
};

/** A message of a conversation; `type`, and `subtype` for `system`, say which. Agents may send newer kinds. */
export type SDKMessage =
  | SDKAssistantMessage
  | SDKUserMessage
  | SDKUserMessageReplay
  | SDKResultMessage
  | SDKPartialAssistantMessage
  | SDKToolProgressMessage
  | SDKToolUseSummaryMessage
  | SDKAuthStatusMessage
  | SDKRateLimitEvent
  | SDKPromptSuggestionMessage
  | SDKConversationResetMessage
  | SDKSystemMessage
  | SDKCompactBoundaryMessage
  | SDKStatusMessage
  | SDKAPIRetryMessage
  | SDKControlRequestProgressMessage
  | SDKModelRefusalFallbackMessage
  | SDKModelRefusalNoFallbackMessage
  | SDKLocalCommandOutputMessage
  | SDKHookStartedMessage
  | SDKHookProgressMessage
  | SDKHookResponseMessage
  | SDKPluginInstallMessage
  | SDKTaskStartedMessage
  | SDKTaskProgressMessage
  | SDKTaskUpdatedMessage
  | SDKTaskNotificationMessage
  | SDKBackgroundTasksChangedMessage
  | SDKThinkingTokensMessage
  | SDKSessionStateChangedMessage
  | SDKSessionWritesLostMessage
  | SDKWorkerShuttingDownMessage
  | SDKCommandsChangedMessage
  | SDKNotificationMessage
  | SDKInformationalMessage
  | SDKFilesPersistedEvent
  | SDKMemoryRecallMessage
  | SDKElicitationCompleteMessage
  | SDKPermissionDeniedMessage
  | SDKMirrorErrorMessage;
