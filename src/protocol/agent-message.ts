import type { PermissionMode } from './permission.ts';

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

type Envelope = { uuid: string; session_id: string };

/** A message of the user, or tool results. */
export type SDKUserMessage = {
  type: 'user';
  message: { role: 'user'; content: string | UserBlock[] };
  parent_tool_use_id: string | null;
  isSynthetic?: boolean;
  tool_use_result?: unknown;
  priority?: 'now' | 'next' | 'later';
  shouldQuery?: boolean;
  timestamp?: string;
  client_composed?: true;
  uuid?: string;
  session_id?: string;
  [more: string]: unknown;
};

/** A message of the model. */
export type SDKAssistantMessage = Envelope & {
  type: 'assistant';
  message: {
    id: string;
    type: 'message';
    role: 'assistant';
    model: string;
    content: ModelBlock[];
    stop_reason: string | null;
    usage: Usage;
    [more: string]: unknown;
  };
  parent_tool_use_id: string | null;
  error?: string;
  [more: string]: unknown;
};

type ResultBase = Envelope & {
  type: 'result';
  duration_ms: number;
  duration_api_ms: number;
  is_error: boolean;
  num_turns: number;
  stop_reason: string | null;
  total_cost_usd: number;
  usage: Usage;
  modelUsage: Record<string, Record<string, unknown>>;
  permission_denials: { tool_name: string; tool_use_id: string; tool_input: Record<string, unknown> }[];
  terminal_reason?: string;
  [more: string]: unknown;
};

/** The result of a successful turn. */
export type SDKResultSuccess = ResultBase & {
  subtype: 'success';
  result: string;
  structured_output?: unknown;
};
/** The result of a failed turn. */
export type SDKResultError = ResultBase & {
  subtype:
    | 'error_during_execution'
    | 'error_max_turns'
    | 'error_max_budget_usd'
    | 'error_max_structured_output_retries';
  errors: string[];
};
/** The result of a turn. */
export type SDKResultMessage = SDKResultSuccess | SDKResultError;

/** The start of a turn, with the available tools, servers and commands. */
export type SDKSystemMessage = Envelope & {
  type: 'system';
  subtype: 'init';
  cwd: string;
  tools: string[];
  mcp_servers: { name: string; status: string; source?: string }[];
  model: string;
  permissionMode: PermissionMode;
  slash_commands: string[];
  output_style: string;
  apiKeySource: string;
  claude_code_version: string;
  capabilities?: string[];
  [more: string]: unknown;
};

/** A piece of a model message while it is streamed. */
export type SDKPartialAssistantMessage = Envelope & {
  type: 'stream_event';
  event: { type: string; [more: string]: unknown };
  parent_tool_use_id: string | null;
  [more: string]: unknown;
};

/** Marks where the conversation was compacted. */
export type SDKCompactBoundaryMessage = Envelope & {
  type: 'system';
  subtype: 'compact_boundary';
  compact_metadata: { trigger: 'manual' | 'auto'; pre_tokens: number; [more: string]: unknown };
  [more: string]: unknown;
};

/** Everything else an agent reports; `subtype` (or `type`) says what. New kinds may appear at any time. */
export type SDKNoticeMessage = Envelope & {
  type:
    | 'auth_status'
    | 'command_lifecycle'
    | 'prompt_suggestion'
    | 'rate_limit_event'
    | 'tool_progress'
    | 'tool_use_summary';
  [more: string]: unknown;
};
export type SDKSystemNoticeMessage = Envelope & {
  type: 'system';
  subtype:
    | 'api_retry'
    | 'commands_changed'
    | 'hook_progress'
    | 'hook_response'
    | 'hook_started'
    | 'informational'
    | 'notification'
    | 'permission_denied'
    | 'status'
    | 'task_notification'
    | 'task_progress'
    | 'task_started'
    | 'task_updated'
    | 'session_state_changed';
  [more: string]: unknown;
};

/** A message of a conversation. */
export type SDKMessage =
  | SDKAssistantMessage
  | SDKUserMessage
  | SDKResultMessage
  | SDKSystemMessage
  | SDKPartialAssistantMessage
  | SDKCompactBoundaryMessage
  | SDKNoticeMessage
  | SDKSystemNoticeMessage;
