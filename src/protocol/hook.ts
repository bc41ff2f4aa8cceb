import type { PermissionUpdate } from './permission.ts';

/** Every event an agent may call hooks for. */
export const HOOK_EVENTS = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'Notification',
  'UserPromptSubmit',
  'UserPromptExpansion',
  'SessionStart',
  'SessionEnd',
  'Stop',
  'StopFailure',
  'SubagentStart',
  'SubagentStop',
  'PreCompact',
  'PostCompact',
  'PreModelSwitch',
  'PostModelSwitch',
  'PermissionRequest',
  'PermissionDenied',
  'Setup',
  'TeammateIdle',
  'TaskCreated',
  'TaskCompleted',
  'Elicitation',
  'ElicitationResult',
  'ConfigChange',
  'WorktreeCreate',
  'WorktreeRemove',
  'InstructionsLoaded',
  'CwdChanged',
  'FileChanged',
  'DirectoryAdded',
  'MessageDisplay',
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** The server of a tool; `tool` is the tool's own name there, present unless `tool_name` is exactly `mcp__<name>__<tool>`. */
export type McpServerProvenance = { name: string; source: string; tool?: string };

export type BaseHookInput = {
  session_id: string;
  transcript_path: string;
  cwd: string;
  prompt_id?: string;
  permission_mode?: string;
  agent_id?: string;
  agent_type?: string;
  effort?: { level: string };
};

type ToolEvent = { tool_name: string; tool_input: unknown; mcp_server?: McpServerProvenance };

export type PreToolUseHookInput = BaseHookInput &
  ToolEvent & { hook_event_name: 'PreToolUse'; tool_use_id: string };
export type PostToolUseHookInput = BaseHookInput &
  ToolEvent & {
    hook_event_name: 'PostToolUse';
    tool_response: unknown;
    tool_use_id: string;
    duration_ms?: number;
  };
export type PostToolUseFailureHookInput = BaseHookInput &
  ToolEvent & {
    hook_event_name: 'PostToolUseFailure';
    tool_use_id: string;
    error: string;
    is_interrupt?: boolean;
  };
export type PermissionRequestHookInput = BaseHookInput &
  ToolEvent & { hook_event_name: 'PermissionRequest'; permission_suggestions?: PermissionUpdate[] };
export type PermissionDeniedHookInput = BaseHookInput &
  ToolEvent & { hook_event_name: 'PermissionDenied'; tool_use_id: string; reason: string };
export type UserPromptSubmitHookInput = BaseHookInput & {
  hook_event_name: 'UserPromptSubmit';
  prompt: string;
};
export type NotificationHookInput = BaseHookInput & {
  hook_event_name: 'Notification';
  message: string;
  title?: string;
  notification_type: string;
};
export type StopHookInput = BaseHookInput & {
  hook_event_name: 'Stop';
  stop_hook_active: boolean;
  last_assistant_message?: string;
};
export type SubagentStopHookInput = BaseHookInput & {
  hook_event_name: 'SubagentStop';
  stop_hook_active: boolean;
  agent_id: string;
  agent_type: string;
  agent_transcript_path: string;
};
export type SubagentStartHookInput = BaseHookInput & {
  hook_event_name: 'SubagentStart';
  agent_id: string;
  agent_type: string;
};
export type SessionStartHookInput = BaseHookInput & { hook_event_name: 'SessionStart'; source: string };
export type SessionEndHookInput = BaseHookInput & { hook_event_name: 'SessionEnd'; reason: string };
export type PreCompactHookInput = BaseHookInput & {
  hook_event_name: 'PreCompact';
  trigger: 'manual' | 'auto';
  custom_instructions: string | null;
};
type DescribedEvent =
  | 'PreToolUse'
  | 'PostToolUse'
  | 'PostToolUseFailure'
  | 'PermissionRequest'
  | 'PermissionDenied'
  | 'UserPromptSubmit'
  | 'Notification'
  | 'Stop'
  | 'SubagentStop'
  | 'SubagentStart'
  | 'SessionStart'
  | 'SessionEnd'
  | 'PreCompact';
/** Events whose members are not spelled out here. */
export type OtherHookInput = BaseHookInput & {
  hook_event_name: Exclude<HookEvent, DescribedEvent>;
  [member: string]: unknown;
};

/** What a hook is told; `hook_event_name` tells the kinds apart. */
export type HookInput =
  | PreToolUseHookInput
  | PostToolUseHookInput
  | PostToolUseFailureHookInput
  | PermissionRequestHookInput
  | PermissionDeniedHookInput
  | UserPromptSubmitHookInput
  | NotificationHookInput
  | StopHookInput
  | SubagentStopHookInput
  | SubagentStartHookInput
  | SessionStartHookInput
  | SessionEndHookInput
  | PreCompactHookInput
  | OtherHookInput;

export type AsyncHookJSONOutput = { async: true; asyncTimeout?: number };
export type SyncHookJSONOutput = {
  continue?: boolean;
  suppressOutput?: boolean;
  stopReason?: string;
  decision?: 'approve' | 'block';
  systemMessage?: string;
  reason?: string;
  terminalSequence?: string;
  hookSpecificOutput?: {
    hookEventName: HookEvent;
    permissionDecision?: 'allow' | 'deny' | 'ask' | 'defer';
    permissionDecisionReason?: string;
    updatedInput?: Record<string, unknown>;
    additionalContext?: string;
    updatedToolOutput?: unknown;
    updatedMCPToolOutput?: unknown;
    [member: string]: unknown;
  };
};
export type HookJSONOutput = AsyncHookJSONOutput | SyncHookJSONOutput;
