import type { Configuration } from '../../../host/config/configuration.ts';
import { signatureOf } from '../../../host/config/merge/signature.ts';
import type { WrittenServer } from '../../../host/config/model.ts';
import { whereText } from '../where.ts';
import type { Existing } from './candidate.ts';

/** What is here already: all in the file that is written, usable or not, and elsewhere what would be started. */
export function existingServers(
  { sources, merged }: Pick<Configuration, 'sources' | 'merged'>,
  target: string,
): Existing[] {
  const inTarget = sources.flatMap(({ servers }) => servers.filter(({ path }) => path === target));
  const counted = merged.servers
    .filter(({ verdict }) => verdict.kind === 'ready' || verdict.kind === 'disabled')
    .map(({ written }) => written);
  const others = counted.filter(({ path }) => path !== target);
  return [...inTarget, ...others].map((written) => existing(written, target));
}

function existing(written: WrittenServer, target: string): Existing {
  const { name, raw, entry, path } = written;
  const signature = entry && signatureOf(entry);
  return {
    name,
    raw,
    ...(signature !== undefined && { signature }),
    where: whereText(written),
    isInTarget: path === target,
  };
}
