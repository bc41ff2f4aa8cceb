import { InvalidArgumentError } from 'commander';
import { nearest } from '../../base/text/nearest.ts';
import type { WritableScope } from '../../config/write/write-servers.ts';

export const SCOPE_NAMES: readonly WritableScope[] = ['local', 'project', 'user'];

/** Reads a flag that takes one of a few words; of another word it says which one may be meant. */
export function oneOf<T extends string>(
  known: readonly T[],
  meant: Readonly<Record<string, T>> = {},
): (value: string) => T {
  return (value) => {
    const found = known.find((it) => it === value);
    if (found !== undefined) return found;
    const guess = Object.hasOwn(meant, value) ? meant[value] : nearest(value, known);
    const hint = guess === undefined ? '' : `; did you mean ${guess}?`;
    throw new InvalidArgumentError(`It is one of ${known.join(', ')}${hint}`);
  };
}

/** What others call the scopes. */
export const scopeName = oneOf(SCOPE_NAMES, {
  global: 'user',
  me: 'user',
  repo: 'project',
  repository: 'project',
  workspace: 'project',
  team: 'project',
  private: 'local',
});

/** Collects what a flag that may be repeated was given. */
export function several(value: string, before: unknown): string[] {
  return [...((before as string[] | undefined) ?? []), value];
}
