import type { HookEvent } from './hook.ts';
import type { PermissionUpdate } from './permission.ts';

/** The part of a hook's output that belongs to one event. */
type Output<Event extends HookEvent> = { hookEventName: Event };
/** Text that is added to the context of the model. */
type AdditionalContext = { additionalContext?: string };

/** The decision of a `PreToolUse` hook. `defer` ends the turn without the call, which the result names as `deferred_tool_use`. */
export type HookPermissionDecision = 'allow' | 'deny' | 'ask' | 'defer';
/** Decides about the call, changes its input or adds context. */
export type PreToolUseHookSpecificOutput = Output<'PreToolUse'> &
  AdditionalContext & {
    permissionDecision?: HookPermissionDecision;
    permissionDecisionReason?: string;
    updatedInput?: Record<string, unknown>;
  };
/** Changes the result of the call or adds context. */
export type PostToolUseHookSpecificOutput = Output<'PostToolUse'> &
  AdditionalContext & {
    classifierContext?: string;
    updatedToolOutput?: unknown;
    updatedMCPToolOutput?: unknown;
  };
/** Adds context after a failed call. */
export type PostToolUseFailureHookSpecificOutput = Output<'PostToolUseFailure'> & AdditionalContext;
/** Adds context after a batch of calls. */
export type PostToolBatchHookSpecificOutput = Output<'PostToolBatch'> & AdditionalContext;
/** Answers a permission request in place of the user. */
export type PermissionRequestHookSpecificOutput = Output<'PermissionRequest'> & {
  decision:
    | {
        behavior: 'allow';
        updatedInput?: Record<string, unknown>;
        updatedPermissions?: PermissionUpdate[];
      }
    | { behavior: 'deny'; message?: string; interrupt?: boolean };
};
/** Lets the model try a denied call again; Toolplane's agent ignores it. */
export type PermissionDeniedHookSpecificOutput = Output<'PermissionDenied'> & { retry?: boolean };
/** Adds context to the prompt, sets the title of the session, or asks for the prompt to be hidden. */
export type UserPromptSubmitHookSpecificOutput = Output<'UserPromptSubmit'> &
  AdditionalContext & { sessionTitle?: string; suppressOriginalPrompt?: boolean };
/** Adds context to an expanded command, or asks for the typed command to be hidden. */
export type UserPromptExpansionHookSpecificOutput = Output<'UserPromptExpansion'> &
  AdditionalContext & { suppressOriginalPrompt?: boolean };
/** Changes the text that is displayed for a message. */
export type MessageDisplayHookSpecificOutput = Output<'MessageDisplay'> & { displayContent?: string };
/** Adds context after a notification. */
export type NotificationHookSpecificOutput = Output<'Notification'> & AdditionalContext;
/** Adds context when a turn ends. */
export type StopHookSpecificOutput = Output<'Stop'> & AdditionalContext;
/** Adds context when a sub-agent starts. */
export type SubagentStartHookSpecificOutput = Output<'SubagentStart'> & AdditionalContext;
/** Adds context when a sub-agent ends. */
export type SubagentStopHookSpecificOutput = Output<'SubagentStop'> & AdditionalContext;
/** Adds context, a first prompt or a title to a new session. */
export type SessionStartHookSpecificOutput = Output<'SessionStart'> &
  AdditionalContext & {
    initialUserMessage?: string;
    sessionTitle?: string;
    watchPaths?: string[];
    reloadSkills?: boolean;
  };
/** Adds context during setup. */
export type SetupHookSpecificOutput = Output<'Setup'> & AdditionalContext;
/** Decides whether the model may be switched. */
export type PreModelSwitchHookSpecificOutput = Output<'PreModelSwitch'> & {
  permissionDecision?: 'allow' | 'deny' | 'ask';
  permissionDecisionReason?: string;
};
/** Adds context after the model was switched. */
export type PostModelSwitchHookSpecificOutput = Output<'PostModelSwitch'> & AdditionalContext;

type Answer = { action?: 'accept' | 'decline' | 'cancel'; content?: Record<string, unknown> };
/** Answers an elicitation in place of the user. */
export type ElicitationHookSpecificOutput = Output<'Elicitation'> & Answer;
/** Replaces the user's answer to an elicitation. */
export type ElicitationResultHookSpecificOutput = Output<'ElicitationResult'> & Answer;

/** Names files to watch in the new directory. */
export type CwdChangedHookSpecificOutput = Output<'CwdChanged'> & { watchPaths?: string[] };
/** Names files to watch from now on. */
export type FileChangedHookSpecificOutput = Output<'FileChanged'> & { watchPaths?: string[] };
/** Names the directory of the new worktree. */
export type WorktreeCreateHookSpecificOutput = Output<'WorktreeCreate'> & { worktreePath: string };

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
  hookSpecificOutput?:
    | PreToolUseHookSpecificOutput
    | PostToolUseHookSpecificOutput
    | PostToolUseFailureHookSpecificOutput
    | PostToolBatchHookSpecificOutput
    | PermissionRequestHookSpecificOutput
    | PermissionDeniedHookSpecificOutput
    | UserPromptSubmitHookSpecificOutput
    | UserPromptExpansionHookSpecificOutput
    | MessageDisplayHookSpecificOutput
    | NotificationHookSpecificOutput
    | StopHookSpecificOutput
    | SubagentStartHookSpecificOutput
    | SubagentStopHookSpecificOutput
    | SessionStartHookSpecificOutput
    | SetupHookSpecificOutput
    | PreModelSwitchHookSpecificOutput
    | PostModelSwitchHookSpecificOutput
    | ElicitationHookSpecificOutput
    | ElicitationResultHookSpecificOutput
    | CwdChangedHookSpecificOutput
    | FileChangedHookSpecificOutput
    | WorktreeCreateHookSpecificOutput;
};
/** The output of a hook. */
export type HookJSONOutput = AsyncHookJSONOutput | SyncHookJSONOutput;
