import { expect, test } from 'vitest';
import type { Delegation } from '../../../src/agent/builtins/built-in.ts';
import { TASK } from '../../../src/agent/builtins/task.ts';
import { call, directoryWith, done, failed, worldIn } from './built-in-world.ts';

const AGENTS = { scout: { description: 'looks around' }, smith: { description: 'makes things' } };
const WORK = { description: 'find it', prompt: 'Find the place.' };

test.each<[string, Record<string, unknown>, Delegation]>([
  ['as its kind is', {}, { ...WORK, type: 'scout' }],
  ['with another model', { model: 'small' }, { ...WORK, type: 'scout', model: 'small' }],
])('the work is delegated %s, and what comes of it is the outcome', async (_, input, delegation) => {
  const asked: unknown[] = [];
  const world = worldIn(directoryWith(), {
    agents: AGENTS,
    delegate: async (...given) => {
      asked.push(given);
      return done('It is there.');
    },
  });
  const { signal } = new AbortController();
  expect(await TASK.run({ ...WORK, subagent_type: 'scout', ...input }, world, signal)).toEqual(
    done('It is there.'),
  );
  expect(asked).toEqual([[delegation, signal]]);
});

test.each([
  ['sage', AGENTS, 'Unknown subagent_type "sage". Available: scout (looks around), smith (makes things)'],
  ['toString', {}, 'Unknown subagent_type "toString". This session has no sub-agents.'],
])('an unknown kind is answered with those there are: %s', async (type, agents, fault) => {
  const world = worldIn(directoryWith(), { agents });
  expect(await call(TASK, { ...WORK, subagent_type: type }, world)).toEqual(failed(fault));
});

test('sub-agents may run side by side', () => {
  expect(TASK.concurrency).toBe('others');
});
