import { endOfLine } from './json-words.ts';
import type { JsonNode } from './read-tree.ts';
import { marginAt, type TextStyle } from './text-style.ts';

/** What stands where a text is to be changed; offsets are those of the text before all changes. */
type Splice = { readonly from: number; readonly to: number; readonly text: string };

/** An object or list that is to get one more item; `write` gives the item's text for the place it comes to. */
export function appendItem(
  text: string,
  container: JsonNode,
  style: TextStyle,
  write: (place: { readonly margin: string } | 'in-line') => string,
): string {
  const open = container.offset + 1;
  const close = container.offset + container.length - 1;
  const last = container.children.at(-1);
  const outer = marginAt(text, container.offset);
  const isInLine = style.indent === '' || (last !== undefined && !/[\r\n]/.test(text.slice(open, close)));
  if (!last) {
    const margin = `${outer}${style.indent}`;
    const end = open + text.slice(open, close).trimEnd().length;
    const isRoomy = style.indent !== '';
    const item = isRoomy
      ? `${style.lineEnd}${margin}${write({ margin })}${style.lineEnd}${outer}`
      : write('in-line');
    // A comment that runs to the end of its line ends there.
    return splice(text, [{ from: isRoomy ? end : close, to: close, text: item }]);
  }
  const end = last.offset + last.length;
  const { comma, lineEnd } = tailOf(text, end, close);
  const margin = isInLine ? '' : itemMargin(text, last.offset, `${outer}${style.indent}`);
  const item = isInLine ? `${style.gap}${write('in-line')}` : `${style.lineEnd}${margin}${write({ margin })}`;
  if (comma !== undefined)
    return splice(text, [
      { from: isInLine ? comma + 1 : lineEnd, to: isInLine ? comma + 1 : lineEnd, text: `${item},` },
    ]);
  if (isInLine) return splice(text, [{ from: end, to: end, text: `,${item}` }]);
  return splice(text, [
    { from: end, to: end, text: ',' },
    { from: lineEnd, to: lineEnd, text: item },
  ]);
}

/** Takes out one item and its comma, and its line if nothing else stands there; comments around it stay. */
export function removeItem(text: string, container: JsonNode, index: number): string {
  const items = container.children;
  const item = items[index] as JsonNode;
  const before = items[index - 1];
  const next = items[index + 1];
  const close = container.offset + container.length - 1;
  const end = item.offset + item.length;
  const { comma } = tailOf(text, end, next?.offset ?? close);
  const own: Splice = { from: item.offset, to: end, text: '' };
  if (comma !== undefined) {
    const isNear = text.slice(end, comma).trim() === '';
    const pieces = isNear ? [{ ...own, to: comma + 1 }] : [own, { from: comma, to: comma + 1, text: '' }];
    return splice(
      text,
      pieces.map((it) => withBlanks(text, it, 'after')),
    );
  }
  const earlier = before && tailOf(text, before.offset + before.length, item.offset).comma;
  const commas = earlier === undefined ? [] : [{ from: earlier, to: earlier + 1, text: '' }];
  return splice(text, [...commas, withBlanks(text, own, 'before')]);
}

/** Puts a text in place of another. */
export function splice(text: string, splices: readonly Splice[]): string {
  let [result, at] = ['', 0];
  for (const it of splices) {
    result += text.slice(at, it.from) + it.text;
    at = it.to;
  }
  return result + text.slice(at);
}

function itemMargin(text: string, offset: number, otherwise: string): string {
  const margin = marginAt(text, offset);
  return /[\r\n]/.test(text[offset - margin.length - 1] ?? '') ? margin : otherwise;
}

/** A whole line if it is left empty, else the blanks on one side. */
function withBlanks(text: string, cut: Splice, side: 'before' | 'after'): Splice {
  let margin = 0;
  while (/[ \t]/.test(text[cut.from - margin - 1] ?? '')) margin++;
  const rest = /^[ \t]*(\r\n|\n|\r)?/.exec(text.slice(cut.to)) ?? [''];
  const isAtStart = /[\r\n]/.test(text[cut.from - margin - 1] ?? '');
  if (isAtStart && rest[1] !== undefined)
    return { ...cut, from: cut.from - margin, to: cut.to + rest[0].length };
  if (isAtStart || side === 'after') return { ...cut, to: cut.to + rest[0].length - (rest[1]?.length ?? 0) };
  return { ...cut, from: cut.from - margin };
}

/** What follows an item: its comma if it has one, and where the line ends on which that, or else the item, stands. */
function tailOf(
  text: string,
  from: number,
  to: number,
): { readonly comma?: number; readonly lineEnd: number } {
  let [comma, lineEnd]: (number | undefined)[] = [];
  let passed = from;
  for (let at = from; at < to; at++) {
    const two = text.slice(at, at + 2);
    if (two === '/*') {
      passed = text.indexOf('*/', at + 2) + 2;
      at = passed - 1;
    } else if (two === '//') at = endOfLine(text, at) - 1;
    else if (text[at] === ',') [comma, lineEnd, passed] = [at, undefined, at + 1];
    else if (text[at] === '\n' || text[at] === '\r') lineEnd ??= at;
  }
  // Without a line break it ends after the last thing there is.
  return { ...(comma !== undefined && { comma }), lineEnd: lineEnd ?? passed };
}
