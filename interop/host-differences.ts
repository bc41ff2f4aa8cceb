import { erase } from './erase.ts';

/** Where our host says something else than the real CLI, and why. A difference that is not needed fails the comparison. */
export type HostDifference = {
  /** Members of an observation, see `erase`. */
  readonly at: string;
  /** Only in these programs; in all by default. */
  readonly programs?: readonly string[];
  readonly why: string;
};

export const HOST_DIFFERENCES: readonly HostDifference[] = [];

/** The observation without what is known to differ in this program. */
export function withoutKnown(
  observation: unknown,
  program: string,
  known: readonly HostDifference[] = HOST_DIFFERENCES,
): unknown {
  return known
    .filter(({ programs }) => !programs || programs.includes(program))
    .reduce((left, { at }) => erase(left, at), observation);
}
