import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type HookEffect, mergeEffects, readHookOutput } from '../../src/hooks/hook-effect.ts';

const specific = (members: object) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...members } });

test.each<[string, unknown, HookEffect]>([
  ['nothing', undefined, {}],
  ['go on', { continue: true }, {}],
  ['asynchronous', { async: true, decision: 'block' }, {}],
  [
    'deny',
    specific({ permissionDecision: 'deny', permissionDecisionReason: 'no' }),
    { decision: 'deny', reason: 'no' },
  ],
  ['defer', specific({ permissionDecision: 'defer' }), { decision: 'defer' }],
  ['block', { decision: 'block', reason: 'no' }, { decision: 'deny', reason: 'no' }],
  ['approve', { decision: 'approve' }, { decision: 'allow' }],
  [
    'input',
    specific({ permissionDecision: 'allow', updatedInput: { a: 2 } }),
    { decision: 'allow', updatedInput: { a: 2 } },
  ],
  [
    'a request decided',
    specific({ decision: { behavior: 'deny', message: 'no' } }),
    { decision: 'deny', reason: 'no' },
  ],
  ['MCP output', specific({ updatedMCPToolOutput: [] }), { updatedOutput: { value: [] } }],
  ['elicitation', specific({ action: 'decline' }), { elicitation: { action: 'decline' } }],
  ['context', specific({ additionalContext: 'c' }), { additionalContext: 'c' }],
  ['stop', { continue: false, stopReason: 'done' }, { stop: 'done' }],
  ['stop without a word', { continue: false }, { stop: 'a hook stopped the agent' }],
])('reads %s', (_, output, effect) => {
  expect(readHookOutput(output)).toEqual(effect);
});

test.each([
  ['a text'],
  [[]],
  [{ decision: 'maybe' }],
  [{ decision: 'toString' }],
  [{ hookSpecificOutput: 'x' }],
  [specific({ updatedInput: [] })],
  [specific({ permissionDecision: 1 })],
  [specific({ decision: { behavior: 'allow', updatedPermissions: [{}] } })],
])('refuses %j', (output) => {
  expect(() => readHookOutput(output)).toThrow();
});

test('effects merge in order', () => {
  expect(
    mergeEffects([
      { decision: 'allow', reason: 'fine', updatedInput: { a: 1 }, additionalContext: 'one' },
      { decision: 'deny', reason: 'no', stop: 'first' },
      { decision: 'ask', reason: 'hm', updatedInput: { a: 2 }, additionalContext: 'two' },
      { decision: 'deny', reason: 'never', stop: 'second' },
    ]),
  ).toEqual({
    decision: 'deny',
    reason: 'no\nnever',
    updatedInput: { a: 2 },
    additionalContext: 'one\ntwo',
    stop: 'first',
  });
  expect(mergeEffects([])).toEqual({});
});

test('the strictest decision wins in any order', () => {
  const rank = { allow: 0, ask: 1, defer: 2, deny: 3 };
  fc.assert(
    fc.property(fc.array(fc.constantFrom('allow', 'ask', 'defer', 'deny'), { minLength: 1 }), (decisions) => {
      const strictest = decisions.toSorted((a, b) => rank[b] - rank[a])[0];
      expect(mergeEffects(decisions.map((decision) => ({ decision }))).decision).toBe(strictest);
    }),
  );
});
