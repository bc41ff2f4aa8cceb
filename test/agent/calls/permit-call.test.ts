import { describe, expect, test } from 'vitest';
import { applyHookDecision } from '../../../src/agent/calls/permit-call.ts';
import type { Decision } from '../../../src/permissions/decide.ts';

describe('combining the decisions of rules and hooks', () => {
  const rule = { tool: 'X', effect: 'ask', source: 'session' } as const;
  const DECISIONS: Record<string, Decision> = {
    allow: { kind: 'allow', reason: { text: 'allowed' } },
    deny: { kind: 'deny', reason: { text: 'denied' } },
    ask: { kind: 'ask', reason: { text: 'asked' } },
    'ask by rule': { kind: 'ask', reason: { rule, text: 'asked' } },
    'ask about a changed tool': { kind: 'ask', reason: { mode: 'default', changed: {}, text: 'asked' } },
    'ask by the tool': { kind: 'ask', reason: { annotation: 'requiresUserInteraction', text: 'asked' } },
  };

  test.each([
    ['allow', undefined, 'allow'],
    ['allow', 'allow', 'allow'],
    ['allow', 'ask', 'ask'],
    ['allow', 'deny', 'deny'],
    ['ask', undefined, 'ask'],
    ['ask', 'allow', 'allow'],
    ['ask', 'ask', 'ask'],
    ['ask', 'deny', 'deny'],
    ['ask by rule', 'allow', 'ask'],
    ['ask by the tool', 'allow', 'ask'],
    ['ask about a changed tool', 'allow', 'ask'],
    ['ask about a changed tool', 'deny', 'deny'],
    ['deny', undefined, 'deny'],
    ['deny', 'allow', 'deny'],
    ['deny', 'ask', 'deny'],
    ['deny', 'deny', 'deny'],
  ] as const)('rules: %s; hook: %s; decision: %s', (decision, hook, expected) => {
    const effect = hook === undefined ? {} : { decision: hook };
    expect(applyHookDecision(DECISIONS[decision] as Decision, effect, 'default').kind).toBe(expected);
  });

  test('the reason of the hook is reported, and mode dontAsk turns its ask into a denial', () => {
    const allow = DECISIONS.allow as Decision;
    const effect = { decision: 'ask' as const, reason: 'are you sure?' };
    expect(applyHookDecision(allow, effect, 'default')).toEqual({
      kind: 'ask',
      reason: { text: 'are you sure?' },
    });
    expect(applyHookDecision(DECISIONS.ask as Decision, effect, 'default').reason.text).toBe('are you sure?');
    expect(applyHookDecision(DECISIONS['ask by rule'] as Decision, effect, 'default').reason.text).toBe(
      'asked',
    );
    expect(applyHookDecision(allow, effect, 'dontAsk')).toEqual({
      kind: 'deny',
      reason: { mode: 'dontAsk', text: 'mode dontAsk denies calls that require approval: are you sure?' },
    });
  });
});
