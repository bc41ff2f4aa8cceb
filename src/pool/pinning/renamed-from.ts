import { isIdentical } from './canonical.ts';
import type { Definition } from './definition.ts';

/** How much of a description is compared. */
const MAX_DESCRIPTION = 2_000;

/** Which of the tools that are gone a new one most likely is, under another name. */
export function renamedFrom(fresh: Definition, gone: readonly Definition[]): Definition | undefined {
  const scored = gone.map((it) => ({ it, score: likeness(it, fresh) }));
  return scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score)[0]?.it;
}

/** 0 unless most words of the shorter description are in the other, or some of them and the parameters are the same. */
function likeness(one: Definition, other: Definition): number {
  const [a, b] = [wordsOf(one), wordsOf(other)];
  const shared = [...a].filter((word) => b.has(word)).length / Math.max(1, Math.min(a.size, b.size));
  const hasSameParameters = isIdentical(one.inputSchema, other.inputSchema);
  return shared >= (hasSameParameters ? 0.3 : 0.6) ? shared + (hasSameParameters ? 1 : 0) : 0;
}

function wordsOf({ description = '' }: Definition): ReadonlySet<string> {
  return new Set(
    description
      .slice(0, MAX_DESCRIPTION)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [],
  );
}
