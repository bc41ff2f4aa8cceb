import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { nearest } from '../../base/text/nearest.ts';
import { parseJsonc } from '../../config/files/parse-jsonc.ts';
import type { WritableScope } from '../../config/write/write-servers.ts';
import { messageOf, SdkError, type SdkErrorCode } from '../../protocol/sdk-error.ts';
import { sanitize } from '../terminal/terminal-text.ts';

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

/** Parses the name of a scope; common synonyms produce an error that suggests the name. */
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

/** Parses a port number. */
export function portNumber(value: string): number {
  const port = /^[1-9]\d{0,4}$/.test(value) ? Number(value) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError('Expected a port, 1 to 65535.');
  return port;
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

/** The actions of a command, with the minimum and maximum number of arguments of each. */
export type Actions<A extends string> = Readonly<
  Record<A, readonly [min: number, max: number, takes: string]>
>;

/** The action that the first argument names; without one, the first action. Anything else is a usage error. */
export function parseAction<A extends string>(
  command: Command,
  args: readonly string[],
  actions: Actions<A>,
): A {
  const known = Object.keys(actions) as A[];
  const [word = known[0] as A, ...rest] = args;
  const action = known.find((it) => it === word);
  if (action === undefined) {
    const closest = nearest(word, known);
    const hint = closest === undefined ? '' : `; did you mean ${closest}?`;
    return usageError(command, `unknown action '${word}'${hint} (known: ${known.join(', ')})`);
  }
  const [min, max, takes] = actions[action];
  if (rest.length < min || rest.length > max) {
    return usageError(
      command,
      `wrong number of arguments; usage: ${[command.name(), action, takes].filter(Boolean).join(' ')}`,
    );
  }
  return action;
}

/** The parsed value of a flag, and its name for messages. */
type JsonFlag = { readonly value: unknown; readonly where: string };

/** Parses a flag that is the path of a JSON file or the text of an object. */
export function parseJsonFlag(flag: string, given: string, code: SdkErrorCode): JsonFlag {
  const isText = given.trimStart().startsWith('{');
  const where = isText ? flag : `${flag} ${given}`;
  // Editors on Windows write a byte order mark.
  const text = (isText ? given : read(given, where, code)).replace(/^\ufeff/, '');
  const fault = jsonFault(text);
  if (fault !== undefined) throw new SdkError(code, `${where} is not valid JSON: ${fault}`);
  return { value: JSON.parse(text), where };
}

function read(path: string, where: string, code: SdkErrorCode): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SdkError(code, `cannot read ${where}: ${messageOf(cause)}`, { cause });
  }
}

/** Where a text is not valid JSON; undefined if it is. The text may be a secret, so no part of it is quoted. */
export function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    if (text.trim() === '') return 'the text is empty';
    const [fault] = parseJsonc(text).faults;
    if (!fault) return 'comments and trailing commas are not allowed';
    const { message, position } = fault;
    return `line ${position.line}, column ${position.column}: ${message}`;
  }
}

/** Ends the command with exit code 2. */
export function usageError(command: Command, fault: string): never {
  return command.error(`error: ${sanitize(fault)}`, { exitCode: 2 });
}
