import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fingerprint } from '../../../src/pool/pinning/definition.ts';
import { reversed, taking, tool, tools } from './tools.ts';

test('the order of members makes no difference, also after conversion to JSON', () => {
  fc.assert(
    fc.property(tools, (it) => {
      expect(fingerprint(reversed(it))).toBe(fingerprint(it));
      expect(fingerprint(JSON.parse(JSON.stringify(it)))).toBe(fingerprint(it));
      expect(fingerprint(it)).toMatch(/^[0-9a-f]{64}$/);
    }),
  );
});

test.each([
  ['name', tool({ name: 'seek' })],
  ['title', tool({ title: 'Find' })],
  ['description', tool({ description: 'Finds issues. ' })],
  ['an added parameter', taking({ a: {} })],
  ['output schema', tool({ outputSchema: { type: 'object' } })],
  ['annotations', tool({ annotations: { readOnlyHint: true } })],
  ['a claim that is false', tool({ annotations: { readOnlyHint: false } })],
  ['_meta that hosts act on', tool({ _meta: { 'anthropic/requiresUserInteraction': true } })],
])('another one for another %s', (_, changed) => {
  expect(fingerprint(changed)).not.toBe(fingerprint(tool()));
});

test.each([
  ['icons', tool({ icons: [{ src: 'https://x/y.png' }] }), tool()],
  ['_meta that nothing acts on', tool({ _meta: { 'com.example/version': 7 } }), tool()],
  ['annotations that say nothing', tool({ annotations: {} }), tool()],
  ['the order of required names', taking({ a: {}, b: {} }, 'a', 'b'), taking({ a: {}, b: {} }, 'b', 'a')],
  ['the order of an enum', taking({ a: { enum: ['x', 'y'] } }), taking({ a: { enum: ['y', 'x'] } })],
])('the same in spite of %s', (_, one, other) => {
  expect(fingerprint(one)).toBe(fingerprint(other));
});

test('lists whose order has a meaning are different', () => {
  const [one, other] = [
    ['a', 'b'],
    ['b', 'a'],
  ].map((it) => taking({ a: { prefixItems: it } }));
  expect(fingerprint(one as never)).not.toBe(fingerprint(other as never));
});
