import { expect, test } from 'vitest';
import { isToldOf } from '../../../../src/host/servers/features/told-of.ts';

test.each([
  ['note://1', 'note://1', true],
  ['note://1', 'note://12', false],
  ['note://1', 'note://1/part', true],
  ['note://1/', 'note://1/part', true],
  ['note://1/part', 'note://1', false],
  ['file:///a b', 'file:///a%20b', true],
  ['http://HOST', 'http://host/', true],
  ['no address', 'no address', true],
  ['no address', 'another', false],
  ['no address', 'no address/part', true],
])('who subscribed to %j and a change of %j: %s', (subscribed, changed, isTold) => {
  expect(isToldOf(subscribed, changed)).toBe(isTold);
});
