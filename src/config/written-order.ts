import type { Configuration } from './configuration.ts';
import type { ConfiguredServer } from './model.ts';

/** The servers as people wrote them: file by file, the lowest first, and in each as it lists them. */
export function writtenOrder({
  sources,
  merged,
}: Pick<Configuration, 'sources' | 'merged'>): ConfiguredServer[] {
  const places = new Map(sources.flatMap((source) => source.servers).map((written, at) => [written, at]));
  const placeOf = ({ written }: ConfiguredServer) => places.get(written) ?? places.size;
  return merged.servers.toSorted((a, b) => placeOf(a) - placeOf(b));
}
