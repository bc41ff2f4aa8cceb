import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editText } from '../../../src/config/files/edit-text.ts';
import { memberNamed, readTree, valueAt } from '../../../src/config/files/json-tree.ts';
import { parseJsonc } from '../../../src/config/files/parse-jsonc.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Way = (string | number)[];

const key = fc.oneof(fc.constantFrom('a', 'b', 'mcpServers', '__proto__', '//', '"', '{'), fc.string());
const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.string(),
      fc.constantFrom('/*', '//', ',', '}'),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const anyObject = fc.dictionary(key, anyValue, { maxKeys: 4, noNullPrototype: true });

/** Whitespace and comments between two tokens; each comment has its own number. */
const trivia = (eol: string) => [
  '',
  '',
  ' ',
  eol,
  `${eol}  `,
  `${eol}\t`,
  '/*#,}*/',
  `//# , }${eol}`,
  ` /*#${eol}"*/ `,
];

/** The value as a person might write it, with whitespace, comments and trailing commas anywhere. */
const written = (value: Json) =>
  fc
    .record({ seed: fc.infiniteStream(fc.nat()), eol: fc.constantFrom('\n', '\r\n') })
    .map(({ seed, eol }) => {
      let comments = 0;
      const next = () => seed.next().value as number;
      const gap = () => {
        const options = trivia(eol);
        return (options[next() % options.length] as string).replace('#', () => `‹${comments++}›`);
      };
      const list = (open: string, items: string[], close: string) =>
        open + gap() + items.join(',') + (items.length > 0 && next() % 3 === 0 ? `,${gap()}` : '') + close;
      const render = (it: Json): string => {
        if (Array.isArray(it))
          return list(
            '[',
            it.map((item) => gap() + render(item) + gap()),
            ']',
          );
        if (typeof it !== 'object' || it === null) return JSON.stringify(it);
        const members = Object.entries(it).map(
          ([name, member]) => `${gap()}${JSON.stringify(name)}${gap()}:${gap()}${render(member)}${gap()}`,
        );
        return list('{', members, '}');
      };
      return gap() + render(value) + gap();
    });

const document = anyObject.chain((value) => written(value).map((text) => ({ value, text })));

/** A path to an existing member, or to one that could be added. */
function wayInto(value: Json, steps: readonly number[], name: string): Way {
  const way: Way = [];
  let at = value;
  for (const step of steps) {
    if (typeof at !== 'object' || at === null) break;
    const parts = Array.isArray(at) ? at.map((_, index) => index) : Object.keys(at);
    const part = [...parts, Array.isArray(at) ? at.length : name][step % (parts.length + 1)] as
      | string
      | number;
    way.push(part);
    at = childOf(at, part) ?? null;
  }
  return way;
}

function childOf(value: Json, part: string | number): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
  return Object.getOwnPropertyDescriptor(value, part)?.value as Json;
}

/** The same edit on the value alone. */
function applied(value: Json, [part, ...rest]: Way, next: Json | undefined): Json {
  if (part === undefined) return next as Json;
  const child = childOf(value, part);
  const changed = rest.length === 0 ? next : applied(child as Json, rest, next);
  if (Array.isArray(value)) {
    const copy = [...value];
    if (changed === undefined) copy.splice(part as number, 1);
    else copy[part as number] = changed;
    return copy;
  }
  const entries = Object.entries(value as object).filter(([name]) => name !== part || changed !== undefined);
  return Object.fromEntries(
    child === undefined || changed === undefined
      ? [...entries, ...(changed === undefined ? [] : [[part, changed]])]
      : entries.map(([name, it]) => [name, name === part ? changed : it]),
  ) as Json;
}

const commentsOf = (text: string): string[] => text.match(/‹\d+›/g) ?? [];

/** The position of a member or of an item of a list. */
function itemAt(text: string, way: Way): { readonly offset: number; readonly length: number } {
  const { root } = readTree(text);
  const parent = valueAt(root, way.slice(0, -1));
  const item = parent?.type === 'object' ? memberNamed(parent, String(way.at(-1))) : valueAt(root, way);
  return item ?? { offset: 0, length: 0 };
}

/** Whether nothing was removed: `whole` contains the characters of `part` in order. */
function isContained(part: string, whole: string): boolean {
  let at = 0;
  for (const character of whole) if (character === part[at]) at++;
  return at >= part.length;
}

const given = fc.record({
  document,
  steps: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
  name: key,
  next: anyValue,
});

test('generated texts parse to their value', () => {
  fc.assert(
    fc.property(document, ({ value, text }) => {
      expect(parseJsonc(text).faults).toEqual([]);
      expect(parseJsonc(text).value).toEqual(value);
    }),
  );
});

test('setting a value changes nothing else', () => {
  fc.assert(
    fc.property(given, ({ document: { value, text }, steps, name, next }) => {
      const way = wayInto(value, steps, name);
      const after = editText(text, [{ path: way, value: next }]);
      expect(parseJsonc(after)).toMatchObject({ faults: [], duplicates: [] });
      expect(parseJsonc(after).value).toEqual(applied(value, way, next));
      const parent = way.slice(0, -1).reduce<Json>((it, part) => childOf(it, part) as Json, value);
      const isNew = childOf(parent, way.at(-1) as string) === undefined;
      if (!isNew) return;
      expect(commentsOf(after)).toEqual(commentsOf(text));
      const isEmpty = Object.keys(parent as object).length === 0;
      // Whitespace in an empty object may be replaced.
      const bare = (it: string) => (isEmpty ? it.replaceAll(/\s/g, '') : it);
      expect(isContained(bare(text), bare(after))).toBe(true);
    }),
    { numRuns: 400 },
  );
});

test('removing a value keeps comments outside of it', () => {
  fc.assert(
    fc.property(given, ({ document: { value, text }, steps, name }) => {
      const way = wayInto(value, steps, name);
      const after = editText(text, [{ path: way, value: undefined }]);
      expect(parseJsonc(after).faults).toEqual([]);
      expect(parseJsonc(after).value).toEqual(applied(value, way, undefined));
      expect(isContained(after, text)).toBe(true);
      const { offset, length } = itemAt(text, way);
      const around = [...commentsOf(text.slice(0, offset)), ...commentsOf(text.slice(offset + length))];
      expect(commentsOf(after)).toEqual(around);
    }),
    { numRuns: 400 },
  );
});

test('replacing a scalar keeps the surrounding text', () => {
  fc.assert(
    fc.property(anyObject, fc.string(), fc.string(), (value, before, after) => {
      const whole = { ...value, target: before };
      const text = `// c\r\n${JSON.stringify(whole, null, 3)} /* d */`;
      const expected = `// c\r\n${JSON.stringify({ ...value, target: after }, null, 3)} /* d */`;
      expect(editText(text, [{ path: ['target'], value: after }])).toBe(expected);
    }),
  );
});

test('adding and removing a value keeps the comments and the value', () => {
  fc.assert(
    fc.property(document, anyValue, ({ value, text }, next) => {
      const added = editText(text, [{ path: ['one more'], value: next }]);
      const after = editText(added, [{ path: ['one more'], value: undefined }]);
      expect(parseJsonc(after)).toMatchObject({ faults: [], value });
      expect(commentsOf(after)).toEqual(commentsOf(text));
    }),
  );
});
