import { join } from 'node:path';
import type { Configuration } from '../../config/configuration.ts';
import { type Lookup, variablesOf } from '../../config/expand/expand-entry.ts';

import { fileSecretStore } from '../../config/secrets/secret-store.ts';

/** Who knows what `${…}` stands for, as a run would ask. */
export function lookUp(configuration: Pick<Configuration, 'world' | 'settings'>): Lookup {
  const { world } = configuration;
  const env = variablesOf(configuration);
  const store = fileSecretStore(join(world.home, 'secrets.json'));
  return {
    variable: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    secret: (name) => store.get(name),
  };
}
