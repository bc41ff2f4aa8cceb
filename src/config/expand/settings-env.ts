import { isRecord } from '../../base/is-record.ts';
import { isInherited } from '../../mcp/transports/stdio/server-environment.ts';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import type { Configuration } from '../configuration.ts';

/**
 * An entry of a command as the policy has to see it: with the variables of `env` in settings that its process inherits,
 * such as `PATH`, except what the administrator's own settings say.
 */
export function withSettingsEnv(
  entry: ExternalServerEntry,
  { settings, settingsSources, world }: Pick<Configuration, 'settings' | 'settingsSources' | 'world'>,
): ExternalServerEntry {
  if (!('command' in entry) || entry.command === undefined) return entry;
  const managed = settingsSources.flatMap(({ scope, value: { env } }) =>
    scope === 'managed' && isRecord(env) ? Object.entries(env) : [],
  );
  const isManaged = (name: string, value: string) =>
    managed.some(([it, said]) => it === name && said === value);
  const inherited = Object.entries(settings.env).filter(
    ([name, value]) => isInherited(name, world.platform) && !isManaged(name, value),
  );
  return { ...entry, env: { ...Object.fromEntries(inherited), ...entry.env } };
}
