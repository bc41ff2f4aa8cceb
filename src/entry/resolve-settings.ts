// The settings functions of the official package; the code that reads files is loaded at the first call.
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { ResolvedSettings, ResolveSettingsOptions, Settings } from '../sdk/options/settings.ts';

/**
 * Reads and merges the settings files that an agent in `cwd` would read. The result is what the files say: whether the
 * user has approved the settings of a project is not considered.
 */
export async function resolveSettings(options?: ResolveSettingsOptions): Promise<ResolvedSettings> {
  const [{ configContext }, settings] = await Promise.all([
    import('../config/config-context.ts'),
    import('../config/settings/resolve-settings.ts'),
  ]);
  const { cwd = '.', settingSources, managedSettings, serverManagedSettings } = options ?? {};
  const context = configContext({
    cwd: realDirectory(resolve(cwd)),
    env: { ...process.env },
    userHome: homedir(),
    platform: process.platform,
  });
  return settings.resolveSettings(context, {
    settingSources,
    managedSettings: managedSettings as Readonly<Record<string, unknown>> | undefined,
    serverManagedSettings: serverManagedSettings as Readonly<Record<string, unknown>> | undefined,
  }) as ResolvedSettings;
}

/** The modes that a file in a repository cannot set; `settings.local.json` may set `acceptEdits`. */
const ESCALATING: Readonly<Record<string, readonly string[]>> = {
  project: ['acceptEdits', 'auto', 'bypassPermissions'],
  local: ['auto', 'bypassPermissions'],
};

/** The effective settings without a default mode that a file of the project must not set. */
export function filterEscalatingDefaultMode({ effective, sources }: ResolvedSettings): Settings {
  const origin = sources.findLast(({ settings }) => settings.permissions?.defaultMode !== undefined);
  const { defaultMode, ...permissions } = effective.permissions ?? {};
  const isEscalating = origin && ESCALATING[origin.source]?.includes(String(defaultMode));
  return isEscalating ? { ...effective, permissions } : effective;
}

function realDirectory(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
