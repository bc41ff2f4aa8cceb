import type { SDKActiveGoalMessage, SDKMessage } from '../protocol/agent-message.ts';
import type { HookEvent, HookInput, McpServerProvenance } from '../protocol/hook.ts';
import type { MessageMeta } from '../protocol/mcp.ts';
import type { PermissionMode, PermissionUpdate } from '../protocol/permission.ts';
import type { ToolPolicy } from '../protocol/server-entry.ts';
import type {
  AgentDefinition,
  McpServerConfigForProcessTransport,
  SdkPluginConfig,
} from './options/options.ts';

/** A control request, from the program to the agent or from the agent to the program. */
export type SDKControlRequest = { type: 'control_request'; request_id: string; request: ControlRequest };

/** The response to a control request. */
export type SDKControlResponse = {
  type: 'control_response';
  response:
    | (Pending & { subtype: 'success'; request_id: string; response?: Record<string, unknown> })
    | (Pending & { subtype: 'error'; request_id: string; error: string });
};

/** Requests of the agent that still wait for an answer. */
type Pending = {
  pending_permission_requests?: SDKControlRequest[];
  pending_user_dialog_requests?: SDKControlRequest[];
  pending_elicitation_requests?: SDKControlRequest[];
};

/** The official package's interface for a connection to an agent. Toolplane has the option `link` instead. */
export interface Transport {
  write(data: string): void | Promise<void>;
  close(): void;
  isReady(): boolean;
  readMessages(): AsyncGenerator<TransportMessage, void, unknown>;
  expectControlResponse?(requestId: string): void;
  markDelivered?(message: object): void;
  endInput(): void;
  waitForExit?(): Promise<void>;
  [Symbol.dispose]?(): void;
}

type TransportMessage =
  | SDKMessage
  | SDKActiveGoalMessage
  | SDKControlResponse
  | SDKControlRequest
  | { type: 'control_cancel_request'; request_id: string }
  | { type: 'keep_alive' };

type ControlRequest =
  | InitializeRequest
  | PermissionRequest
  | McpCallRequest
  | McpMessageRequest
  | ElicitationRequest
  | {
      subtype:
        | 'get_session_cost'
        | 'list_models'
        | 'get_binary_version'
        | 'reload_skills'
        | 'reload_output_styles'
        | 'get_settings'
        | 'get_hooks_listing'
        | 'list_permission_rules';
    }
  | { subtype: 'interrupt'; cancel_queued?: boolean }
  | { subtype: 'set_permission_mode'; mode: PermissionMode }
  | { subtype: 'set_model'; model?: string | null }
  | {
      subtype: 'set_max_thinking_tokens';
      max_thinking_tokens?: number | null;
      thinking_display?: 'summarized' | 'omitted' | 'highlights' | null;
    }
  | { subtype: 'rename_session'; title: string; source?: 'remote' | 'host'; session_id?: string }
  | { subtype: 'set_color'; color: string }
  | { subtype: 'mcp_status'; liveReply?: boolean }
  | { subtype: 'get_context_usage'; detail?: 'summary' | 'full' }
  | { subtype: 'get_usage'; skip_behaviors?: boolean }
  | { subtype: 'file_suggestions'; query: string }
  | { subtype: 'hook_callback'; callback_id: string; input: HookInput; tool_use_id?: string }
  | { subtype: 'rewind_files'; user_message_id: string; dry_run?: boolean }
  | { subtype: 'cancel_async_message'; message_uuid: string }
  | { subtype: 'read_file'; path: string; max_bytes?: number; encoding?: 'utf-8' | 'base64' }
  | { subtype: 'seed_read_state'; path: string; mtime: number }
  | { subtype: 'mcp_set_servers'; servers: Record<string, McpServerConfigForProcessTransport> }
  | { subtype: 'mcp_reconnect'; serverName: string }
  | { subtype: 'mcp_toggle'; serverName: string; enabled: boolean }
  | { subtype: 'mcp_read_resource'; serverName: string; uri: string }
  | {
      subtype: 'register_repo_root';
      directory: string;
      reload_claude_md?: boolean;
      reload_plugins?: boolean;
      reload_skills?: boolean;
    }
  | {
      subtype: 'reload_plugins';
      hold_on_cache_impact?: boolean;
      add_plugins?: SdkPluginConfig[];
      refuse_if_busy?: boolean;
    }
  | { subtype: 'set_has_subscribers'; has_subscribers: boolean | null }
  | { subtype: 'stop_task' | 'get_task_output'; task_id: string }
  | { subtype: 'background_tasks'; tool_use_id?: string }
  | { subtype: 'apply_flag_settings'; settings: Record<string, unknown> }
  | {
      subtype: 'update_settings';
      source: 'localSettings' | 'userSettings';
      settings: Record<string, unknown>;
    }
  | {
      subtype: 'request_user_dialog';
      dialog_kind: string;
      payload: Record<string, unknown>;
      tool_use_id?: string;
    };

