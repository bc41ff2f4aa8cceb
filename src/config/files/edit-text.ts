import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../base/is-record.ts';
import { keyText } from '../sources/key-text.ts';
import { appendItem, removeItem, splice } from './edit-items.ts';
import { memberOf, valueOfNode } from './json-tree.ts';
import { BOM } from './parse-jsonc.ts';
import { type JsonNode, readTree } from './read-tree.ts';
import { marginAt, styleOf, type TextStyle, valueText } from './text-style.ts';

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
  if (isDeepStrictEqual(before, value)) return text;
  if (passed.length === 0 && !isRecord(value)) throw new EditRefused('it must hold one object');
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
  return memberOf(object, name);
}

function nameOf(way: Way): string {
  if (way.length === 0) return 'the whole';
  const key = keyText(way);
  return key.includes('"') ? key : `"${key}"`;
}
