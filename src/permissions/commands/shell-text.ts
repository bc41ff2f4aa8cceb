import type { WordPart } from 'unbash';
import { ANY } from '../../base/text/patterns.ts';
import { ONE, type PathPattern, type Segment } from '../path.ts';
import type { ShellWord } from './shell-command.ts';

/** Text that the shell inserts and that is not known. */
export const GAP = Symbol('gap');

/** One word after expansion: literal text, and `ANY` or `ONE` for wildcards, which do not match a slash. */
export type ShellText = readonly (string | typeof ANY | typeof ONE | typeof GAP)[];

/** The values that a script may have given to its variables. */
export type Variables = ReadonlyMap<string, readonly ShellText[]>;

export type Expansions = {
  readonly home: string;
  /** Whether a variable may be another name of a second one. */
  readonly hasReferences: boolean;
  /** Variables whose values are not known, whatever the script assigns. */
  readonly unknown: ReadonlySet<string>;
  /** Whether the script may change `IFS`, at which the shell splits values of unquoted variables. */
  readonly changesSplitting: boolean;
};

const MAX_TEXTS = 64;
const MAX_PARTS = 100;

export function isUnknown(text: ShellText): boolean {
  return text.includes(GAP);
}

export function limitedTexts(texts: readonly ShellText[]): readonly ShellText[] {
  const distinct = [...new Map(texts.map((text) => [keyOf(text), text])).values()];
  return distinct.length > MAX_TEXTS ? [[GAP]] : distinct;
}

const KEYS = new WeakMap<PathPattern | ShellText, string>();

/** Equal for equal patterns; cached, because the same directories are compared at every step of a script. */
export function keyOf(pattern: PathPattern | ShellText): string {
  const known = KEYS.get(pattern);
  if (known !== undefined) return known;
  const key = JSON.stringify(pattern, (_, value: unknown) =>
    typeof value === 'symbol' ? [value.description] : value,
  );
  KEYS.set(pattern, key);
  return key;
}

