import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hrefOf, toldOf } from '../../../src/mcp/features/told-of.ts';

test.each([
  ['note://1', 'note://1', true],
  ['note://1', 'note://12', false],
  ['note://1', 'note://1/part', true],
  ['note://1/', 'note://1/part', true],
  ['note://1/part', 'note://1', false],
  ['file:///a b', 'file:///a%20b', true],
  ['http://HOST', 'http://host/', true],
  ['note://1', 'note:', false],
  ['no address', 'no address', true],
  ['no address', 'another', false],
  ['no address', 'no address/part', true],
])('who subscribed to %j and a change of %j: %s', (subscribed, changed, isTold) => {
  expect(toldOf([hrefOf(changed)])(hrefOf(subscribed))).toBe(isTold);
});

test('of many changes, who subscribed hears as of each alone', () => {
  const href = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '0'), maxLength: 6 });
  fc.assert(
    fc.property(fc.array(href), href, (changed, subscribed) => {
      const within = subscribed.endsWith('/') ? subscribed : `${subscribed}/`;
      const isTold = changed.some((it) => it === subscribed || it.startsWith(within));
      expect(toldOf(changed)(subscribed)).toBe(isTold);
    }),
    { numRuns: 500 },
  );
});
