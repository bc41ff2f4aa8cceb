export const PERMISSION_MODES = [
  'default',
  'acceptEdits',
  'bypassPermissions',
  'plan',
  'dontAsk',
  'auto',
] as const;
/** Decides about calls that no rule matches. */
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** What a permission rule does. */
export type PermissionBehavior = 'allow' | 'deny' | 'ask';
/** A permission rule: a tool and, optionally, a pattern for its input. */
export type PermissionRuleValue = { toolName: string; ruleContent?: string };
/** Where a permission update is saved. */
export type PermissionUpdateDestination =
  | 'userSettings'
  | 'projectSettings'
  | 'localSettings'
  | 'session'
  | 'cliArg';

/** A change to the permission rules, suggested by the agent or returned by `canUseTool`. */
export type PermissionUpdate =
  | {
      type: 'addRules' | 'replaceRules' | 'removeRules';
      rules: PermissionRuleValue[];
      behavior: PermissionBehavior;
      destination: PermissionUpdateDestination;
    }
  | { type: 'setMode'; mode: PermissionMode; destination: PermissionUpdateDestination }
  | {
      type: 'addDirectories' | 'removeDirectories';
      directories: string[];
      destination: PermissionUpdateDestination;
    };

/** How the user answered: once, for good, or with a refusal. */
export type PermissionDecisionClassification = 'user_temporary' | 'user_permanent' | 'user_reject';

/** The result of `canUseTool`. */
export type PermissionResult =
  | {
      behavior: 'allow';
      /** Replaces the input of the call. */
      updatedInput?: Record<string, unknown>;
      updatedPermissions?: PermissionUpdate[];
      toolUseID?: string;
      decisionClassification?: PermissionDecisionClassification;
    }
  | {
      behavior: 'deny';
      /** The text that the model receives. */
      message: string;
      /** Also ends the turn. */
      interrupt?: boolean;
      toolUseID?: string;
      decisionClassification?: PermissionDecisionClassification;
    };
