import { type Command, InvalidArgumentError, Option } from 'commander';
import { nearest } from '../../base/text/nearest.ts';
import type { WritableScope } from '../../config/write/write-servers.ts';

export const SCOPE_NAMES: readonly WritableScope[] = ['local', 'project', 'user'];

/** A parser for a flag with a fixed set of values; the error suggests the closest value. */
export function oneOf<T extends string>(
  known: readonly T[],
  closest: Readonly<Record<string, T>> = {},
): (value: string) => T {
  return (value) => {
    const found = known.find((it) => it === value);
    if (found !== undefined) return found;
    const guess = Object.hasOwn(closest, value) ? closest[value] : nearest(value, known);
    const hint = guess === undefined ? '' : `; did you mean ${guess}?`;
    throw new InvalidArgumentError(`Expected one of ${known.join(', ')}${hint}`);
  };
}

/** Other names for the scopes. */
export const scopeName = oneOf(SCOPE_NAMES, {
  global: 'user',
  me: 'user',
  repo: 'project',
  repository: 'project',
  workspace: 'project',
  team: 'project',
  private: 'local',
});

/** The flag `--scope` of commands that write an entry. */
export function scopeOption(standard: WritableScope): Option {
  return new Option('-s, --scope <scope>', 'where to write: local, project or user')
    .argParser(scopeName)
    .default(standard);
}

/** Collects the values of a flag that may be repeated. */
export function collect(value: string, before: unknown): string[] {
  return [...((before as string[] | undefined) ?? []), value];
}

/** Parses `--setting-sources`, separated by commas; an empty value reads only managed settings. */
export function settingSources(value: string): WritableScope[] {
  return value
    .split(/[,\s]+/)
    .filter((word) => word !== '')
    .map(scopeName);
}

/** Parses a flag in milliseconds. */
export function milliseconds(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('Expected milliseconds, 1 or more.');
  return Number(value);
}

/** The output format of a sub-command. */
export type McpFormat = 'text' | 'json';

/** Adds `--json` to a command that prints one JSON document. */
export function addJsonFlag(command: Command): Command {
  return command.option('--json', 'print one JSON document, also for a failure');
}

export function formatOf({ json }: { readonly json?: true }): McpFormat {
  return json ? 'json' : 'text';
}