/** The texts to which a word may expand. */
export function textsOf(
  word: ShellWord,
  variables: Variables,
  expansions: Expansions,
  /** The directories in which the shell may be. */
  directories: readonly PathPattern[],
): readonly ShellText[] {
  // If the script sets `PWD`, its value need not be the current directory.
  const working = (): readonly ShellText[] =>
    variables.has('PWD') ? [[GAP]] : limitedTexts(directories.map(textOfPath));
  const expand = (part: WordPart, isQuoted: boolean): readonly ShellText[] => {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return [[part.value]];
      case 'DoubleQuoted':
      case 'LocaleString':
        return product(part.parts.map((it) => expand(it, true)));
      case 'SimpleExpansion':
        return variable(part.text.slice(1), isQuoted);
      case 'ParameterExpansion':
        return part.text === `\${${part.parameter}}` ? variable(part.parameter, isQuoted) : [[GAP]];
      case 'Glob':
        if (part.kind !== 'bracket') return [[part.kind === 'star' ? ANY : ONE]];
        return /^\[[\w.]{1,10}\]$/.test(part.text) ? [...part.text.slice(1, -1)].map((it) => [it]) : [[ONE]];
      case 'BraceExpansion':
        return bracesOf(part.text);
      case 'CommandExpansion':
        return part.script?.commands.length === 0 ? [['']] : [[GAP]];
      case 'ArithmeticExpansion':
      case 'ProcessSubstitution':
      case 'ExtendedGlob':
        return [[GAP]];
    }
  };
  const variable = (name: string, isQuoted: boolean): readonly ShellText[] => {
    // The value is a number or empty.
    if (/^[?#!$]$/.test(name)) return [[ANY]];
    if (expansions.hasReferences || expansions.unknown.has(name)) return [[GAP]];
    if (!isQuoted && expansions.changesSplitting) return [[GAP]];
    const values = name === 'PWD' ? working() : variables.get(name);
    if (!values) return name === 'HOME' ? [[expansions.home]] : [[GAP]];
    // The shell splits an unquoted value at blanks, and expands its wildcards.
    const isSplit = (text: ShellText) => text.some((it) => typeof it === 'string' && /[\s*?[]/.test(it));
    return isQuoted ? values : values.map((text) => (isSplit(text) ? [GAP] : text));
  };
  const texts = word.parts
    ? product(word.parts.map((part) => expand(part, false)))
    : [word.pieces.map((piece) => piece ?? GAP)];
  return texts.map(merged).flatMap((text) => {
    if (!word.text.startsWith('~')) return [text];
    const [first, ...rest] = text;
    const [, user, path = ''] = /^~([^/]*)(.*)$/s.exec(typeof first === 'string' ? first : '') ?? [];
    if (user === '' && !variables.has('HOME')) return [[expansions.home + path, ...rest]];
    return user === '+' ? working().map((it) => merged([...it, path, ...rest])) : [[GAP]];
  });
}

/** The absolute path of a directory; unknown if the number of its names is not known. */
function textOfPath(path: PathPattern): ShellText {
  if (path.includes(ANY)) return [GAP];
  return path.length === 0 ? ['/'] : merged(path.flatMap((it): ShellText => ['/', ...(it as Segment)]));
}

function product(parts: readonly (readonly ShellText[])[]): readonly ShellText[] {
  if (parts.length > MAX_PARTS) return [[GAP]];
  return parts.reduce<readonly ShellText[]>(
    (texts, next) => limitedTexts(texts.flatMap((text) => next.map((it) => [...text, ...it]))),
    [[]],
  );
}

/** The text with adjacent literals joined. */
function merged(text: ShellText): ShellText {
  const elements: ShellText[number][] = [];
  for (const element of text) {
    const before = elements.at(-1);
    if (typeof element === 'string' && typeof before === 'string')
      elements[elements.length - 1] = before + element;
    else elements.push(element);
  }
  return elements;
}

/** `{a,b{c,d}}` without quotes and variables; of `{1..9}` only that it contains no slash. */
function bracesOf(text: string): readonly ShellText[] {
  if (/['"\\$`[]/.test(text)) return [[GAP]];
  const inner = text.slice(1, -1);
  if (/^[^,{}]*\.\.[^,{}]*$/.test(inner)) return [[ANY]];
  const parts = [''];
  let depth = 0;
  for (const character of inner) {
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return limitedTexts(
    parts.flatMap((part) => {
      const [, before = '', nested, after = ''] = /^([^{}]*)(\{.*\})([^{}]*)$/s.exec(part) ?? [];
      if (nested === undefined) return [wildcardsOf(part)];
      // Several groups next to each other are not expanded; their text counts as unknown.
      if (/\}.*\{/s.test(nested)) return [[GAP]];
      return bracesOf(nested).map((it) => [...wildcardsOf(before), ...it, ...wildcardsOf(after)]);
    }),
  );
}

function wildcardsOf(text: string): ShellText {
  return (text.match(/[*?]|[^*?]+/g) ?? []).map((it) => (it === '*' ? ANY : it === '?' ? ONE : it));
}

/** The paths that a word may hold: itself, the value of `--file=x`, `if=x`, `@x`, `HEAD:x` and `x:/mount`. */
export function pathsIn(text: ShellText): ShellText[] {
  const paths = [
    text,
    ...[OPTION, /^[^@]*@/s, /^[^:]*:/s].flatMap((it) => {
      const rest = withoutPrefix(text, it);
      return rest === text ? [] : [rest];
    }),
  ];
  const [first] = text;
  const colon = typeof first === 'string' ? first.indexOf(':') : -1;
  if (colon > 0) paths.push([(first as string).slice(0, colon)]);
  return paths.filter((it) => it.some((element) => element !== ''));
}

const OPTION = /^(?:-\w|[\w-]+\+?=)/;

export function withoutPrefix(text: ShellText, prefix: RegExp): ShellText {
  const [first, ...rest] = text;
  if (typeof first !== 'string' || !prefix.test(first)) return text;
  return [first.replace(prefix, ''), ...rest];
}

/** Resolves a shell text as a path relative to a directory. A piece of unknown value may be any path, `..` included. */
export function pathOf(text: ShellText, directory: PathPattern): PathPattern {
  const gap = text.lastIndexOf(GAP);
  const [first] = text;
  const isAbsolute = typeof first === 'string' && first.startsWith('/');
  const path: (Segment | typeof ANY)[] = gap >= 0 ? [ANY] : isAbsolute ? [] : [...directory];
  const names = namesOf(text.slice(gap + 1));
  for (const name of gap >= 0 ? names.slice(1) : names) {
    if (name === '..') {
      if (path.at(-1) !== ANY) path.pop();
    } else if (name === ANY || isDots(name)) path.splice(0, path.length, ANY);
    else if (name !== '' && name !== '.') path.push(name);
  }
  // `/proc/self/cwd` is the working directory.
  const link = path[0] === 'proc' ? path.findIndex((it) => it === 'cwd' || it === 'root' || it === 'fd') : -1;
  return link === -1 ? path : [ANY, ...path.slice(link + 1)];
}

/** `.*` may stand for `..`. */
function isDots(name: Segment): boolean {
  return (
    typeof name !== 'string' && name[0] === '.' && name.every((it) => it === '.' || typeof it === 'symbol')
  );
}

function namesOf(text: ShellText): (Segment | typeof ANY)[] {
  const names: Exclude<ShellText[number], typeof GAP>[][] = [[]];
  for (const element of text) {
    if (element === GAP) continue;
    if (typeof element === 'symbol') names.at(-1)?.push(element);
    else
      for (const character of element.split('')) {
        if (character === '/') names.push([]);
        else names.at(-1)?.push(character);
      }
  }
  return names.map((name) => {
    if (name.every((it) => typeof it === 'string')) return name.join('');
    // `**` matches directories too in some shells.
    return name.length === 2 && name.every((it) => it === ANY) ? ANY : name;
  });
}

/** The text behind a directory, unless it is absolute. */
export function joined(directory: string, first: ShellText[number] | undefined, rest: ShellText): ShellText {
  if (typeof first !== 'string') return first === undefined ? [] : [directory, first, ...rest];
  return [first.startsWith('/') ? first : directory + first, ...rest];
}

/** The script, with `$_` in place of each piece whose value only the shell knows. */
export function scriptOf(pieces: ShellWord['pieces']): string {
  return pieces.map((piece) => piece ?? '$_').join('');
}

/** The last name of a path; undefined if the name is not known, or is that of a directory: `.`, `..` or `x/`. */
export function lastName(path: ShellText): ShellText | undefined {
  const slash = path.findLastIndex((it) => typeof it === 'string' && it.includes('/'));
  const start = slash === -1 ? [] : [(path[slash] as string).replace(/^.*\//s, '')];
  const name = [...start, ...path.slice(slash + 1)].filter((it) => it !== '');
  const isDots = name.every((it) => typeof it === 'string' && /^\.{0,2}$/.test(it));
  return isDots || isUnknown(name) ? undefined : name;
}

/** The name of the file that a download of the URL writes. */
export function lastOrAnyName(url: ShellText): ShellText {
  return lastName(url) ?? [ANY];
}

/** `k` for `k.gz`; nothing for another suffix. */
export function unpackedName(path: ShellText): ShellText[] {
  const end = path.at(-1);
  const base = typeof end === 'string' ? /^(.*)\.(?:gz|bz2|xz|lzma|zst)$/s.exec(end)?.[1] : undefined;
  return base === undefined ? [] : [[...path.slice(0, -1), base]];
}
