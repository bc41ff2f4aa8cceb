import type { Configuration } from '../../config/configuration.ts';
import { expansionOf } from '../../config/explain/explain-server.ts';
import { lookUp } from '../explain/look-up.ts';
import type { Unmet } from './health.ts';

/** What an entry refers to and nobody has: variables and secrets, each named with what to do. */
export function unmetOf(
  configuration: Pick<Configuration, 'world' | 'settings' | 'settingsSources' | 'policy'>,
): Unmet {
  const lookup = lookUp(configuration);
  return (server) => expansionOf(server, configuration, lookup).faults;
}
