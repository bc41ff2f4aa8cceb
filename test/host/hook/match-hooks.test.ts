import { expect, test } from 'vitest';
import { faultyMatchers, matchingHooks } from '../../../src/host/hook/match-hooks.ts';
import type { HookInput } from '../../../src/protocol/hook.ts';
import { callback, preToolUse, prompt, started } from './inputs.ts';

test.each<[string | undefined, HookInput, boolean]>([
  [undefined, preToolUse('Bash'), true],
  ['', preToolUse('Bash'), true],
  ['*', preToolUse('Bash'), true],
  ['Bash', preToolUse('Bash'), true],
  ['Bash', preToolUse('BashOutput'), false],
  ['bash', preToolUse('Bash'), false],
  ['Edit|Write', preToolUse('Write'), true],
  ['Edit | Write', preToolUse('Write'), true],
  ['Edit|Write', preToolUse('NotebookEdit'), false],
  ['mcp__docs__.*', preToolUse('mcp__docs__search'), true],
  ['mcp__.*__write', preToolUse('mcp__a__write_all'), true],
  ['^Bash$', preToolUse('BashOutput'), false],
  ['mcp__my-server__t', preToolUse('mcp__my-server__t'), true],
  ['(', preToolUse('Bash'), true],
])('matcher %j for %j', (matcher, input, expected) => {
  const hook = callback('h', matcher === undefined ? {} : { matcher });
  expect(matchingHooks([hook], input).length === 1).toBe(expected);
});

test('hooks of other events do not run, and matchers compare what the event is about', () => {
  const hooks = [callback('a'), callback('b', { event: 'SessionStart', matcher: 'resume' })];
  expect(matchingHooks(hooks, started('resume'))).toEqual([hooks[1]]);
  expect(matchingHooks(hooks, started('startup'))).toEqual([]);
});

test('an event that is about nothing in particular runs every hook of it', () => {
  expect(matchingHooks([callback('a', { event: 'UserPromptSubmit', matcher: 'Bash' })], prompt)).toHaveLength(
    1,
  );
});

test('matchers that are no expression are reported', () => {
  const hooks = ['(', 'Bash', '', 'a.*', '[z'].map((matcher) => callback('h', { matcher }));
  expect(faultyMatchers(hooks).map(({ matcher }) => matcher)).toEqual(['(', '[z']);
});
