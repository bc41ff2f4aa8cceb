import { nearest } from '../../base/text/nearest.ts';
import { redactText } from '../../base/text/redact.ts';
import { type FlagNames, flagArgv, flagName, type LaunchFlag } from '../../protocol/launch-flag.ts';
import { type AgentFlags, FLAGS, type FlagRow } from './flag-table.ts';

/** The parsed flags, errors, and warnings about flags without effect. Neither text contains a value. */
export type ParsedFlags = {
  readonly flags: AgentFlags;
  readonly faults: readonly string[];
  readonly notes: readonly string[];
  /** Formats the name of a flag for later messages, such as `--max-turns` or `options.maxTurns`. */
  readonly nameOf: FlagNames;
};

/** Parses the command line of an agent. If a flag is given twice, the last value wins; items of lists add up. */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  return collectFlags(readArguments(argv), flagName);
}

/** Checks the options that a program in this process starts an agent with; messages use the names of `nameOf`. */
export function checkFlags(flags: readonly LaunchFlag[], nameOf: FlagNames): ParsedFlags {
  return collectFlags(readLaunchFlags(flags, nameOf), nameOf);
}

type Given =
  | { kind: 'flag'; name: string; row: FlagRow; values: unknown[] }
  | { kind: 'fault'; text: string };

function collectFlags(all: Iterable<Given>, nameOf: FlagNames): ParsedFlags {
  const flags: Record<string, unknown> = {};
  const faults: string[] = [];
  const notes = new Set<string>();
  for (const given of all) {
    if (given.kind === 'fault') {
      faults.push(given.text);
      continue;
    }
    const { name, row, values } = given;
    const { use, kind, member } = row;
    if (use.as === 'refused') faults.push(`${name} is not supported: ${use.instead}`);
    if (values.includes(undefined)) {
      if (use.as !== 'refused') faults.push(`${name} takes ${kind.what}`);
      continue;
    }
    if (use.as === 'unused' && !isEmpty(values)) notes.add(`${name} has no effect: ${use.why}`);
    if (member === undefined) continue;
    flags[member] =
      kind.takes === 'many'
        ? [...((flags[member] as unknown[] | undefined) ?? []), ...values.flat()]
        : values.at(-1);
  }
  return { flags: flags as AgentFlags, faults, notes: [...notes], nameOf };
}

function* readLaunchFlags(flags: readonly LaunchFlag[], nameOf: FlagNames): Generator<Given> {
  for (const flag of flags) {
    const row = Object.hasOwn(FLAGS, flag.name) ? FLAGS[flag.name] : undefined;
    // Programs also pass a text for a flag without a value; like the `claude` CLI, the agent ignores it.
    if (flag.isText && row?.kind.takes === 'none') {
      yield { kind: 'flag', name: flagName(flag.name), row, values: [row.kind.read('', 'apart')] };
      continue;
    }
    if (flag.isText || !row) {
      yield* readArguments(flagArgv(flag));
      continue;
    }
    const { accept, read } = row.kind;
    const text = typeof flag.value === 'string' ? flag.value : '';
    const value = accept && typeof flag.value !== 'string' ? accept(flag.value) : read(text, 'joined');
    yield { kind: 'flag', name: nameOf(flag.name), row, values: [value] };
  }
}

function* readArguments(argv: readonly string[]): Generator<Given> {
  let at = 0;
  while (at < argv.length) {
    const argument = argv[at++] as string;
    const [, name, key, joined] = /^(--?([^=]*))(?:=([\s\S]*))?$/.exec(argument) ?? [];
    if (name === undefined || key === undefined || key === '') {
      yield { kind: 'fault', text: `argument ${at} is not a flag; prompts are sent over stdin` };
      continue;
    }
    const row =
      Object.hasOwn(FLAGS, key) && name.startsWith('--') === key.length > 1 ? FLAGS[key] : undefined;
    // What follows an unknown flag is probably its value, not a second error.
    if (!row) {
      if (joined === undefined) at = endOfValues(argv, at);
      yield { kind: 'fault', text: unknown(name) };
      continue;
    }
    const { takes, what } = row.kind;
    // Programs pass a text in extraArgs for a flag without a value.
    const endOfNone = Math.min(endOfValues(argv, at), at + 1);
    const end =
      takes === 'none' ? endOfNone : Math.min(endOfValues(argv, at), takes === 'one' ? at + 1 : argv.length);
    const values = joined === undefined ? argv.slice(at, end) : [joined];
    if (joined === undefined) at = end;
    if (takes === 'none') {
      yield joined === undefined
        ? { kind: 'flag', name, row, values: [row.kind.read('', 'apart')] }
        : { kind: 'fault', text: `${name} takes ${what}` };
    } else if (values.length === 0) {
      yield { kind: 'fault', text: `${name} requires ${what}` };
    } else {
      const form = joined === undefined ? 'apart' : 'joined';
      yield { kind: 'flag', name, row, values: values.map((value) => row.kind.read(value, form)) };
    }
  }
}

/** A value that begins with a dash must be written `--name=value`, so a dash always starts the next flag. */
function endOfValues(argv: readonly string[], from: number): number {
  const next = argv.findIndex((argument, index) => index >= from && /^-./.test(argument));
  return next < 0 ? argv.length : next;
}

function unknown(name: string): string {
  const guess = nearest(
    name,
    Object.keys(FLAGS).map((key) => (key.length > 1 ? `--${key}` : `-${key}`)),
  );
  return `unknown flag ${redactText(name)}${guess ? `; did you mean ${guess}?` : ''}`;
}

function isEmpty(values: readonly unknown[]): boolean {
  return values.every((value) => Array.isArray(value) && value.length === 0);
}
