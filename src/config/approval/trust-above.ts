import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TrustedRepository } from './choice-file.ts';
import { isWithin } from './real-place.ts';
import { repositoryIdentity } from './repository-identity.ts';

/**
 * Which of the trusted repositories a place is in, if one. A repository inside a trusted one is somebody else's: its own
 * `.git` ends the trust, and nobody can bring such a thing along by a pull. Another repository in the place of the one
 * that was trusted is not trusted.
 */
export function trustAbove(place: string, trusted: readonly TrustedRepository[]): string | undefined {
  return trusted.find(
    ({ path, identity }) =>
      isWithin(place, path) && !hasRepositoryBelow(path, place) && repositoryIdentity(path) === identity,
  )?.path;
}

function hasRepositoryBelow(root: string, place: string): boolean {
  for (let at = place; at !== root; at = dirname(at)) if (existsSync(join(at, '.git'))) return true;
  return false;
}