type InitializeRequest = {
  subtype: 'initialize';
  hooks?: Partial<
    Record<
      HookEvent,
      { matcher?: string; hookCallbackIds: string[]; timeout?: number; onFailure?: 'continue' | 'block' }[]
    >
  >;
  sdkMcpServers?: string[];
  sdkMcpServerConfigs?: Record<string, { timeout?: number; tools?: ToolPolicy[] }>;
  sdkMcpServerManifests?: Record<
    string,
    { initializeResult: Record<string, unknown>; toolsListResult?: Record<string, unknown> }
  >;
  sdkMcpServerManifestsOrigin?: 'host_per_send';
  jsonSchema?: Record<string, unknown>;
  systemPrompt?: string[];
  appendSystemPrompt?: string;
  systemPromptSnapshot?: boolean;
  excludeDynamicSections?: boolean;
  planModeInstructions?: string;
  toolAliases?: Record<string, string>;
  agents?: Record<string, AgentDefinition>;
  title?: string;
  skills?: string[];
  plugins?: SdkPluginConfig[];
  promptSuggestions?: boolean;
  agentProgressSummaries?: boolean;
  forwardSubagentText?: boolean;
  supportedDialogKinds?: string[];
  perTaskStopAffordance?: boolean;
};

type PermissionRequest = {
  subtype: 'can_use_tool';
  tool_name: string;
  tool_use_id: string;
  input: Record<string, unknown>;
  mcp_server?: McpServerProvenance;
  agent_id?: string;
  permission_suggestions?: PermissionUpdate[];
  blocked_path?: string;
  decision_reason?: string;
  decision_reason_type?:
    | 'rule'
    | 'mode'
    | 'subcommandResults'
    | 'permissionPromptTool'
    | 'hook'
    | 'asyncAgent'
    | 'sandboxOverride'
    | 'workingDir'
    | 'safetyCheck'
    | 'classifier'
    | 'other';
  classifier_approvable?: boolean;
  suppress_always_allow_rule?: boolean;
  default_to_no?: boolean;
  requires_user_interaction?: boolean;
  matched_ask_rule?: { source: string; tool_name: string; rule_content?: string };
  title?: string;
  display_name?: string;
  description?: string;
};

type McpCallRequest = {
  subtype: 'mcp_call';
  tool: string;
  arguments?: Record<string, unknown>;
  expires_at?: string;
  timeout_ms?: number;
  result_not_for_model?: boolean;
  check_permissions?: boolean;
  input_files?: { name: string; lane_path: string }[];
  output_files?: { name: string; lane_path: string; if_match?: string }[];
};

type McpMessageRequest = { subtype: 'mcp_message'; server_name: string; message: JsonRpcMessage };

type RequestMeta = { _meta?: MessageMeta; [more: string]: unknown };
/** A JSON-RPC message of MCP. */
type JsonRpcMessage =
  | { jsonrpc: '2.0'; id: string | number; method: string; params?: RequestMeta }
  | { jsonrpc: '2.0'; method: string; params?: RequestMeta }
  | { jsonrpc: '2.0'; id: string | number; result: RequestMeta }
  | { jsonrpc: '2.0'; id?: string | number; error: { code: number; message: string; data?: unknown } };

type ElicitationRequest = {
  subtype: 'elicitation';
  mcp_server_name: string;
  message: string;
  mode?: 'form' | 'url';
  url?: string;
  elicitation_id?: string;
  requested_schema?: Record<string, unknown>;
  property_order?: string[];
  title?: string;
  display_name?: string;
  description?: string;
};
