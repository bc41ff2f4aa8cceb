import type { Choice, Scope } from '../../../src/config/model.ts';
import type { SettingsSource } from '../../../src/config/sources/source-types.ts';

export type SettingsScope = SettingsSource['scope'];

/** Lowest precedence first. */
export const SETTINGS_SCOPES = [
  'user',
  'project',
  'local',
  'program',
  'managed',
] as const satisfies readonly Scope[];

/** Settings of a scope, as if read from a file with the name of the scope. */
export function settingsOf(scope: SettingsScope, value: Record<string, unknown>): SettingsSource {
  const locate: SettingsSource['locate'] = (path) => ({ line: path.length, column: 1 });
  return { scope, label: `${scope}.json`, path: `/${scope}.json`, value, locate };
}

/** Approvals with the same decision about every project file. */
export const saying = (choice: Choice) => ({ ofSettings: () => choice });
