import { expect, test } from 'vitest';
import type { Call } from '../../../src/cli/chat/call-log.ts';
import { explain } from '../../../src/cli/chat/explain.ts';
import { text } from './text.ts';

const call = (name: string, more: Partial<Call> = {}): Call => ({
  id: name,
  name,
  input: {},
  isNested: false,
  since: 0,
  outcome: 'ok',
  ...more,
});
const log = (...calls: Call[]) => ({ calls, early: {} });

test.each<[string, Partial<Call>, string[]]>([
  [
    'allowed by a person',
    { asked: { reason: 'it may be destructive' }, verdict: { behavior: 'allow', by: 'you', how: 'always' } },
    ['x: it ran', '  asked: it may be destructive', '  allowed by you, always'],
  ],
  [
    'denied by a rule',
    { outcome: 'denied', verdict: { behavior: 'deny', by: 'agent', reason: 'deny rule "x"' } },
    ['x: it was denied', '  denied by the agent: deny rule "x"'],
  ],
  [
    'denied because nobody was there',
    {
      outcome: 'denied',
      asked: { reason: 'r' },
      verdict: { behavior: 'deny', by: 'nobody', reason: 'Alone.' },
    },
    ['x: it was denied', '  asked: r', '  denied: Alone.'],
  ],
  [
    'not asked about',
    { outcome: 'failed' },
    [
      'x: it failed',
      '  nobody was asked: a rule, the permission mode or a trusted claim allowed it, the agent did not say which',
    ],
  ],
  [
    'asked about now',
    { outcome: 'running', asked: {} },
    [
      'x: it is running',
      '  asked: the agent gave no reason; no rule allowed or denied it',
      '  the question is open',
    ],
  ],
])('a call that was %s', (_, more, lines) => {
  expect(text(explain(log(call('x', more)), 'last'))).toEqual(lines);
});

test('a call is found by its name, by its last part, or as the last one', () => {
  const calls = log(call('mcp__a__one'), call('mcp__b__two'));
  expect(text(explain(calls, 'mcp__a__one'))[0]).toBe('mcp__a__one: it ran');
  expect(text(explain(calls, 'one'))[0]).toBe('mcp__a__one: it ran');
  expect(text(explain(calls, ''))[0]).toBe('mcp__b__two: it ran');
  expect(text(explain(calls, 'three'))).toEqual(['three was not called yet.']);
  expect(text(explain(log(), 'last'))).toEqual(['No tool was called yet.']);
});
