import type { PermissionUpdate } from './permission.ts';

/** All hook events. */
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
/** The name of a hook event. */
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** The server of a tool; `tool` is the tool's own name there, present unless `tool_name` is exactly `mcp__<name>__<tool>`. */
export type McpServerProvenance = { name: string; source: string; tool?: string };

/** Fields that the input of every hook has. */
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

/** Input of a `PreToolUse` hook. */
export type PreToolUseHookInput = BaseHookInput &
  ToolEvent & { hook_event_name: 'PreToolUse'; tool_use_id: string };
/** Input of a `PostToolUse` hook. */
export type PostToolUseHookInput = BaseHookInput &
  ToolEvent & {
    hook_event_name: 'PostToolUse';
    tool_response: unknown;
    tool_use_id: string;
    duration_ms?: number;
  };
/** Input of a `PostToolUseFailure` hook. */
export type PostToolUseFailureHookInput = BaseHookInput &
  ToolEvent & {
    hook_event_name: 'PostToolUseFailure';
    tool_use_id: string;
    error: string;
    is_interrupt?: boolean;
  };
/** Input of a `PermissionRequest` hook. */
export type PermissionRequestHookInput = BaseHookInput &
  ToolEvent & { hook_event_name: 'PermissionRequest'; permission_suggestions?: PermissionUpdate[] };
/** Input of a `PermissionDenied` hook. */
export type PermissionDeniedHookInput = BaseHookInput &
  ToolEvent & { hook_event_name: 'PermissionDenied'; tool_use_id: string; reason: string };
/** Input of a `UserPromptSubmit` hook. */
export type UserPromptSubmitHookInput = BaseHookInput & {
  hook_event_name: 'UserPromptSubmit';
  prompt: string;
};
/** Input of a `Notification` hook. */
export type NotificationHookInput = BaseHookInput & {
  hook_event_name: 'Notification';
  message: string;
  title?: string;
  notification_type: string;
};
/** Input of a `Stop` hook. */
export type StopHookInput = BaseHookInput & {
  hook_event_name: 'Stop';
  stop_hook_active: boolean;
  last_assistant_message?: string;
};
/** Input of a `SubagentStop` hook. */
export type SubagentStopHookInput = BaseHookInput & {
  hook_event_name: 'SubagentStop';
  stop_hook_active: boolean;
  agent_id: string;
  agent_type: string;
  agent_transcript_path: string;
};
/** Input of a `SubagentStart` hook. */
export type SubagentStartHookInput = BaseHookInput & {
  hook_event_name: 'SubagentStart';
  agent_id: string;
  agent_type: string;
};
/** Input of a `SessionStart` hook. */
export type SessionStartHookInput = BaseHookInput & { hook_event_name: 'SessionStart'; source: string };
/** Input of a `SessionEnd` hook. */
export type SessionEndHookInput = BaseHookInput & { hook_event_name: 'SessionEnd'; reason: string };
/** Input of a `PreCompact` hook. */
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

/** The input of a hook; `hook_event_name` distinguishes the events. */
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

/** Output of a hook that continues in the background. */
export type AsyncHookJSONOutput = { async: true; asyncTimeout?: number };
/** Output of a hook that the agent waits for. */
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
/** The output of a hook. */
export type HookJSONOutput = AsyncHookJSONOutput | SyncHookJSONOutput;
