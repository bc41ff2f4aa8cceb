export const PERMISSION_MODES = [
  'default',
  'acceptEdits',
  'bypassPermissions',
  'plan',
  'dontAsk',
  'auto',
] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export type PermissionBehavior = 'allow' | 'deny' | 'ask';
export type PermissionRuleValue = { toolName: string; ruleContent?: string };
export type PermissionUpdateDestination =
  | 'userSettings'
  | 'projectSettings'
  | 'localSettings'
  | 'session'
  | 'cliArg';

/** A change to the rules, as an agent suggests it and as a person's "always allow" sends it back. */
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

/** What `canUseTool` decides. */
export type PermissionResult =
  | {
      behavior: 'allow';
      /** Runs with this input instead. */
      updatedInput?: Record<string, unknown>;
      updatedPermissions?: PermissionUpdate[];
      toolUseID?: string;
      decisionClassification?: string;
    }
  | {
      behavior: 'deny';
      /** What the model is told. */
      message: string;
      /** Ends the turn as well. */
      interrupt?: boolean;
      toolUseID?: string;
      decisionClassification?: string;
    };
