import type { Command } from 'commander';
import { nearest } from '../../base/text/nearest.ts';
import { refuse } from './server-flags.ts';

/** The forms of a command that begins with a word of its own, and how many words each takes after it: at least, at most. */
export type Actions<A extends string> = Readonly<
  Record<A, readonly [least: number, most: number, takes: string]>
>;

/** The form that is meant; without a word, the first. Anything else ends the command with 2. */
export function actionWord<A extends string>(
  command: Command,
  words: readonly string[],
  actions: Actions<A>,
): A {
  const known = Object.keys(actions) as A[];
  const [word = known[0] as A, ...rest] = words;
  const action = known.find((it) => it === word);
  if (action === undefined) {
    const meant = nearest(word, known);
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
    return refuse(command, `unknown word '${word}'${hint} (there are ${known.join(', ')})`);
  }
  const [least, most, takes] = actions[action];
  if (rest.length < least || rest.length > most) {
    return refuse(command, `${command.name()} ${action} takes ${takes === '' ? 'nothing more' : takes}`);
  }
  return action;
}
