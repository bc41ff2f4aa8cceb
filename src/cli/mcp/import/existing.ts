import type { Configuration } from '../../../config/configuration.ts';
import { signatureOf } from '../../../config/merge/merge-servers.ts';
import type { Scope, WrittenServer } from '../../../config/model.ts';
import type { WritableScope } from '../../../config/write/write-servers.ts';
import { whereText } from '../where.ts';
import type { Existing } from './candidate.ts';

/** What is here already: all in the file that is written, usable or not, and elsewhere what would be started. */
export function existingServers(
  { sources, merged }: Pick<Configuration, 'sources' | 'merged'>,
  target: { readonly scope: WritableScope; readonly path: string },
): Existing[] {
  const inTarget = sources.flatMap(({ servers }) => servers.filter(({ path }) => path === target.path));
  const counted = merged.servers
    .filter(({ verdict }) => verdict.kind === 'ready' || verdict.kind === 'disabled')
    .map(({ written }) => written);
  const others = counted.filter(({ path }) => path !== target.path);
  return [...inTarget, ...others].map((written) => existing(written, target));
}

function existing(
  written: WrittenServer,
  target: { readonly scope: WritableScope; readonly path: string },
): Existing {
  const { name, raw, entry, path, scope } = written;
  const signature = entry && signatureOf(entry);
  return {
    name,
    raw,
    ...(signature !== undefined && { signature }),
    where: whereText(written),
    isInTarget: path === target.path,
    // What this project alone has is in no other.
    reachesAsFar: target.scope !== 'user' || !IN_PROJECT.has(scope),
  };
}

const IN_PROJECT: ReadonlySet<Scope> = new Set(['project', 'local']);
