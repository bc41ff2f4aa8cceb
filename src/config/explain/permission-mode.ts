import { isRecord } from '../../base/is-record.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { Configuration } from '../configuration.ts';
import { modeInForce } from '../settings/mode-in-force.ts';
import { countsWhole } from '../settings/settings.ts';
import type { SettingsSource } from '../sources/found.ts';
import { standAt, standText } from './stand.ts';

type Known = Pick<Configuration, 'settings' | 'settingsSources'>;

/** The mode that a session with this flag begins in, and where it stands. */
export function explainMode(
  { settings, settingsSources }: Known,
  flag: PermissionMode | undefined,
): { readonly mode: PermissionMode; readonly says: string } {
  const mode = modeInForce(settings, flag);
  if (mode === undefined) return { mode: 'default', says: 'nobody set another' };
  const isRuled = settings.permissions.modes.policySettings !== undefined;
  if (flag !== undefined && !isRuled) return { mode, says: 'by --permission-mode' };
  const source = settingsSources.findLast(
    (it) => countsWhole(settings, it) && modeOf(it) === mode && (!isRuled || it.scope === 'managed'),
  );
  const beats = flag === undefined ? '' : ', which --permission-mode cannot change';
  return { mode, says: `by ${source ? placeOf(source) : 'settings'}${beats}` };
}

function modeOf({ value: { permissions } }: SettingsSource): unknown {
  return isRecord(permissions) ? permissions.defaultMode : undefined;
}

function placeOf({ scope, label, locate }: SettingsSource): string {
  return standText(standAt(scope, label, locate(['permissions', 'defaultMode'])));
}
