import type { Configuration } from '../configuration.ts';
import type { ConfigFault } from '../model.ts';
import { fatalFaults } from '../say-start.ts';
import type { FileState } from '../sources/file-state.ts';

type Read = Pick<Configuration, 'files' | 'sources' | 'faults' | 'unreadPolicies'>;

/** Files of which what they said before still counts, and why, a line each: else something would be lost that somebody wrote. */
export function heldFiles(
  before: Read,
  now: Read,
): { readonly paths: ReadonlySet<string>; readonly why: readonly string[] } {
  const [was, is] = [statesOf(before), statesOf(now)];
  const became = (state: FileState['state'], from: readonly FileState['state'][]) =>
    [...is.values()].flatMap(({ path, label, state: found }) => {
      const past = was.get(path)?.state;
      return found === state && past !== undefined && from.includes(past) ? [label] : [];
    });
  // A file that is gone is gone; but of one that is there nobody knows what it is about to say.
  const broken = became('unusable', ['read', 'blank', 'absent']);
  const emptied = became('blank', ['read']);
  const known = new Set(fatalFaults(before).map(textOf));
  const fatal = fatalFaults(now).filter((it) => !known.has(textOf(it)) && !broken.includes(it.label));
  const unfit = [...new Set(fatal.map(({ label }) => label))];
  const held = new Set([...broken, ...emptied, ...unfit]);
  return {
    paths: new Set([...is.values()].flatMap(({ path, label }) => (held.has(label) ? [path] : []))),
    why: [
      ...broken.map((label) => `${label} cannot be read, ${STAYS}`),
      ...emptied.map((label) => `${label} is empty, ${STAYS}; write {} to it if nothing is to count`),
      ...unfit.map((label) => `${label} holds something that no session begins with, ${STAYS}`),
    ],
  };
}

/** The files of which nothing can be read, by their paths. */
export function unusableFiles(read: Read): Map<string, string> {
  const unusable = [...statesOf(read).values()].filter(({ state }) => state === 'unusable');
  return new Map(unusable.map(({ path, label }) => [path, label]));
}

/** Which of the files that could not be read can be now, a line each; one that is gone is gone. */
export function sayMended(unusable: ReadonlyMap<string, string>, now: Read): string[] {
  const states = statesOf(now);
  const mended = [...unusable].filter(([path]) => states.get(path)?.state === 'read');
  return mended.map(([, label]) => `${label} can be read again, and what it says counts`);
}

const STAYS = 'so what it said before still counts';

/** Every file by its path. One whose servers cannot be read is no better than one that is no JSON. */
function statesOf({ files, sources }: Read): ReadonlyMap<string, FileState> {
  const unusable = sources.flatMap(({ path, label, state }) =>
    state === 'unusable' && path !== undefined ? [{ path, label, state }] : [],
  );
  return new Map([...files, ...unusable].map((it) => [it.path, it]));
}

/** The same fault, wherever it has moved to in its file. */
function textOf({ label, key, message }: ConfigFault): string {
  return JSON.stringify([label, key, message]);
}
