import { expect, test } from 'vitest';
import { chainTo } from '../../../src/agent/transcript/chain.ts';
import { said } from '../loop/conversations.ts';
import { bodies, linked } from './sessions.ts';

const four = bodies([said('0'), said('1'), said('2'), said('3')]);

test.each([
  ['a line of entries', {}, 'e3', ['e0', 'e1', 'e2', 'e3'], []],
  ['not what comes after', {}, 'e1', ['e0', 'e1'], []],
  ['one branch of two', { 2: 'e0' }, 'e3', ['e0', 'e2', 'e3'], []],
  ['the other branch', { 2: 'e0', 3: 'e1' }, 'e3', ['e0', 'e1', 'e3'], []],
  ['a second start', { 2: null }, 'e3', ['e2', 'e3'], []],
  ['past a lost parent', { 2: 'gone' }, 'e3', ['e0', 'e1', 'e2', 'e3'], ['e2']],
  ['past a parent that comes later', { 1: 'e3' }, 'e3', ['e0', 'e1', 'e2', 'e3'], ['e1']],
  ['past an entry that is its own parent', { 0: 'e0' }, 'e1', ['e0', 'e1'], ['e0']],
])('the way back follows %s', (_, parents, to, ids, orphans) => {
  const chain = chainTo(linked(four, parents), to);
  expect(chain?.entries.map(({ uuid }) => uuid)).toEqual(ids);
  expect(chain?.orphans.map(({ uuid }) => uuid)).toEqual(orphans);
});

test('there is no way to an entry that is not there', () => {
  expect(chainTo(linked(four), 'e9')).toBeUndefined();
});
