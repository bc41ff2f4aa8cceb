import type { HookEvent } from '../protocol/hook.ts';

/** What a failed hook does to what it was called for: nothing, or stops it. */
export type OnFailure = 'continue' | 'block';

/**
 * What it means that a hook failed: threw, timed out, was cut off, exited with another code than 0 or 2, or answered
 * something that is no answer. Events that guard an action fail closed, since a broken guard must not open the door;
 * events that only tell of something, or whose "no" would keep an agent from ever ending, fail open.
 */
export function onFailure(event: HookEvent, chosen?: OnFailure): OnFailure {
  return chosen ?? FAILURE_POLICY[event];
}

/** The policy of every event, for `onFailure` and for the documentation. */
export const FAILURE_POLICY: Readonly<Record<HookEvent, OnFailure>> = {
  // An action waits for the hook's word: no word, no action.
  PreToolUse: 'block',
  PermissionRequest: 'block',
  UserPromptSubmit: 'block',
  UserPromptExpansion: 'block',
  PreModelSwitch: 'block',
  ConfigChange: 'block',
  // What a person typed for a server leaves only if the hook could look at it.
  Elicitation: 'block',
  ElicitationResult: 'block',
  // "No" means "go on": a broken hook would keep the agent running for ever.
  Stop: 'continue',
  SubagentStop: 'continue',
  TeammateIdle: 'continue',
  // "No" would leave a full window full, and the conversation stuck.
  PreCompact: 'continue',
  // The tool has run; its result belongs to the model whatever a hook does.
  PostToolUse: 'continue',
  PostToolUseFailure: 'continue',
  PostToolBatch: 'continue',
  // These only tell.
  Notification: 'continue',
  SessionStart: 'continue',
  SessionEnd: 'continue',
  StopFailure: 'continue',
  SubagentStart: 'continue',
  PostCompact: 'continue',
  PostModelSwitch: 'continue',
  PermissionDenied: 'continue',
  Setup: 'continue',
  TaskCreated: 'continue',
  TaskCompleted: 'continue',
  WorktreeCreate: 'continue',
  WorktreeRemove: 'continue',
  InstructionsLoaded: 'continue',
  CwdChanged: 'continue',
  FileChanged: 'continue',
  DirectoryAdded: 'continue',
  MessageDisplay: 'continue',
};
