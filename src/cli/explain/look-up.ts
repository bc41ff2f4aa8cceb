import { join } from 'node:path';
import type { Configuration } from '../../host/config/configuration.ts';
import type { Lookup } from '../../host/config/expand/expand-entry.ts';
import { fileSecretStore } from '../../host/config/secret/file-secret-store.ts';

/** Who knows what `${…}` stands for, as a run would ask. */
export function lookUp({ world, settings }: Pick<Configuration, 'world' | 'settings'>): Lookup {
  const env: Readonly<Record<string, string | undefined>> = { ...world.env, ...settings.env };
  const store = fileSecretStore(join(world.home, 'secrets.json'));
  return {
    variable: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    secret: (name) => store.get(name),
  };
}
