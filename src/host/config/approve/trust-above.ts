import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isWithin } from './real-place.ts';

/**
 * Which of the trusted directories a place is in, if one. A repository inside a trusted one is somebody else's: its own
 * `.git` ends the trust, and nobody can bring such a thing along by a pull.
 */
export function trustAbove(place: string, trusted: readonly string[]): string | undefined {
  return trusted.find((root) => isWithin(place, root) && !hasRepositoryBelow(root, place));
}

function hasRepositoryBelow(root: string, place: string): boolean {
  for (let at = place; at !== root; at = dirname(at)) if (existsSync(join(at, '.git'))) return true;
  return false;
}
