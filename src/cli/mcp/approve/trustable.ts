import type { Configuration } from '../../../config/configuration.ts';
import { isWithin, realPlace } from '../../../config/files/real-path.ts';

/** The repository that may be trusted as a whole, or why there is none: who trusts a home trusts all projects in it. */
export function trustable({
  root,
  world,
}: {
  readonly root?: string;
  readonly world: Pick<Configuration['world'], 'cwd' | 'userHome'>;
}): { readonly directory: string } | { readonly fault: string } {
  if (root === undefined)
    return { fault: `${world.cwd} is in no repository that could be trusted; name the servers` };
  if (isWithin(realPlace(world.userHome), realPlace(root))) {
    return {
      fault: `${root} holds your home and all projects in it, so it is not trusted as a whole; name the servers`,
    };
  }
  return { directory: root };
}
