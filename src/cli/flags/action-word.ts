import type { Command } from 'commander';
import { nearest } from '../../base/text/nearest.ts';
import { usageError } from './server-flags.ts';

/** The forms of a command that begins with a word of its own, and how many words each takes after it: at least, at most. */
export type Actions<A extends string> = Readonly<
  Record<A, readonly [least: number, most: number, takes: string]>
>;

/** The form that is meant; without a word, the first. Anything else ends the command with 2. */
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
    return usageError(command, `unknown word '${word}'${hint} (there are ${known.join(', ')})`);
  }
  const [least, most, takes] = actions[action];
  if (rest.length < least || rest.length > most) {
    return usageError(command, `${command.name()} ${action} takes ${takes === '' ? 'nothing more' : takes}`);
  }
  return action;
}
