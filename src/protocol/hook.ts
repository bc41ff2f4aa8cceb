import type { PermissionUpdate } from './permission.ts';
import type { SDKAssistantMessageError } from './system-message.ts';

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

/** The input of a hook for one event. */
type Input<Event extends HookEvent> = BaseHookInput & { hook_event_name: Event };
type ToolEvent = { tool_name: string; tool_input: unknown; mcp_server?: McpServerProvenance };

/** Input of a `PreToolUse` hook. */
export type PreToolUseHookInput = Input<'PreToolUse'> & ToolEvent & { tool_use_id: string };
/** Input of a `PostToolUse` hook. */
export type PostToolUseHookInput = Input<'PostToolUse'> &
  ToolEvent & { tool_response: unknown; tool_use_id: string; duration_ms?: number };
/** Input of a `PostToolUseFailure` hook. */
export type PostToolUseFailureHookInput = Input<'PostToolUseFailure'> &
  ToolEvent & { tool_use_id: string; error: string; is_interrupt?: boolean; duration_ms?: number };
/** One tool call of a `PostToolBatch` hook. */
export type PostToolBatchToolCall = {
  tool_name: string;
  tool_input: unknown;
  tool_use_id: string;
  tool_response?: unknown;
};
/** Input of a `PostToolBatch` hook. */
export type PostToolBatchHookInput = Input<'PostToolBatch'> & { tool_calls: PostToolBatchToolCall[] };
/** Input of a `PermissionRequest` hook. */
export type PermissionRequestHookInput = Input<'PermissionRequest'> &
  ToolEvent & { permission_suggestions?: PermissionUpdate[] };
/** Input of a `PermissionDenied` hook. */
export type PermissionDeniedHookInput = Input<'PermissionDenied'> &
  ToolEvent & { tool_use_id: string; reason: string };

/** Input of a `UserPromptSubmit` hook. */
export type UserPromptSubmitHookInput = Input<'UserPromptSubmit'> & {
  prompt: string;
  source?: 'user' | 'sdk' | 'system' | 'loop_wakeup' | 'schedule_wakeup' | 'poll_event';
  session_title?: string;
};
/** Input of a `UserPromptExpansion` hook. */
export type UserPromptExpansionHookInput = Input<'UserPromptExpansion'> & {
  prompt: string;
  expansion_type: 'slash_command' | 'mcp_prompt';
  command_name: string;
  command_args: string;
  command_source?: string;
};
/** Input of a `MessageDisplay` hook. */
export type MessageDisplayHookInput = Input<'MessageDisplay'> & {
  turn_id: string;
  message_id: string;
  index: number;
  final: boolean;
  delta: string;
};
/** Input of a `Notification` hook. */
export type NotificationHookInput = Input<'Notification'> & {
  message: string;
  title?: string;
  notification_type: string;
};

/** A background task that is running at the time a hook is called. */
export type BackgroundTaskSummary = {
  id: string;
  type: string;
  status: string;
  description: string;
  command?: string;
  agent_type?: string;
  server?: string;
  tool?: string;
  name?: string;
};
/** A scheduled prompt of a session. */
export type SessionCronSummary = { id: string; schedule: string; recurring: boolean; prompt: string };
type Stopping = {
  stop_hook_active: boolean;
  last_assistant_message?: string;
  background_tasks?: BackgroundTaskSummary[];
  session_crons?: SessionCronSummary[];
};
/** Input of a `Stop` hook. */
export type StopHookInput = Input<'Stop'> & Stopping;
/** Input of a `StopFailure` hook. */
export type StopFailureHookInput = Input<'StopFailure'> & {
  error: SDKAssistantMessageError;
  error_details?: string;
  last_assistant_message?: string;
};
type SubAgent = { agent_id: string; agent_type: string };
/** Input of a `SubagentStart` hook. */
export type SubagentStartHookInput = Input<'SubagentStart'> & SubAgent;
/** Input of a `SubagentStop` hook. */
export type SubagentStopHookInput = Input<'SubagentStop'> &
  Stopping &
  SubAgent & { agent_transcript_path: string };

/** The reasons a `SessionEnd` hook can receive. */
export const EXIT_REASONS = ['clear', 'resume', 'logout', 'prompt_input_exit', 'other'] as const;
/** Why a session ended. */
export type ExitReason = (typeof EXIT_REASONS)[number];
/** Input of a `SessionStart` hook. */
export type SessionStartHookInput = Input<'SessionStart'> & {
  source: 'startup' | 'resume' | 'clear' | 'compact' | 'fork';
  model?: string;
  session_title?: string;
  seconds_since_last_response?: number;
  context_tokens?: number;
  prompt_cache_likely_expired?: boolean;
  estimated_cache_write_usd?: number;
};
/** Input of a `SessionEnd` hook. */
export type SessionEndHookInput = Input<'SessionEnd'> & { reason: ExitReason };
/** Input of a `Setup` hook. */
export type SetupHookInput = Input<'Setup'> & { trigger: 'init' | 'maintenance' };
/** Input of a `PreCompact` hook. */
export type PreCompactHookInput = Input<'PreCompact'> & {
  trigger: 'manual' | 'auto';
  custom_instructions: string | null;
};
/** Input of a `PostCompact` hook. */
export type PostCompactHookInput = Input<'PostCompact'> & {
  trigger: 'manual' | 'auto';
  compact_summary: string;
};

