import { isRecord } from '../../../base/is-record.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../../protocol/permission.ts';
import type { Rule, RuleSource } from '../../permission/rule.ts';
import { readRule } from './read-rules.ts';
import type { SettingFaults } from './setting-fault.ts';
import { checkMembers } from './setting-keys.ts';

export type PermissionSettings = {
  readonly rules: readonly Rule[];
  readonly directories: readonly string[];
  readonly defaultMode?: PermissionMode;
  readonly forbidsBypass?: true;
};

const EFFECTS = ['allow', 'ask', 'deny'] as const;
const MEMBERS = [...EFFECTS, 'defaultMode', 'additionalDirectories', 'disableBypassPermissionsMode'];

/** What `permissions` of settings says; each rule and each directory counts on its own. */
export function readPermissions(raw: unknown, source: RuleSource, faults: SettingFaults): PermissionSettings {
  const value = faults.check(raw, ['permissions'], isRecord, 'it must be an object') ?? {};
  checkMembers(value, MEMBERS, ['permissions'], faults);
  const rules = EFFECTS.flatMap((effect) => {
    const path = ['permissions', effect];
    return faults.texts(value[effect], path).flatMap(({ text, at }) => {
      const { rule, fault, remark } = readRule(text, effect, source);
      if (fault !== undefined) faults.error([...path, at], fault);
      if (remark !== undefined) faults.warning([...path, at], remark);
      return rule ?? [];
    });
  });
  const directories = faults.texts(value.additionalDirectories, ['permissions', 'additionalDirectories']);
  const mode = faults.check(
    value.defaultMode,
    ['permissions', 'defaultMode'],
    isMode,
    `it must be one of ${PERMISSION_MODES.join(', ')}`,
  );
  const bypass = faults.check(
    value.disableBypassPermissionsMode,
    ['permissions', 'disableBypassPermissionsMode'],
    (it): it is 'disable' => it === 'disable',
    'it must be "disable" or left out',
  );
  return {
    rules,
    directories: directories.map(({ text }) => text),
    ...(mode && { defaultMode: mode }),
    ...(bypass && { forbidsBypass: true }),
  };
}

function isMode(value: unknown): value is PermissionMode {
  return (PERMISSION_MODES as readonly unknown[]).includes(value);
}
