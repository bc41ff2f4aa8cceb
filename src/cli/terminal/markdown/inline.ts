import type { Span, Tone } from '../render.ts';

/** Longer texts are shown as they are: looking for pairs of marks takes time that grows with the length. */
const MAX_LENGTH = 4000;

/** Code, bold, emphasis, strikethrough, links and escaped characters, at the place where the search continues. */
const MARKS: readonly { readonly pattern: RegExp; readonly spans: (match: RegExpExecArray) => Span[] }[] = [
  { pattern: /\\([\\`*_{}[\]()#+\-.!|~<>])/y, spans: ([, text = '']) => [text] },
  { pattern: /(`{1,3})(?!`)([^`]+)\1(?!`)/y, spans: ([, , text = '']) => [[text, 'code']] },
  {
    pattern: /\*\*(?=\S)((?:(?!\*\*).){0,1000}?\S)\*\*/y,
    spans: ([, text = '']) => [[plain(text), 'strong']],
  },
  {
    pattern: /(?<![\p{L}\p{N}])__(?=\S)((?:(?!__).){0,1000}?\S)__(?![\p{L}\p{N}])/uy,
    spans: ([, text = '']) => [[plain(text), 'strong']],
  },
  { pattern: /\*(?=[^\s*])([^*]{1,1000})(?<=\S)\*(?!\*)/y, spans: ([, text = '']) => [[text, 'emphasis']] },
  {
    pattern: /(?<![\p{L}\p{N}_])_(?=[^\s_])([^_]{1,1000})(?<=\S)_(?![\p{L}\p{N}_])/uy,
    spans: ([, text = '']) => [[text, 'emphasis']],
  },
  { pattern: /~~(?=\S)([^~]{1,1000})(?<=\S)~~/y, spans: ([, text = '']) => [[text, 'strike']] },
  {
    pattern: /!?\[([^[\]]{0,1000})\]\(([^()\s]{1,2000})(?:\s+"[^"]{0,200}")?\)/y,
    spans: ([, text = '', url = '']) => link(text, url),
  },
];

/** Where a mark may start. */
const START = /[\\`*_~[!]/g;

/** The spans of a line of markdown. Marks without their other half are shown as they are. */
export function inlineSpans(text: string, tone: Tone = 'plain'): Span[] {
  if (text.length > MAX_LENGTH) return [[text, tone]];
  const spans: Span[] = [];
  let shown = 0;
  let at = 0;
  for (;;) {
    START.lastIndex = at;
    const start = START.exec(text)?.index;
    if (start === undefined) break;
    const found = markAt(text, start);
    at = found ? start + found.length : start + 1;
    if (!found) continue;
    if (start > shown) spans.push([text.slice(shown, start), tone]);
    spans.push(...found.spans.map((span) => (typeof span === 'string' ? ([span, tone] as const) : span)));
    shown = at;
  }
  if (shown < text.length || spans.length === 0) spans.push([text.slice(shown), tone]);
  return spans;
}

function markAt(
  text: string,
  start: number,
): { readonly length: number; readonly spans: Span[] } | undefined {
  for (const { pattern, spans } of MARKS) {
    pattern.lastIndex = start;
    const match = pattern.exec(text);
    if (match) return { length: match[0].length, spans: spans(match) };
  }
  return undefined;
}

/** The address is always shown: the text of a link may name another one. */
function link(text: string, url: string): Span[] {
  if (text === '' || text === url) return [[url, 'accent']];
  return [
    [plain(text), 'accent'],
    [` (${url})`, 'dim'],
  ];
}

function plain(text: string): string {
  return text.replace(/[`*]/g, '');
}