type SwitchSource = 'command' | 'picker' | 'sdk';
type ModelSwitch<Source> = {
  from_model: string;
  to_model: string;
  requested_model: string | null;
  source: Source;
  context_tokens: number;
  prompt_cache_warm: boolean;
  cache_ttl: '5m' | '1h';
  estimated_cache_write_usd: number;
  pricing: 'configured' | 'catalog' | 'default';
};
/** Input of a `PreModelSwitch` hook. */
export type PreModelSwitchHookInput = Input<'PreModelSwitch'> & ModelSwitch<SwitchSource>;
/** Input of a `PostModelSwitch` hook. */
export type PostModelSwitchHookInput = Input<'PostModelSwitch'> &
  ModelSwitch<SwitchSource | 'auto' | 'resume'>;

type TeamTask = {
  task_id: string;
  task_subject: string;
  task_description?: string;
  teammate_name?: string;
  team_name?: string;
};
/** Input of a `TaskCreated` hook. */
export type TaskCreatedHookInput = Input<'TaskCreated'> & TeamTask;
/** Input of a `TaskCompleted` hook. */
export type TaskCompletedHookInput = Input<'TaskCompleted'> & TeamTask;
/** Input of a `TeammateIdle` hook. */
export type TeammateIdleHookInput = Input<'TeammateIdle'> & { teammate_name: string; team_name: string };

/** Input of an `Elicitation` hook. */
export type ElicitationHookInput = Input<'Elicitation'> & {
  mcp_server_name: string;
  message: string;
  mode?: 'form' | 'url';
  url?: string;
  elicitation_id?: string;
  requested_schema?: Record<string, unknown>;
};
/** Input of an `ElicitationResult` hook. */
export type ElicitationResultHookInput = Input<'ElicitationResult'> & {
  mcp_server_name: string;
  elicitation_id?: string;
  mode?: 'form' | 'url';
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
};

/** Input of a `ConfigChange` hook. */
export type ConfigChangeHookInput = Input<'ConfigChange'> & {
  source: 'user_settings' | 'project_settings' | 'local_settings' | 'policy_settings' | 'skills';
  file_path?: string;
};
/** Input of an `InstructionsLoaded` hook. */
export type InstructionsLoadedHookInput = Input<'InstructionsLoaded'> & {
  file_path: string;
  memory_type: 'User' | 'Project' | 'Local' | 'Managed';
  load_reason: 'session_start' | 'nested_traversal' | 'path_glob_match' | 'include' | 'compact';
  globs?: string[];
  trigger_file_path?: string;
  parent_file_path?: string;
};
/** Input of a `CwdChanged` hook. */
export type CwdChangedHookInput = Input<'CwdChanged'> & { old_cwd: string; new_cwd: string };
/** Input of a `FileChanged` hook. */
export type FileChangedHookInput = Input<'FileChanged'> & {
  file_path: string;
  event: 'change' | 'add' | 'unlink';
};
/** Input of a `DirectoryAdded` hook. */
export type DirectoryAddedHookInput = Input<'DirectoryAdded'> & {
  directory: string;
  source: 'slash_command' | 'register_repo_root';
};
/** Input of a `WorktreeCreate` hook. */
export type WorktreeCreateHookInput = Input<'WorktreeCreate'> & { name: string };
/** Input of a `WorktreeRemove` hook. */
export type WorktreeRemoveHookInput = Input<'WorktreeRemove'> & { worktree_path: string };

/** The input of a hook; `hook_event_name` distinguishes the events. */
export type HookInput =
  | PreToolUseHookInput
  | PostToolUseHookInput
  | PostToolUseFailureHookInput
  | PostToolBatchHookInput
  | PermissionRequestHookInput
  | PermissionDeniedHookInput
  | UserPromptSubmitHookInput
  | UserPromptExpansionHookInput
  | MessageDisplayHookInput
  | NotificationHookInput
  | StopHookInput
  | StopFailureHookInput
  | SubagentStartHookInput
  | SubagentStopHookInput
  | SessionStartHookInput
  | SessionEndHookInput
  | SetupHookInput
  | PreCompactHookInput
  | PostCompactHookInput
  | PreModelSwitchHookInput
  | PostModelSwitchHookInput
  | TaskCreatedHookInput
  | TaskCompletedHookInput
  | TeammateIdleHookInput
  | ElicitationHookInput
  | ElicitationResultHookInput
  | ConfigChangeHookInput
  | InstructionsLoadedHookInput
  | CwdChangedHookInput
  | FileChangedHookInput
  | DirectoryAddedHookInput
  | WorktreeCreateHookInput
  | WorktreeRemoveHookInput;
