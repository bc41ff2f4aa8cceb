import { expect, test } from 'vitest';
import { joinTurns } from '../../../src/agent/loop/compact-join.ts';
import { replied, said } from './conversations.ts';

test('prompts in a row become one', () => {
  expect(joinTurns([said('a'), said('b'), replied('c'), said('d')])).toEqual([
    { role: 'user', content: [...said('a').content, ...said('b').content] },
    replied('c'),
    said('d'),
  ]);
});

test('replies in a row stay apart', () => {
  const messages = [said('a'), replied('b'), replied('c')];
  expect(joinTurns(messages)).toEqual(messages);
});
