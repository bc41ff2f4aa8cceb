/** Any number of items, as an element of a pattern for `matchesSequence`. */
export const ANY = Symbol('any');

/**
 * Whether the text matches a pattern in which `*` stands for any characters and `\*` for a star. Takes time by the
 * length of the pattern plus the length of the text: patterns come from files, servers and models.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  const { first, between, last } = compiledWildcard(pattern);
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const find of between) {
    at = find(text, at);
    if (at === -1) return false;
  }
  return text.length - at >= last.length && text.endsWith(last);
}

/** The literals of a pattern around its stars; `last` is undefined if it has none. */
type Wildcard = {
  readonly first: string;
  readonly between: readonly ReturnType<typeof literalFinder>[];
  readonly last: string | undefined;
};

/** A rule is compared with every part of a command, so its pattern is compiled once. */
const COMPILED = new Map<string, Wildcard>();
const MAX_COMPILED = 5000;

function compiledWildcard(pattern: string): Wildcard {
  const known = COMPILED.get(pattern);
  if (known) return known;
  const [first = '', ...rest] = pattern.split(/(?<!\\)\*/).map((literal) => literal.replaceAll('\\*', '*'));
  const last = rest.pop();
  const compiled = { first, between: rest.map(literalFinder), last };
  if (COMPILED.size >= MAX_COMPILED) COMPILED.clear();
  COMPILED.set(pattern, compiled);
  return compiled;
}

/**
 * Whether the items match a pattern whose `ANY` takes any number of them. Takes time by length times length: only the
 * last `ANY` ever needs to take more, since it can take whatever an earlier one would.
 */
export function matchesSequence<P, T>(
  pattern: readonly (P | typeof ANY)[],
  items: ArrayLike<T>,
  matchesOne: (element: P, item: T) => boolean,
): boolean {
  let at = 0;
  let retry: { readonly after: number; from: number } | undefined;
  for (let item = 0; item < items.length; ) {
    const element = pattern[at];
    if (at < pattern.length && element === ANY) {
      at += 1;
      retry = { after: at, from: item };
    } else if (at < pattern.length && matchesOne(element as P, items[item] as T)) {
      at += 1;
      item += 1;
    } else if (retry) {
      retry.from += 1;
      item = retry.from;
      at = retry.after;
    } else {
      return false;
    }
  }
  return pattern.slice(at).every((element) => element === ANY);
}

/**
 * Finds where the first occurrence of the literal at or after `from` ends, or -1. Knuth-Morris-Pratt: `String.indexOf`
 * takes time by length times length for a literal such as `baaaa` in a text of `a`.
 */
export function literalFinder(literal: string): (text: string, from: number) => number {
  const borders = borderLengths(literal);
  return (text, from) => {
    if (literal === '') return from;
    let matched = 0;
    for (let at = from; at < text.length; at++) {
      while (matched > 0 && literal[matched] !== text[at]) matched = borders[matched - 1] ?? 0;
      if (literal[matched] === text[at]) matched += 1;
      if (matched === literal.length) return at + 1;
    }
    return -1;
  };
}

/** For each prefix of the literal: the length of its longest proper prefix that is also its suffix. */
function borderLengths(literal: string): Uint32Array {
  const borders = new Uint32Array(literal.length);
  let length = 0;
  for (let at = 1; at < literal.length; at++) {
    while (length > 0 && literal[length] !== literal[at]) length = borders[length - 1] ?? 0;
    if (literal[length] === literal[at]) length += 1;
    borders[at] = length;
  }
  return borders;
}
