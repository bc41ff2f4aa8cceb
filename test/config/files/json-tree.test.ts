import { expect, test } from 'vitest';
import { type JsonNode, memberNamed, readTree, valueAt } from '../../../src/config/files/json-tree.ts';

function rootOf(text: string): JsonNode {
  const { root } = readTree(text);
  if (!root) throw new Error('no root');
  return root;
}

test('looking up every member takes linear time', () => {
  const names = Array.from({ length: 5_000 }, (_, at) => `m${at}`);
  const root = rootOf(`{${names.map((name) => `"${name}": 1`).join()}}`);
  let looks = 0;
  const children = new Proxy(root.children, {
    get(target, key, receiver) {
      if (typeof key === 'string' && /^\d+$/.test(key)) looks++;
      return Reflect.get(target, key, receiver);
    },
  });
  const watched = { ...root, children };
  expect(names.every((name) => memberNamed(watched, name)?.value === name)).toBe(true);
  expect(memberNamed(watched, 'none')).toBeUndefined();
  expect(looks).toBeGreaterThan(0);
  expect(looks).toBeLessThanOrEqual(3 * names.length);
});

test.each([1, 100])('uses the last of duplicate members, beside %i others', (others) => {
  const more = Array.from({ length: others }, (_, at) => `"m${at}": 0`).join();
  const root = rootOf(`{"a": 1, ${more}, "a": 2}`);
  expect(memberNamed(root, 'a')?.children[0]?.value).toBe(2);
  expect(valueAt(root, ['a'])?.value).toBe(2);
  expect(valueAt(root, ['__proto__'])).toBeUndefined();
});
