import { isEqualJson, isRecord } from '../../base/json-value.ts';
import { formatKeyPath } from './diagnostics.ts';
import { endOfLine, type JsonNode, memberNamed, readTree, valueOfNode } from './json-tree.ts';
import { BOM } from './parse-jsonc.ts';

/** Sets the value at the end of a way, making objects on the way; `undefined` removes it. */
export type Edit = { readonly path: readonly (string | number)[]; readonly value: unknown };

/** Why a text is left as it is, in a few words. */
export class EditRefused extends Error {
  override readonly name = 'EditRefused';
}

/**
 * Changes a JSON text and leaves everything else of it as it is, byte for byte: comments, blanks, order, line ends. An
 * object that takes the place of another is put in member by member. Throws `EditRefused` if the text is broken, a
 * member on the way is written twice, or something on the way is no object.
 */
export function editText(text: string, edits: readonly Edit[]): string {
  const isMarked = text.startsWith(BOM);
  let body = isMarked ? text.slice(1) : text;
  for (const edit of edits) body = applyEdit(body, edit);
  return isMarked ? `${BOM}${body}` : body;
}

function applyEdit(given: string, { path, value }: Edit): string {
  const text = withRoot(given);
  const { root, fault } = readTree(text);
  if (!root || fault) throw new EditRefused(fault?.message ?? 'it holds nothing');
  const changed = change(text, styleOf(text, root), root, path, value, []);
  return changed === text ? given : changed;
}

/** A file that is empty or holds comments only is an empty object. */
function withRoot(text: string): string {
  const { root, fault } = readTree(text);
  if (root || fault) return text;
  const { lineEnd } = styleOf(text);
  const isEnded = text.trim() === '' || /[\r\n]$/.test(text);
  return `${text.trim() === '' ? '' : text}${isEnded ? '' : lineEnd}{}${lineEnd}`;
}

type Way = readonly (string | number)[];

function change(
  text: string,
  style: TextStyle,
  node: JsonNode,
  path: Way,
  value: unknown,
  passed: Way,
): string {
  const [part, ...rest] = path;
  if (part === undefined) return put(text, style, node, value, passed);
  const here = [...passed, part];
  if (node.type !== 'object' && !(node.type === 'list' && typeof part === 'number'))
    throw new EditRefused(`${nameOf(passed)} is no ${typeof part === 'number' ? 'list' : 'object'}`);
  const items = node.children;
  const index =
    node.type === 'list' ? Number(part) : items.indexOf(onlyMember(node, String(part), here) as JsonNode);
  const item = items[index];
  const found = node.type === 'list' ? item : item?.children[0];
  if (!item || !found) {
    if (value === undefined) return text;
    const whole = rest.reduceRight<unknown>(
      (it, key) => (typeof key === 'number' ? [it] : Object.fromEntries([[key, it]])),
      value,
    );
    const name = node.type === 'list' ? '' : `${JSON.stringify(String(part))}:${style.gap}`;
    return appendItem(text, node, style, (place) => `${name}${valueText(whole, style, place)}`);
  }
  if (rest.length === 0 && value === undefined) return removeItem(text, node, index);
  return change(text, style, found, rest, value, here);
}

function put(text: string, style: TextStyle, node: JsonNode, value: unknown, passed: Way): string {
  const before = valueOfNode(node);
  if (isEqualJson(before, value)) return text;
  if (passed.length === 0 && !isRecord(value)) throw new EditRefused('must hold one object');
  if (isRecord(before) && isRecord(value)) return putMembers(text, before, value, passed);
  const isInLine = !/[\r\n]/.test(text.slice(node.offset, node.offset + node.length)) && node.length > 2;
  const isList = node.type === 'list' || node.type === 'object';
  const place = isInLine && isList ? 'in-line' : { margin: marginAt(text, node.offset) };
  const next = valueText(value, style, place);
  return splice(text, [{ from: node.offset, to: node.offset + node.length, text: next }]);
}

function putMembers(
  text: string,
  before: Readonly<Record<string, unknown>>,
  value: Readonly<Record<string, unknown>>,
  passed: Way,
): string {
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(value, key) || value[key] === undefined);
  const edits = [
    ...gone.map((key): Edit => ({ path: [...passed, key], value: undefined })),
    ...Object.entries(value).map(([key, it]): Edit => ({ path: [...passed, key], value: it })),
  ];
  return edits.reduce((it, edit) => applyEdit(it, edit), text);
}

/** The one that counts and the one that is changed must be the same. */
function onlyMember(object: JsonNode, name: string, way: Way): JsonNode | undefined {
  const same = object.children.filter((it) => it.value === name);
  if (same.length > 1)
    throw new EditRefused(`${nameOf(way)} is written twice in the same object; remove one`);
  return memberNamed(object, name);
}

function nameOf(way: Way): string {
  if (way.length === 0) return 'the whole';
  const key = formatKeyPath(way);
  return key.includes('"') ? key : `"${key}"`;
}

/** What stands where a text is to be changed; offsets are those of the text before all changes. */
type Splice = { readonly from: number; readonly to: number; readonly text: string };

/** An object or list that is to get one more item; `write` gives the item's text for the place it comes to. */
function appendItem(
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
function removeItem(text: string, container: JsonNode, index: number): string {
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
function splice(text: string, splices: readonly Splice[]): string {
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

/** How a text is laid out, so that what is added looks as if its author had written it. */
type TextStyle = {
  readonly lineEnd: string;
  /** One level of indentation; empty if the whole text stands on one line, and then nothing is broken into lines. */
  readonly indent: string;
  /** What stands after a colon, and after a comma within a line. */
  readonly gap: '' | ' ';
};

/** `root` is the object that the text holds, if it holds one. */
function styleOf(text: string, root?: JsonNode): TextStyle {
  const lineEnd = /\r\n|\n/.exec(text)?.[0] ?? '\n';
  const [first] = root?.children ?? [];
  const isOneLine = first !== undefined && !/[\r\n]/.test(text.trim());
  const margin = first ? marginAt(text, first.offset) : '';
  const colon = first?.colon;
  return {
    lineEnd,
    indent: isOneLine ? '' : margin || '  ',
    gap: colon !== undefined && /\S/.test(text[colon + 1] ?? '') ? '' : ' ',
  };
}

/** The blanks that the line begins with on which the offset is. */
function marginAt(text: string, offset: number): string {
  const start = Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** The value as text: over several lines, each after the first indented by `margin`, or within one. */
function valueText(value: unknown, style: TextStyle, place: { readonly margin: string } | 'in-line'): string {
  if (place === 'in-line' || style.indent === '') return inLine(value, style.gap);
  return JSON.stringify(value, null, style.indent).replaceAll('\n', `${style.lineEnd}${place.margin}`);
}

function inLine(value: unknown, gap: string): string {
  if (Array.isArray(value)) return `[${value.map((it) => inLine(it, gap)).join(`,${gap}`)}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, it]) => it !== undefined)
    .map(([key, it]) => `${JSON.stringify(key)}:${gap}${inLine(it, gap)}`);
  return members.length > 0 ? `{${gap}${members.join(`,${gap}`)}${gap}}` : '{}';
}
