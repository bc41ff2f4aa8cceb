import { ANY, matchesSequence } from '../../../base/text/patterns.ts';

/** A pattern for paths below a root, given as segments. */
export type GlobPattern = {
  matches(path: readonly string[]): boolean;
  /** Whether a path below the directory can match. */
  reachesInto(directory: readonly string[]): boolean;
  /** Whether a segment of the pattern is exactly this name. */
  names(segment: string): boolean;
};

/**
 * Parses a glob: `*` and `?` match within a segment, leading dots included; `**` as a segment matches any number of
 * segments; `[a-z]`, `[!x]` and `{a,b}` are supported, and `\` escapes the next character. Returns a string that describes
 * the error if the pattern is invalid. Matching takes at most the length of the pattern times the length of the path.
 */
export function parseGlob(pattern: string): GlobPattern | string {
  if (pattern.length > MAX_PATTERN_LENGTH)
    return `the pattern is longer than ${MAX_PATTERN_LENGTH} characters`;
  const alternatives = expandBraces(pattern);
  if (typeof alternatives === 'string') return alternatives;
  const globs = alternatives.map((it) =>
    it.split('/').filter((segment) => segment !== '' && segment !== '.'),
  );
  if (globs.some((segments) => segments.includes('..'))) return '".." is not allowed';
  if (globs.some((segments) => segments.length === 0)) return 'it is empty';
  const compiled = globs.map((segments) => segments.map(compileSegment));
  return {
    matches: (path) => compiled.some((segments) => matchesSequence(segments, path, matchesSegment)),
    reachesInto: (directory) => compiled.some((segments) => reaches(segments, directory)),
    names: (segment) => globs.some((segments) => segments.includes(segment)),
  };
}

const MAX_PATTERN_LENGTH = 1000;

type Character = (character: string) => boolean;
type Segment = readonly (Character | typeof ANY)[] | typeof ANY;

function compileSegment(segment: string): Segment {
  if (segment === '**') return ANY;
  const tokens = segment.match(/\*+|\\.|\[[!^]?\]?[^\]]*\]|./gsu) ?? [];
  return tokens.map((token) => {
    if (token.startsWith('*')) return ANY;
    if (token === '?') return () => true;
    if (token.length > 2 && token.startsWith('[')) return characterClass(token.slice(1, -1));
    const literal = token.length > 1 && token.startsWith('\\') ? token.slice(1) : token;
    return (character) => character === literal;
  });
}

function characterClass(body: string): Character {
  const isNegated = /^[!^]/.test(body);
  const ranges = [...(isNegated ? body.slice(1) : body).matchAll(/(.)-(.)|(.)/gsu)].map(
    ([, low, high, one]) => [low ?? one ?? '', high ?? one ?? ''] as const,
  );
  return (character) => ranges.some(([low, high]) => low <= character && character <= high) !== isNegated;
}

function matchesSegment(segment: Exclude<Segment, typeof ANY>, name: string): boolean {
  return matchesSequence(segment, [...name], (accepts, character) => accepts(character));
}

function reaches(pattern: readonly Segment[], directory: readonly string[]): boolean {
  for (const [depth, name] of directory.entries()) {
    const segment = pattern[depth];
    if (segment === ANY) return true;
    if (segment === undefined || depth === pattern.length - 1 || !matchesSegment(segment, name)) return false;
  }
  return true;
}

const MAX_ALTERNATIVES = 256;

/** `a{b,c{d,e}}` becomes `ab`, `acd`, `ace`; braces without a comma or an end are literal. */
function expandBraces(pattern: string): readonly string[] | string {
  let done: string[] = [];
  let open = [pattern];
  while (open.length > 0) {
    const expanded = open.map((it) => ({ it, parts: expandFirst(it) }));
    done = [...done, ...expanded.filter(({ parts }) => parts === undefined).map(({ it }) => it)];
    open = expanded.flatMap(({ parts }) => parts ?? []);
    if (done.length + open.length > MAX_ALTERNATIVES)
      return `the pattern has more than ${MAX_ALTERNATIVES} alternatives in braces`;
  }
  return done;
}

/** The pattern with each alternative of its first group; undefined without a group. */
function expandFirst(pattern: string): string[] | undefined {
  for (let start = pattern.indexOf('{'); start !== -1; start = pattern.indexOf('{', start + 1)) {
    const group = pattern[start - 1] === '\\' ? undefined : groupAt(pattern, start);
    if (group && group.alternatives.length > 1) {
      const rest = pattern.slice(group.end + 1);
      return group.alternatives.map((it) => pattern.slice(0, start) + it + rest);
    }
  }
  return undefined;
}

function groupAt(pattern: string, start: number) {
  const alternatives: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if ((character === ',' && depth === 1) || (character === '}' && depth === 0)) {
      alternatives.push(pattern.slice(from, at));
      from = at + 1;
    }
    if (depth === 0) return { alternatives, end: at };
  }
  return undefined;
}
