import { isEqualJson, isRecord } from '../../base/json-value.ts';
import { formatKeyPath } from './diagnostics.ts';
import { endOfLine, type JsonNode, memberNamed, readTree, valueOfNode } from './json-tree.ts';
import { BOM } from './parse-jsonc.ts';

/** Sets the value at a key path and creates missing objects; `undefined` removes the value. */
export type Edit = { readonly path: readonly (string | number)[]; readonly value: unknown };

/** The edit is not possible; the message is the reason. */
export class EditRefused extends Error {
  override readonly name = 'EditRefused';
}

/**
 * Edits a JSON text and keeps everything else byte for byte: comments, whitespace, order, line ends. An object that
 * replaces another is merged member by member. Throws `EditRefused` if the text is invalid, a key in the path is a
 * duplicate, or a value in the path is not an object.
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
  if (!root || fault) throw new EditRefused(fault?.message ?? 'the file is empty');
  const changed = change(text, styleOf(text, root), root, path, value, []);
  return changed === text ? given : changed;
}

/** Adds an empty object to a text that is empty or only has comments. */
function withRoot(text: string): string {
  const { root, fault } = readTree(text);
  if (root || fault) return text;
  const { lineEnd } = styleOf(text);
  const isEnded = text.trim() === '' || /[\r\n]$/.test(text);
  return `${text.trim() === '' ? '' : text}${isEnded ? '' : lineEnd}{}${lineEnd}`;
}

type KeyPath = readonly (string | number)[];

function change(
  text: string,
  style: TextStyle,
  node: JsonNode,
  path: KeyPath,
  value: unknown,
  passed: KeyPath,
): string {
  const [part, ...rest] = path;
  if (part === undefined) return put(text, style, node, value, passed);
  const here = [...passed, part];
  if (node.type !== 'object' && !(node.type === 'list' && typeof part === 'number'))
    throw new EditRefused(`${nameOf(passed)} is not ${typeof part === 'number' ? 'a list' : 'an object'}`);
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

function put(text: string, style: TextStyle, node: JsonNode, value: unknown, passed: KeyPath): string {
  const before = valueOfNode(node);
  if (isEqualJson(before, value)) return text;
  if (passed.length === 0 && !isRecord(value)) throw new EditRefused('the file must contain one JSON object');
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
  passed: KeyPath,
): string {
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(value, key) || value[key] === undefined);
  const edits = [
    ...gone.map((key): Edit => ({ path: [...passed, key], value: undefined })),
    ...Object.entries(value).map(([key, it]): Edit => ({ path: [...passed, key], value: it })),
  ];
  return edits.reduce((it, edit) => applyEdit(it, edit), text);
}

/** Refuses duplicates, so that the member that is changed is the one that is used. */
function onlyMember(object: JsonNode, name: string, way: KeyPath): JsonNode | undefined {
  const same = object.children.filter((it) => it.value === name);
  if (same.length > 1)
    throw new EditRefused(`${nameOf(way)} appears more than once in the same object; remove the duplicates`);
  return memberNamed(object, name);
}

function nameOf(way: KeyPath): string {
  if (way.length === 0) return 'the document';
  const key = formatKeyPath(way);
  return key.includes('"') ? key : `"${key}"`;
}

/** A replacement; offsets are those of the text before all replacements. */
type Splice = { readonly from: number; readonly to: number; readonly text: string };

/** Appends an item to an object or list; `write` formats the item for its place. */
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
    // The item starts on a new line, after any line comment.
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

/** Removes an item, its comma and its line if nothing else is on it; comments around it stay. */
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

/** Applies replacements in order. */
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

/** Extends a removal to the whole line if the line would be empty, otherwise to the blanks on one side. */
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

/** The comma after an item, if any, and the end of the line of that comma or of the item. */
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
  // Without a line break the line ends after the last token.
  return { ...(comma !== undefined && { comma }), lineEnd: lineEnd ?? passed };
}

/** The formatting of a text, which additions follow. */
type TextStyle = {
  readonly lineEnd: string;
  /** One level of indentation; empty if the whole text is on one line, which then stays so. */
  readonly indent: string;
  /** The space after a colon, and after a comma within a line. */
  readonly gap: '' | ' ';
};

/** `root` is the object in the text, if any. */
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

/** The indentation of the line at the offset. */
function marginAt(text: string, offset: number): string {
  const start = Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** The value as text on one line, or on several lines that are indented by `margin`. */
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
