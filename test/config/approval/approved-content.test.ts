import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { approvablePart, hashContent } from '../../../src/config/approval/approved-content.ts';

describe('hashContent', () => {
  test('ignores the order of members, but not of lists', () => {
    expect(hashContent({ a: 1, b: { c: 2, d: 3 } })).toBe(hashContent({ b: { d: 3, c: 2 }, a: 1 }));
    expect(hashContent({ args: ['a', 'b'] })).not.toBe(hashContent({ args: ['b', 'a'] }));
    expect(hashContent({ type: ['a', 'b'] })).not.toBe(hashContent({ type: ['b', 'a'] }));
  });

  test.each([
    ['a number and its text', { timeout: 1 }, { timeout: '1' }],
    ['a member and none', { a: null }, {}],
    ['an object and a list', {}, []],
    ['an object and the pairs of it', { a: 1 }, { members: [['a', 1]] }],
    ['a member called __proto__', JSON.parse('{"__proto__":{"command":"x"}}'), {}],
  ])('distinguishes %s', (_, one, other) => {
    expect(hashContent(one)).not.toBe(hashContent(other));
  });

  test('equal hashes mean equal JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const isSame = hashContent(one) === hashContent(other);
        expect(isSame).toBe(JSON.stringify(sorted(one)) === JSON.stringify(sorted(other)));
      }),
    );
  });

  test('gives no hash for deep nesting instead of crashing', () => {
    let deep: unknown = 1;
    for (let n = 0; n < 200_000; n++) deep = [deep];
    expect(hashContent(deep)).toBeUndefined();
  });

  function sorted(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    // The list is wrapped in an object, so that an empty object differs from an empty list.
    const members = Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, it]) => ({ name, it: sorted(it) }));
    return { members };
  }
});

describe('approvablePart', () => {
  test.each([
    ['nothing', {}, undefined],
    ['what says what the file is', { version: 1, $schema: 'x', mcpServers: { a: {} } }, undefined],
    ['deny and ask rules', { permissions: { deny: ['Bash'], ask: ['Read'] } }, undefined],
    ['less bypassing', { permissions: { disableBypassPermissionsMode: 'disable' } }, undefined],
    ['an allow rule', { permissions: { deny: ['A'], allow: ['B'] } }, { permissions: { allow: ['B'] } }],
    ['a mode', { permissions: { defaultMode: 'plan' } }, { permissions: { defaultMode: 'plan' } }],
    ['hooks and env', { hooks: {}, env: {} }, { hooks: {}, env: {} }],
    ['servers turned off', { serverSettings: { a: { disabled: true, excludeTools: ['x'] } } }, undefined],
    [
      'servers turned on, or trusted',
      { serverSettings: { a: { disabled: false, excludeTools: [] }, b: { disabled: true, trust: true } } },
      { serverSettings: { a: { disabled: false }, b: { trust: true } } },
    ],
    ['an unknown key', { other: 1 }, { other: 1 }],
    ['odd shapes', { permissions: 1, serverSettings: [1] }, { permissions: 1, serverSettings: [1] }],
  ])('%s', (_, value, part) => {
    expect(approvablePart(value)).toEqual(part);
  });
});
