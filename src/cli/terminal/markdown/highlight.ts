import type { Span, Tone } from '../render.ts';

/** How a language writes comments, strings and keywords. */
type Language = {
  readonly keywords: ReadonlySet<string>;
  readonly lineComments: readonly string[];
  readonly blockComment?: readonly [open: string, close: string];
  readonly quotes: string;
  /** Quotes whose strings may continue on the next line. */
  readonly longQuotes?: readonly string[];
};

/** What continues on the next line: a block comment or a string, until `close`. */
export type HighlightState = { readonly close: string; readonly tone: 'comment' | 'string' } | undefined;

/** Longer lines are not colored. */
const MAX_LENGTH = 2000;

/** Colors one line of code. The language is the word after the fence; an unknown one has no colors. */
export function highlightLine(
  language: string,
  text: string,
  state: HighlightState,
): { readonly spans: readonly Span[]; readonly state: HighlightState } {
  if (language === 'diff' || language === 'patch') return { spans: [diffSpan(text)], state: undefined };
  const rules = LANGUAGES.get(language.toLowerCase());
  if (!rules || text.length > MAX_LENGTH) return { spans: [text], state };
  const spans: Span[] = [];
  let rest = text;
  let open = state;
  while (rest !== '') {
    const token = open ? continued(rest, open) : nextToken(rest, rules);
    spans.push(token.tone === 'plain' ? token.text : [token.text, token.tone]);
    open = token.open;
    rest = rest.slice(token.text.length);
  }
  return { spans, state: open };
}

/** Colors a line of a unified diff. */
export function diffSpan(text: string): Span {
  if (/^(?:\+\+\+|---) /.test(text)) return [text, 'strong'];
  if (text.startsWith('@@')) return [text, 'accent'];
  if (text.startsWith('+')) return [text, 'added'];
  return text.startsWith('-') ? [text, 'removed'] : text;
}

type Token = { readonly text: string; readonly tone: Tone; readonly open?: HighlightState };

function continued(rest: string, state: NonNullable<HighlightState>): Token {
  const end = rest.indexOf(state.close);
  if (end < 0) return { text: rest, tone: state.tone, open: state };
  return { text: rest.slice(0, end + state.close.length), tone: state.tone };
}

