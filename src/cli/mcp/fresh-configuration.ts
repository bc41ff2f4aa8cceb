import { type Configuration, readConfiguration } from '../../config/configuration.ts';
import { refreshCatalogues } from '../../config/sources/refresh-connectors.ts';
import type { Wanted } from '../../config/sources/source-types.ts';
import type { Session } from './session.ts';

/** Nobody who looks at a list waits longer for what others may have changed in it. */
const LIMIT_MS = 5_000;

/** What is configured, with what catalogues say now; of one that does not answer, with what it said last. */
export async function freshConfiguration(
  { world, tell }: Pick<Session, 'world' | 'tell'>,
  wanted: Wanted = {},
  catalogues: 'ask' | 'remember' = 'ask',
): Promise<Configuration> {
  const configuration = await readConfiguration(world, wanted);
  if (configuration.connectors.length === 0 || wanted.isStrict || catalogues === 'remember')
    return configuration;
  const signal = AbortSignal.timeout(LIMIT_MS);
  const changed = await refreshCatalogues(configuration, {
    signal,
    note: (text) => tell(`${text}; what it said last counts`),
  });
  if (signal.aborted)
    tell(`not every catalogue answered within ${LIMIT_MS / 1000} s; what it said last counts`);
  return changed ? readConfiguration(world, wanted) : configuration;
}
