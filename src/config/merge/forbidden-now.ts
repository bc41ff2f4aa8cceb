import type { Source } from '../model.ts';
import type { Policy } from './policy.ts';
import { rulingSource } from './standing.ts';

/** What those who run the machine say. */
type Rule = { readonly policy: Pick<Policy, 'key'>; readonly sources: readonly Source[] };

/**
 * Of servers that run, those that may not any more since those who run the machine say something else. Merging does not
 * find all of them: what an entry leads to may be known only when it is dialled, and others than configured ones run.
 * `mayDial` says whether the entry, with what is put in, may be dialled now; who cannot say so says no.
 */
export function forbiddenNow<T>(
  before: Rule,
  now: Rule,
  running: Iterable<readonly [name: string, entry: T]>,
  mayDial: (name: string, entry: T) => boolean,
): string[] {
  if (keyOf(before) === keyOf(now)) return [];
  return [...running].filter(([name, entry]) => !mayDial(name, entry)).map(([name]) => name);
}

function keyOf({ policy, sources }: Rule): string {
  return JSON.stringify([policy.key, rulingSource(sources)?.label ?? null]);
}
