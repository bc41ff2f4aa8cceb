import { type Command, InvalidArgumentError } from 'commander';
import { nearest } from '../../base/text/nearest.ts';
import type { WritableScope } from '../../config/write/write-servers.ts';

export const SCOPE_NAMES: readonly WritableScope[] = ['local', 'project', 'user'];

/** Reads a flag that takes one of a few words; of another word it says which one may be meant. */
export function oneOf<T extends string>(
  known: readonly T[],
  closest: Readonly<Record<string, T>> = {},
): (value: string) => T {
  return (value) => {
    const found = known.find((it) => it === value);
    if (found !== undefined) return found;
    const guess = Object.hasOwn(closest, value) ? closest[value] : nearest(value, known);
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
export function collect(value: string, before: unknown): string[] {
  return [...((before as string[] | undefined) ?? []), value];
}

/** Reads `--setting-sources`, words with commas between them; without a word no settings are read but those of the machine. */
export function settingSources(value: string): WritableScope[] {
  return value
    .split(/[,\s]+/)
    .filter((word) => word !== '')
    .map(scopeName);
}

/** What every sub-command is given. */
export type McpFormat = 'text' | 'json';

/** Adds `--json` to a command that prints one JSON document. */
export function addJsonFlag(command: Command): Command {
  return command.option('--json', 'one JSON document on stdout, also of a failure');
}

export function formatOf({ json }: { readonly json?: true }): McpFormat {
  return json ? 'json' : 'text';
}
