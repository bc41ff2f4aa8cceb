import type { Command } from 'commander';
import { nearest } from '../../base/text/nearest.ts';
import { usageError } from './server-flags.ts';

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
