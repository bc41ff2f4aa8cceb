import { isRecord } from '../base/is-record.ts';
import { PERMISSION_MODES, type PermissionResult, type PermissionUpdate } from '../protocol/permission.ts';

/** Reads what somebody answered; anything not wholly well-formed is no answer. */
export function readAnswer(value: unknown): PermissionResult | undefined {
  if (!isRecord(value)) return undefined;
  if (value.behavior === 'deny') {
    if (typeof value.message !== 'string') return undefined;
    return {
      behavior: 'deny',
      message: value.message,
      ...(typeof value.interrupt === 'boolean' && { interrupt: value.interrupt }),
    };
  }
  if (value.behavior !== 'allow') return undefined;
  // JSON has no undefined: an absent member may arrive as null.
  const updatedInput = value.updatedInput ?? undefined;
  const updates = value.updatedPermissions ?? [];
  if (updatedInput !== undefined && !isRecord(updatedInput)) return undefined;
  if (!Array.isArray(updates) || !updates.every(isPermissionUpdate)) return undefined;
  return {
    behavior: 'allow',
    ...(updatedInput && { updatedInput }),
    ...(updates.length > 0 && { updatedPermissions: updates }),
  };
}

/** Whether a value from outside is a change to the rules. */
export function isPermissionUpdate(value: unknown): value is PermissionUpdate {
  if (!isRecord(value) || !DESTINATIONS.has(value.destination)) return false;
  switch (value.type) {
    case 'addRules':
    case 'replaceRules':
    case 'removeRules':
      return BEHAVIORS.has(value.behavior) && Array.isArray(value.rules) && value.rules.every(isRuleValue);
    case 'setMode':
      return (PERMISSION_MODES as readonly unknown[]).includes(value.mode);
    case 'addDirectories':
    case 'removeDirectories':
      return Array.isArray(value.directories) && value.directories.every((it) => typeof it === 'string');
    default:
      return false;
  }
}

function isRuleValue(value: unknown): boolean {
  if (!isRecord(value) || typeof value.toolName !== 'string') return false;
  return value.ruleContent === undefined || typeof value.ruleContent === 'string';
}

const BEHAVIORS: ReadonlySet<unknown> = new Set(['allow', 'deny', 'ask']);
const DESTINATIONS: ReadonlySet<unknown> = new Set([
  'userSettings',
  'projectSettings',
  'localSettings',
  'session',
  'cliArg',
]);
