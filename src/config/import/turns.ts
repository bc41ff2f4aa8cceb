import { cutText } from '../../base/cut-text.ts';
import { isRecord } from '../../base/is-record.ts';
import { visibleText } from '../../base/visible-text.ts';
import type { Turned, Turns } from './foreign.ts';

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
    note: `"${visibleText(cutText(name, 80))}" is not taken over${why === '' ? '' : `: ${why}`}`,
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
