import { createRequire } from 'node:module';
import type * as Re2 from 're2js';

/** A regular expression that is matched in time linear in the text, whatever the expression. */
export type LinearPattern = {
  test(text: string): boolean;
  /** The matches in order, from the beginning; `end` is exclusive. */
  matches(text: string): Iterable<{ readonly start: number; readonly end: number }>;
};

export type PatternOptions = {
  readonly ignoreCase?: boolean;
  /** `^` and `$` match at line ends, and `.` matches line ends. */
  readonly multiline?: boolean;
};

/** Maximum length of a pattern. The time to compile grows with the length; this length compiles within milliseconds. */
export const MAX_PATTERN_LENGTH = 2000;

/**
 * Compiles a regular expression that comes from a file, a server or a model, which `RegExp` would run by backtracking: one
 * such as `(a+)+$` can take longer than any time limit. The syntax is RE2: as in JavaScript, without lookaround and
 * backreferences. Returns a string that describes the error if the expression is invalid.
 */
export function compilePattern(source: string, options: PatternOptions = {}): LinearPattern | string {
  if (source.length > MAX_PATTERN_LENGTH)
    return `the pattern is longer than ${MAX_PATTERN_LENGTH} characters`;
  if (NAMED_BACKREFERENCE.test(source)) return 'backreferences are not supported';
  const { RE2JS, RE2JSException, RE2JSSyntaxException } = engine();
  const flags =
    (options.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) |
    (options.multiline ? RE2JS.MULTILINE | RE2JS.DOTALL : 0);
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source), flags);
    return {
      test: (text) => compiled.test(text),
      *matches(text) {
        const matcher = compiled.matcher(text);
        while (matcher.find()) yield { start: matcher.start(), end: matcher.end() };
      },
    };
  } catch (thrown) {
    if (thrown instanceof RE2JSSyntaxException) return describeSyntaxError(thrown, source);
    if (thrown instanceof RE2JSException) return thrown.message;
    throw thrown;
  }
}

/** The engine would read `\k<name>` as `k<name>`. */
const NAMED_BACKREFERENCE = /(?<!\\)(?:\\\\)*\\k</;
const LOOKAROUND = /\(\?<?[=!]/;

function describeSyntaxError(error: Re2.RE2JSSyntaxException, source: string): string {
  if (LOOKAROUND.test(source)) return 'lookahead and lookbehind are not supported';
  const part = error.getPattern();
  if (part !== null && /^\\[1-9]/.test(part)) return 'backreferences are not supported';
  return part ? `${error.getDescription()}: ${part}` : error.getDescription();
}

let loaded: typeof Re2 | undefined;

/** Loaded when the first expression is compiled, because most sessions compile none. */
function engine(): typeof Re2 {
  loaded ??= createRequire(import.meta.url)('re2js') as typeof Re2;
  return loaded;
}
/** Any number of items, as an element of a pattern for `matchesSequence`. */
export const ANY = Symbol('any');

/**
 * Whether the text matches a pattern in which `*` matches any characters and `\*` a star. The time is linear in the
 * lengths of pattern and text, because patterns come from files, servers and models.
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
 * Whether the items match a pattern whose `ANY` matches any number of them. The time is quadratic at most: only the
 * last `ANY` is ever extended, since it can match whatever an earlier one would.
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
 * Finds where the first occurrence of the literal at or after `from` ends, or -1. Uses Knuth-Morris-Pratt, because
 * `String.indexOf` takes quadratic time for a literal such as `baaaa` in a text of `a`.
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
