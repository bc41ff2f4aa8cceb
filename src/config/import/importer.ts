import { isRecord } from '../../base/json-value.ts';
import { sliceText, visibleText } from '../../base/text/display-text.ts';

import type { ConfigWorld } from '../config-context.ts';
import type { ConfigFault, Position } from '../model.ts';

/** Whether a server was meant for everything the person does, or for the project alone. */
export type ForeignFrom = 'user' | 'project';

/** One file of another program that may name servers. */
export type ForeignPlace = { readonly path: string; readonly from: ForeignFrom };

/** What reading takes from the surroundings. */
export type ForeignWorld = Pick<ConfigWorld, 'cwd' | 'userHome' | 'env' | 'platform'> & {
  /** Where the files of the project lie: the repository, or the directory people work in. */
  readonly project: string;
};

/** One server as another program keeps it. */
export type RawServer = {
  readonly name: string;
  /** Where in the file it stands. */
  readonly way: readonly (string | number)[];
  readonly value: unknown;
  readonly from: ForeignFrom;
  /** It is turned off elsewhere in the file. */
  readonly isOff?: boolean;
};

/** Another program that keeps servers in a file of its own: a row of the table. */
export type ForeignTool = {
  /** The word of the command line. */
  readonly id: string;
  readonly title: string;
  readonly format: 'json' | 'toml';
  /** Where its files lie, the person's own first. */
  places(world: ForeignWorld): readonly ForeignPlace[];
  /** Every server of a file, also those that are none. */
  servers(file: Readonly<Record<string, unknown>>, place: ForeignPlace, world: ForeignWorld): RawServer[];
  /** A text of an entry as we would write it. */
  rewrite(text: string, place: ForeignPlace, world: ForeignWorld): Rewritten;
  /** What becomes of each member of an entry. */
  readonly turns: Turns;
};

/** `fault` says why it cannot be written so that it means the same here. */
export type Rewritten = {
  readonly text: string;
  readonly notes?: readonly string[];
  readonly fault?: string;
};

/** What a member becomes: members of ours, a line for the person, or a fault that makes the entry unusable. */
export type Turned = {
  readonly put?: Readonly<Record<string, unknown>>;
  readonly note?: string;
  readonly fault?: string;
  readonly isOff?: boolean;
};

type Turns = Readonly<Record<string, (value: unknown, name: string) => Turned>>;

/** A server in our own form, not written anywhere yet. */
export type ForeignServer = {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly from: ForeignFrom;
  /** What was not taken over, and what is to be done: a line each. It never shows a value. */
  readonly notes: readonly string[];
  /** The other program does not start it. */
  readonly isOff: boolean;
  readonly position?: Position;
};

/** What a file of another program came to. */
export type Imported = {
  readonly servers: readonly ForeignServer[];
  readonly faults: readonly ConfigFault[];
};

type Turn = Turns[string];

/** It is called the same here. */
export const same: Turn = (value, name) => ({ put: { [name]: value } });

/** It is called otherwise here. */
export const as =
  (ours: string): Turn =>
  (value) => ({ put: { [ours]: value } });

/** It says nothing that matters here. */
export const silent: Turn = () => ({});

/** There is no counterpart; `why` says what to do, if there is something. */
export const told =
  (why = ''): Turn =>
  (_, name) => ({
    note: `"${visibleText(sliceText(name, 80))}" is not taken over${why === '' ? '' : `: ${why}`}`,
  });

export const seconds =
  (ours: string): Turn =>
  (value, name) =>
    typeof value === 'number' && Number.isFinite(value) && value > 0
      ? { put: { [ours]: Math.ceil(value * 1000) } }
      : { fault: `"${name}" is a number of seconds above 0` };

/** A flag that keeps the other program from starting it. */
export const offIf =
  (off: boolean): Turn =>
  (value) => ({ isOff: value === off });

/** Members that nearly every program calls as we do. */
export const COMMON: Turns = {
  type: same,
  command: same,
  args: same,
  env: same,
  cwd: same,
  url: same,
  headers: same,
};

/** Turns every member of an entry; what nobody knows is told, never dropped in silence. */
export function turnEntry(
  raw: Readonly<Record<string, unknown>>,
  turns: Turns,
): {
  readonly entry: Record<string, unknown>;
  readonly notes: string[];
  readonly faults: string[];
  readonly isOff: boolean;
} {
  const turned = Object.entries(raw)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(
      ([name, value]): Turned => (Object.hasOwn(turns, name) ? (turns[name] as Turn) : told())(value, name),
    );
  const entry: Record<string, unknown> = {};
  for (const [name, value] of turned.flatMap(({ put = {} }) => Object.entries(put))) {
    const before = entry[name];
    entry[name] = isRecord(before) && isRecord(value) ? { ...before, ...value } : value;
  }
  return {
    entry,
    notes: turned.flatMap(({ note }) => (note === undefined ? [] : [note])),
    faults: turned.flatMap(({ fault }) => (fault === undefined ? [] : [fault])),
    isOff: turned.some(({ isOff }) => isOff === true),
  };
}
