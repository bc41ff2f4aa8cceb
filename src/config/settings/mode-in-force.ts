import type { PermissionMode } from '../../protocol/permission.ts';
import type { Settings } from './settings.ts';

/** The mode a session begins in, if anybody named one: policy beats a flag, and a flag all other settings. */
export function modeInForce(
  { permissions, defaultMode }: Pick<Settings, 'permissions' | 'defaultMode'>,
  flag: PermissionMode | undefined,
): PermissionMode | undefined {
  return permissions.modes.policySettings ?? flag ?? defaultMode;
}
