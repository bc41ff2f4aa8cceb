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
  /** `^` and `$` match at the ends of lines, `.` takes line ends. */
  readonly multiline?: boolean;
};

/** Compiling takes time by length: this much compiles within milliseconds. */
export const MAX_PATTERN_LENGTH = 2000;

/**
 * Compiles a regular expression that comes from a file, a server or a model, which `RegExp` would run by backtracking: one
 * such as `(a+)+$` takes longer than anybody waits. The syntax is RE2: as in JavaScript, without lookaround and
 * backreferences. A string is what is wrong with the expression.
 */
export function compilePattern(source: string, options: PatternOptions = {}): LinearPattern | string {
  if (source.length > MAX_PATTERN_LENGTH) return `it is longer than ${MAX_PATTERN_LENGTH} characters`;
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

/** The engine would take `\k<name>` for `k<name>`. */
const NAMED_BACKREFERENCE = /(?<!\\)(?:\\\\)*\\k</;
const LOOKAROUND = /\(\?<?[=!]/;

function describeSyntaxError(error: Re2.RE2JSSyntaxException, source: string): string {
  if (LOOKAROUND.test(source)) return 'lookahead and lookbehind are not supported';
  const part = error.getPattern();
  if (part !== null && /^\\[1-9]/.test(part)) return 'backreferences are not supported';
  return part ? `${error.getDescription()}: ${part}` : error.getDescription();
}

let loaded: typeof Re2 | undefined;

/** Loaded when the first expression is compiled: most sessions need none. */
function engine(): typeof Re2 {
  loaded ??= createRequire(import.meta.url)('re2js') as typeof Re2;
  return loaded;
}
