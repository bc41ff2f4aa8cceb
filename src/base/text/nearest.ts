/** The known word closest to a misspelled one, for "did you mean" hints; undefined if none is close. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_WORD_LENGTH) return undefined;
  // Words of one or two letters are all close to each other.
  const limit = word.length <= 2 ? 0 : Math.min(MAX_EDITS, Math.max(1, Math.floor(word.length / 3)));
  const ranked = known
    // A larger difference in length alone exceeds the limit.
    .filter((candidate) => Math.abs(candidate.length - word.length) <= limit)
    .map((candidate) => ({ candidate, cost: distance(word.toLowerCase(), candidate.toLowerCase(), limit) }))
    .filter(({ cost }) => cost <= limit)
    .sort((a, b) => a.cost - b.cost);
  return (
    ranked[0]?.candidate ??
    (limit > 0 ? known.find((it) => isSwapped(word.toLowerCase(), it.toLowerCase())) : undefined)
  );
}

/** The end of a message about an unknown word: `; did you mean "search"?`, or nothing if no known word is close. */
export function didYouMean(word: string, known: readonly string[]): string {
  const closest = nearest(word, known);
  return closest === undefined ? '' : `; did you mean "${closest}"?`;
}

/** Maximum number of edits between a misspelled word and the word that is suggested. */
const MAX_EDITS = 6;
/** Maximum length of a word that is compared; longer input is not a misspelled name. */
const MAX_WORD_LENGTH = 200;

/** Whether two neighbouring letters changed places. */
function isSwapped(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at < a.length && `${a.slice(0, at)}${a[at + 1]}${a[at]}${a.slice(at + 2)}` === b;
}

/** Levenshtein distance; any number above `limit` if the words are further apart than that. */
function distance(a: string, b: string, limit: number): number {
  let row = Uint16Array.from({ length: b.length + 1 }, (_, index) => index);
  let next = new Uint16Array(b.length + 1);
  for (let i = 1; i <= a.length; i++) {
    next[0] = i;
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] as number) + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      const cost = Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, substitution);
      next[j] = cost;
      if (cost < least) least = cost;
    }
    if (least > limit) return least;
    [row, next] = [next, row];
  }
  return row[b.length] as number;
}
