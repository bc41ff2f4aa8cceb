import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide, type Situation } from '../../src/permissions/decide.ts';
import { PERMISSION_MODES } from '../../src/protocol/permission.ts';
import { bash, file, mcpCall, rule, situation } from './situation.ts';

const tool = mcpCall('s', 't');
const calls = fc.constantFrom(
  tool,
  bash('ls && rm x'),
  bash('git log'),
  file('Read', 'a'),
  file('Edit', '/etc/x'),
);
const texts = fc.constantFrom(
  'mcp__s',
  'mcp__s__*',
  'mcp__*',
  'Bash',
  'Bash(rm:*)',
  'Bash(git log:*)',
  'Read',
  'Edit(./**)',
);
const rules = fc.array(
  fc
    .tuple(
      texts,
      fc.constantFrom('allow', 'ask', 'deny'),
      fc.constantFrom('session', 'policySettings', 'serverPolicy'),
    )
    .map(([text, effect, source]) => rule(text, effect, source)),
);
const situations = fc
  .record({
    call: calls,
    rules,
    mode: fc.constantFrom(...PERMISSION_MODES),
    bypassLaunched: fc.boolean(),
    trusted: fc.boolean(),
    needsPerson: fc.boolean(),
    isChanged: fc.boolean(),
    annotations: fc.record(
      { readOnlyHint: fc.boolean(), destructiveHint: fc.boolean() },
      { requiredKeys: [] },
    ),
  })
  .map(({ call, isChanged, ...changes }) =>
    situation(call, { ...changes, ...(isChanged && { changed: { text: 'it changed' } }) }),
  );

const wholeTool = (given: Situation) => given.call.name;

test('a deny rule always wins', () => {
  fc.assert(
    fc.property(situations, (given) => {
      const denied = { ...given, rules: [...given.rules, rule(wholeTool(given), 'deny')] };
      expect(decide(denied).kind).toBe('deny');
    }),
  );
});

test('one more allow rule never makes a decision stricter', () => {
  const strictness = { allow: 0, ask: 1, deny: 2 };
  fc.assert(
    fc.property(situations, texts, (given, text) => {
      const more = { ...given, rules: [...given.rules, rule(text, 'allow')] };
      expect(strictness[decide(more).kind]).toBeLessThanOrEqual(strictness[decide(given).kind]);
    }),
  );
});

test('dontAsk never asks, and every decision has a reason', () => {
  fc.assert(
    fc.property(situations, (given) => {
      expect(decide({ ...given, mode: 'dontAsk' }).kind).not.toBe('ask');
      const { reason } = decide(given);
      expect(reason.text).not.toBe('');
      expect(reason.rule ?? reason.mode ?? reason.annotation).toBeDefined();
    }),
  );
});

test('without trust, annotations change nothing about what is allowed', () => {
  fc.assert(
    fc.property(situations, (given) => {
      const { annotations: _, ...silent } = { ...given, trusted: false };
      expect(decide({ ...given, trusted: false }).kind).toBe(decide(silent).kind);
    }),
  );
});

test('a changed tool is allowed only in bypassPermissions, and the question describes the change', () => {
  fc.assert(
    fc.property(situations, (given) => {
      const { kind, reason } = decide({ ...given, changed: { text: 'it changed' } });
      const isBypassed = given.mode === 'bypassPermissions' && given.bypassLaunched;
      if (kind === 'allow') expect(isBypassed).toBe(true);
      if (kind !== 'ask') return;
      expect(reason.changed).toEqual({});
      expect(reason.text).toMatch(/; it changed$/);
    }),
  );
});

test('a change of a tool never relaxes a decision', () => {
  const strictness = { allow: 0, ask: 1, deny: 2 };
  fc.assert(
    fc.property(situations, ({ changed: _, ...given }) => {
      const after = decide({ ...given, changed: { text: 'it changed' } });
      expect(strictness[after.kind]).toBeGreaterThanOrEqual(strictness[decide(given).kind]);
    }),
  );
});