function nextToken(rest: string, rules: Language): Token {
  if (rules.lineComments.some((it) => rest.startsWith(it))) return { text: rest, tone: 'comment' };
  const [open, close] = rules.blockComment ?? [];
  if (open && close && rest.startsWith(open)) return longToken(rest, open, close, 'comment');
  const long = rules.longQuotes?.find((it) => rest.startsWith(it));
  if (long) return longToken(rest, long, long, 'string');
  const first = rest[0] ?? '';
  if (rules.quotes.includes(first)) return { text: quoted(rest, first), tone: 'string' };
  const [word] = /^[\p{L}_$][\p{L}\p{N}_$]*/u.exec(rest) ?? [];
  if (word) return { text: word, tone: rules.keywords.has(word) ? 'keyword' : 'plain' };
  const [number] = /^(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)/.exec(rest) ?? [];
  if (number) return { text: number, tone: 'number' };
  // One character that may start a token, or the text up to the next such character.
  const [other = first] = /^[^\p{L}\p{N}_$"'`#/\-<{%;*]+/u.exec(rest) ?? [];
  return { text: other, tone: 'plain' };
}

function longToken(rest: string, open: string, close: string, tone: 'comment' | 'string'): Token {
  const end = rest.indexOf(close, open.length);
  if (end < 0) return { text: rest, tone, open: { close, tone } };
  return { text: rest.slice(0, end + close.length), tone };
}

/** The string at the start of a text, up to its closing quote or the end of the line. */
function quoted(text: string, quote: string): string {
  for (let at = 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return text.slice(0, at + 1);
  }
  return text;
}

function language(words: string, rest: Omit<Language, 'keywords'>): Language {
  return { keywords: new Set(words.split(/\s+/)), ...rest };
}

const C_COMMENTS = { lineComments: ['//'], blockComment: ['/*', '*/'] } as const;

const SCRIPT = language(
  `abstract as async await break case catch class const continue debugger declare default delete do else enum export
  extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace new
  null of override private protected public readonly return satisfies set static super switch this throw true try type
  typeof undefined using var void while with yield`,
  { ...C_COMMENTS, quotes: '"\'', longQuotes: ['`'] },
);
const PYTHON = language(
  `and as assert async await break case class continue def del elif else except False finally for from global if import
  in is lambda match None nonlocal not or pass raise return self True try while with yield`,
  { lineComments: ['#'], quotes: '"\'', longQuotes: ['"""', "'''"] },
);
const C_LIKE = language(
  `abstract auto bool boolean break byte case catch char class const constexpr continue default delete do double else enum
  explicit extends extern false final finally float for foreach friend if implements import include inline instanceof int
  interface internal long namespace new null nullptr operator override package private protected public record return sealed
  short signed sizeof static string struct super switch template this throw throws true try typedef typename union unsigned
  using var virtual void volatile while`,
  { ...C_COMMENTS, quotes: '"\'' },
);
const GO = language(
  `any bool break byte case chan const continue default defer else error fallthrough false float64 for func go goto if
  import int int64 interface iota make map nil package range return rune select string struct switch true type uint var`,
  { ...C_COMMENTS, quotes: '"\'', longQuotes: ['`'] },
);
const RUST = language(
  `as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub
  ref return self Self static str String struct super trait true type u8 u32 u64 unsafe use usize where while i32 i64 bool`,
  { ...C_COMMENTS, quotes: '"' },
);
const MOBILE = language(
  `as break case class catch companion continue data default defer do else enum extension false fileprivate final for fun
  func guard if import in init inline interface internal is it lateinit let nil null object open override package private
  protocol public return sealed self static struct super suspend switch this throw throws true try typealias val var when
  where while`,
  { ...C_COMMENTS, quotes: '"' },
);
const SHELL = language(
  `alias case do done elif else esac eval exec exit export fi for function if in local read readonly return set shift
  source then trap unset until while cd echo sudo`,
  { lineComments: ['# ', '#!'], quotes: '"\'' },
);
const RUBY = language(
  `alias and begin break case class def do else elsif end ensure false for if in module next nil not or puts raise require
  rescue return self super then true unless until when while yield`,
  { lineComments: ['#'], quotes: '"\'' },
);
const SQL_WORDS = `add all alter and any as asc between by case check column constraint create cross database default delete
  desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit
  not null offset on or order outer primary references returning right select set table then union unique update using values
  view when where with`;
const SQL = language(`${SQL_WORDS} ${SQL_WORDS.toUpperCase()}`, {
  lineComments: ['--'],
  blockComment: ['/*', '*/'],
  quotes: '\'"',
});
const DATA = language('true false null yes no on off', { lineComments: ['#'], quotes: '"\'' });
const JSON_TEXT = language('true false null', { ...C_COMMENTS, quotes: '"' });
const MARKUP = language('', { lineComments: [], blockComment: ['<!--', '-->'], quotes: '"\'' });
const STYLES = language('important media import keyframes supports', {
  lineComments: [],
  blockComment: ['/*', '*/'],
  quotes: '"\'',
});
const PHP = language(
  `abstract array as break case catch class const continue default do echo else elseif extends false final finally fn for
  foreach function if implements interface match namespace new null private protected public return static switch this throw
  trait true try use var while`,
  { lineComments: ['//', '#'], blockComment: ['/*', '*/'], quotes: '"\'' },
);

const LANGUAGES: ReadonlyMap<string, Language> = new Map(
  (
    [
      ['js jsx ts tsx javascript typescript mjs cjs mts', SCRIPT],
      ['py python python3', PYTHON],
      ['c h cc cpp c++ hpp java cs csharp scala dart', C_LIKE],
      ['go golang', GO],
      ['rs rust', RUST],
      ['kt kotlin swift', MOBILE],
      ['sh bash zsh shell console fish dockerfile makefile', SHELL],
      ['rb ruby', RUBY],
      ['sql', SQL],
      ['yaml yml toml ini', DATA],
      ['json jsonc json5', JSON_TEXT],
      ['html xml svg vue', MARKUP],
      ['css scss less', STYLES],
      ['php', PHP],
    ] as const
  ).flatMap(([names, rules]) => names.split(' ').map((name) => [name, rules] as const)),
);
