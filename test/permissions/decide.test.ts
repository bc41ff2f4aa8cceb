import { describe, expect, test } from 'vitest';
import { decide, type Situation } from '../../src/permissions/decide.ts';
import type { ToolCall } from '../../src/permissions/match.ts';
import { bash, file, mcpCall, rule, situation } from './situation.ts';

const tool = mcpCall('s', 't');
const allow = rule('mcp__s', 'allow');
const ask = rule('mcp__s', 'ask');
const deny = rule('mcp__s', 'deny');
const policyAsk = rule('mcp__s', 'ask', 'policySettings');
const serverAsk = rule('mcp__s__t', 'ask', 'serverPolicy');
const reads = { readOnlyHint: true };
const bypass = { mode: 'bypassPermissions', bypassLaunched: true } as const;

describe('rules', () => {
  test.each<[string, Partial<Situation>, string]>([
    ['nothing said', {}, 'ask'],
    ['allow', { rules: [allow] }, 'allow'],
    ['ask over allow', { rules: [allow, ask] }, 'ask'],
    ['deny over ask and allow', { rules: [allow, ask, deny] }, 'deny'],
    ['deny over a trusted reader', { rules: [deny], trusted: true, annotations: reads }, 'deny'],
    ['ask over a trusted reader', { rules: [ask], trusted: true, annotations: reads }, 'ask'],
    ['allow over destructive', { rules: [allow], annotations: { destructiveHint: true } }, 'allow'],
    ['allow in plan', { rules: [allow], mode: 'plan' }, 'allow'],
    ['a rule about another tool', { rules: [rule('mcp__other', 'allow')] }, 'ask'],
    ['a person is needed', { rules: [allow], needsPerson: true }, 'ask'],
    ['a person is needed, deny rule', { rules: [deny], needsPerson: true }, 'deny'],
    ['a person is needed, bypassing', { needsPerson: true, ...bypass }, 'ask'],
    ['a person is needed, dontAsk', { rules: [allow], needsPerson: true, mode: 'dontAsk' }, 'deny'],
  ])('%s', (_, changes, kind) => {
    expect(decide(situation(tool, changes)).kind).toBe(kind);
  });
});

describe('rules for paths and shell commands', () => {
  const cat = bash('ls && cat .env');
  const bashRule = rule('Bash', 'allow');
  test.each<[string, Partial<Situation>, string]>([
    ['a denied read', { rules: [bashRule, rule('Read(./.env)', 'deny')] }, 'deny'],
    ['a denied read, bypassing', { rules: [rule('Read(./.env)', 'deny')], ...bypass }, 'deny'],
    ['a read that requires approval', { rules: [bashRule, rule('Read(./.env)', 'ask')] }, 'ask'],
    ['a denied write', { rules: [bashRule, rule('Edit(./.env)', 'deny')] }, 'allow'],
    ['another path', { rules: [bashRule, rule('Read(./env)', 'deny')] }, 'allow'],
    ['the whole tool', { rules: [bashRule, rule('Read', 'deny')] }, 'allow'],
    ['an allowed read', { rules: [rule('Read(./.env)', 'allow')] }, 'ask'],
  ])('%s', (_, changes, kind) => {
    expect(decide(situation(cat, changes)).kind).toBe(kind);
  });
});

describe('blocked outside of the workspace', () => {
  const both = { reads: true, writes: true } as const;
  const allowed = [rule('Read', 'allow', 'userSettings'), rule('Edit', 'allow', 'userSettings')];
  test.each<[string, ToolCall, Partial<Situation>, string]>([
    ['a read', file('Read', '/etc/x'), { rules: allowed, blocksOutside: both }, 'deny'],
    ['a read, bypassing', file('Read', '/etc/x'), { blocksOutside: both, ...bypass }, 'deny'],
    ['a search', { name: 'Grep', input: { path: '/etc' } }, { ...bypass, blocksOutside: both }, 'deny'],
    ['a write', file('Edit', '/etc/x'), { rules: allowed, blocksOutside: both }, 'deny'],
    [
      'a write, only reads are blocked',
      file('Edit', '/etc/x'),
      { rules: allowed, blocksOutside: { reads: true } },
      'allow',
    ],
    [
      'a read, only writes are blocked',
      file('Read', '/etc/x'),
      { rules: allowed, blocksOutside: { writes: true } },
      'allow',
    ],
    ['a read inside', file('Read', '/extra/x'), { rules: allowed, blocksOutside: both }, 'allow'],
    [
      'a file of the session',
      file('Read', '/s/x'),
      { rules: [rule('Read(//s)', 'allow')], blocksOutside: both },
      'allow',
    ],
  ])('%s', (_, call, changes, kind) => {
    expect(decide(situation(call, changes)).kind).toBe(kind);
  });
});

describe('modes', () => {
  test.each<[string, Situation, string]>([
    ['auto is default', situation(tool, { mode: 'auto' }), 'ask'],
    ['dontAsk denies', situation(tool, { mode: 'dontAsk' }), 'deny'],
    ['dontAsk obeys allow rules', situation(tool, { mode: 'dontAsk', rules: [allow] }), 'allow'],
    ['dontAsk turns ask rules to denials', situation(tool, { mode: 'dontAsk', rules: [ask] }), 'deny'],
    [
      'dontAsk lets readers run',
      situation(file('Read', 'a'), { mode: 'dontAsk', annotations: reads }),
      'allow',
    ],
    ['bypass allows', situation(tool, bypass), 'allow'],
    ['bypass without its flag asks', situation(tool, { mode: 'bypassPermissions' }), 'ask'],
    ['the flag alone changes nothing', situation(tool, { bypassLaunched: true }), 'ask'],
    ['bypass never skips deny', situation(tool, { ...bypass, rules: [deny] }), 'deny'],
    ['bypass skips own ask rules', situation(tool, { ...bypass, rules: [ask] }), 'allow'],
    ['bypass obeys policy', situation(tool, { ...bypass, rules: [policyAsk] }), 'ask'],
    ['bypass obeys server policy', situation(tool, { ...bypass, rules: [serverAsk] }), 'ask'],
    ['bypass allows outside', situation(file('Write', '/etc/x'), bypass), 'allow'],
    ['plan denies writers', situation(file('Write', 'a'), { mode: 'plan' }), 'deny'],
    ['plan denies unknown tools', situation(tool, { mode: 'plan' }), 'deny'],
    ['plan denies an untrusted reader', situation(tool, { mode: 'plan', annotations: reads }), 'deny'],
    ['plan reads', situation(file('Read', 'a'), { mode: 'plan', annotations: reads }), 'allow'],
    [
      'plan asks to read outside',
      situation(file('Read', '/etc/x'), { mode: 'plan', annotations: reads }),
      'ask',
    ],
    ['a tool that never needs approval runs', situation(tool, { trusted: true, approval: 'never' }), 'allow'],
    ['also in plan', situation(tool, { mode: 'plan', trusted: true, approval: 'never' }), 'allow'],
    ['also in dontAsk', situation(tool, { mode: 'dontAsk', trusted: true, approval: 'never' }), 'allow'],
    ['an ask rule wins over it', situation(tool, { approval: 'never', rules: [ask] }), 'ask'],
    ['a deny rule wins over it', situation(tool, { approval: 'never', rules: [deny] }), 'deny'],
    ['one that needs it in plan runs', situation(tool, { approval: 'in-plan-mode' }), 'allow'],
    ['and is denied in plan', situation(tool, { mode: 'plan', approval: 'in-plan-mode' }), 'deny'],
    ['default asks to write', situation(file('Write', 'a')), 'ask'],
    ['acceptEdits edits', situation(file('Edit', 'a'), { mode: 'acceptEdits' }), 'allow'],
    ['acceptEdits writes', situation(file('Write', '/w/a'), { mode: 'acceptEdits' }), 'allow'],
    ['acceptEdits in added places', situation(file('Write', '/extra/a'), { mode: 'acceptEdits' }), 'allow'],
    ['acceptEdits outside', situation(file('Write', '../a'), { mode: 'acceptEdits' }), 'ask'],
    ['acceptEdits of a neighbour', situation(file('Write', '/wide/a'), { mode: 'acceptEdits' }), 'ask'],
    ['acceptEdits of .git', situation(file('Write', '.git/hooks/x'), { mode: 'acceptEdits' }), 'ask'],
    ['acceptEdits of .mcp.json', situation(file('Edit', '.mcp.json'), { mode: 'acceptEdits' }), 'ask'],
    ['acceptEdits without a path', situation({ name: 'Edit', input: {} }, { mode: 'acceptEdits' }), 'ask'],
    ['acceptEdits is not about Bash', situation(bash('touch a'), { mode: 'acceptEdits' }), 'ask'],
    ['a command that only reads', situation(bash('ls'), { effect: 'reads' }), 'allow'],
    ['in plan', situation(bash('ls'), { effect: 'reads', mode: 'plan' }), 'allow'],
    ['in dontAsk', situation(bash('ls'), { effect: 'reads', mode: 'dontAsk' }), 'allow'],
    [
      'that a rule asks about',
      situation(bash('ls'), { effect: 'reads', rules: [rule('Bash(ls)', 'ask')] }),
      'ask',
    ],
    [
      'that may read what a rule denies',
      situation(bash('grep -r x .'), { effect: 'reads', rules: [rule('Read(.env)', 'deny')] }),
      'ask',
    ],
    ['a command that edits', situation(bash('touch a'), { effect: 'edits' }), 'ask'],
    ['in acceptEdits', situation(bash('touch a'), { effect: 'edits', mode: 'acceptEdits' }), 'allow'],
    ['in plan', situation(bash('touch a'), { effect: 'edits', mode: 'plan' }), 'deny'],
    ['in dontAsk', situation(bash('touch a'), { effect: 'edits', mode: 'dontAsk' }), 'deny'],
    [
      'that a rule asks about, in acceptEdits',
      situation(bash('touch a'), { effect: 'edits', mode: 'acceptEdits', rules: [rule('Bash', 'ask')] }),
      'ask',
    ],
    ['acceptEdits is not about MCP', situation(tool, { mode: 'acceptEdits' }), 'ask'],
    [
      'acceptEdits asks where a rule asks',
      situation(file('Edit', 'a'), { mode: 'acceptEdits', rules: [rule('Edit', 'ask')] }),
      'ask',
    ],
  ])('%s', (_, given, kind) => {
    expect(decide(given).kind).toBe(kind);
  });
});

describe('annotations', () => {
  test.each<[string, Partial<Situation>, string, string]>([
    ['R164 trusted reader', { trusted: true, annotations: reads }, 'allow', 'readOnlyHint'],
    ['R164 C14 untrusted reader', { annotations: reads }, 'ask', 'readOnlyHint'],
    ['a reader in doubt', { trusted: true, annotations: reads, doubt: 'x' }, 'ask', 'readOnlyHint'],
    ['trusted, nothing said', { trusted: true }, 'ask', 'destructiveHint'],
    [
      'trusted, not read-only',
      { trusted: true, annotations: { readOnlyHint: false } },
      'ask',
      'destructiveHint',
    ],
    ['trusted, harmless', { trusted: true, annotations: { destructiveHint: false } }, 'ask', 'readOnlyHint'],
    [
      'trusted, contradictory',
      { trusted: true, annotations: { ...reads, destructiveHint: true } },
      'ask',
      'destructiveHint',
    ],
  ])('%s', (_, changes, kind, annotation) => {
    expect(decide(situation(tool, changes))).toMatchObject({ kind, reason: { annotation } });
  });
});

test('a decision names its rule, and dontAsk the reason for asking', () => {
  expect(decide(situation(tool, { rules: [deny] })).reason).toEqual({
    rule: deny,
    text: 'deny rule "mcp__s" of session',
  });
  expect(decide(situation(tool, { rules: [ask], mode: 'dontAsk' })).reason).toEqual({
    rule: ask,
    mode: 'dontAsk',
    text: 'mode dontAsk denies calls that require approval: ask rule "mcp__s" of session',
  });
});

describe('a tool that differs from the accepted definition', () => {
  const changed = { text: 'it changed', remedy: 'do this' };
  const asked = {
    changed: { remedy: 'do this' },
    text: `the definition of ${tool.name} is not accepted; it changed`,
  };
  test.each<[string, Partial<Situation>, string, object]>([
    ['no rule', {}, 'ask', { mode: 'default', ...asked }],
    ['an allow rule', { rules: [allow] }, 'ask', { mode: 'default', ...asked }],
    ['a trusted reader', { trusted: true, annotations: reads }, 'ask', { mode: 'default', ...asked }],
    ['a deny rule', { rules: [deny, allow] }, 'deny', { rule: deny }],
    [
      'an ask rule',
      { rules: [ask, allow] },
      'ask',
      { rule: ask, changed: { remedy: 'do this' }, text: 'ask rule "mcp__s" of session; it changed' },
    ],
    [
      'one that needs a person',
      { needsPerson: true },
      'ask',
      { ...asked, annotation: 'requiresUserInteraction' },
    ],
    ['acceptEdits', { mode: 'acceptEdits' }, 'ask', asked],
    [
      'bypassing',
      { mode: 'bypassPermissions', bypassLaunched: true },
      'allow',
      { mode: 'bypassPermissions' },
    ],
    ['bypassing that was not launched', { mode: 'bypassPermissions' }, 'ask', asked],
    ['plan, a trusted reader', { mode: 'plan', trusted: true, annotations: reads }, 'deny', { mode: 'plan' }],
    ['plan, an allow rule', { mode: 'plan', rules: [allow] }, 'ask', asked],
    [
      'dontAsk',
      { mode: 'dontAsk', rules: [allow] },
      'deny',
      { text: `mode dontAsk denies calls that require approval: ${asked.text}; do this` },
    ],
  ])('%s', (_, changes, kind, reason) => {
    expect(decide(situation(tool, { changed, ...changes }))).toMatchObject({ kind, reason });
  });
});

describe('a tool that is new at an accepted server', () => {
  const changed = { text: 'it is new', remedy: 'do this', isNew: true };
  const alias = mcpCall('s', 't', 'mcp__s__t_1234abcd');
  test.each<[string, typeof tool, Partial<Situation>, string]>([
    ['nothing said', tool, {}, 'ask'],
    ['a rule for the server', tool, { rules: [allow] }, 'ask'],
    ['a pattern', tool, { rules: [rule('mcp__s__*', 'allow')] }, 'ask'],
    ['a pattern of any server', tool, { rules: [rule('mcp__*', 'allow')] }, 'ask'],
    ['a rule that names it', tool, { rules: [allow, rule('mcp__s__t', 'allow')] }, 'allow'],
    ['a rule that names it, in CI', tool, { rules: [rule('mcp__s__t', 'allow')], mode: 'dontAsk' }, 'allow'],
    ['a rule that names it, in plan', tool, { rules: [rule('mcp__s__t', 'allow')], mode: 'plan' }, 'allow'],
    [
      'a rule that names it as its server does',
      mcpCall('my s', 'a.b'),
      { rules: [rule('mcp__my s__a.b', 'allow')] },
      'allow',
    ],
    ['a rule on its alias', alias, { rules: [rule('mcp__s__t_1234abcd', 'allow')] }, 'allow'],
    [
      'a rule that could mean another',
      { ...mcpCall('a', 'b__c'), servers: ['a', 'a__b'] },
      { rules: [rule('mcp__a__b__c', 'allow')] },
      'ask',
    ],
    ['a rule that names it, and an ask rule', tool, { rules: [rule('mcp__s__t', 'allow'), ask] }, 'ask'],
    ['a rule that names it, and a deny rule', tool, { rules: [rule('mcp__s__t', 'allow'), deny] }, 'deny'],
    ['a trusted reader', tool, { trusted: true, annotations: reads }, 'ask'],
    ['bypassing', tool, bypass, 'allow'],
    ['nothing said, in CI', tool, { mode: 'dontAsk' }, 'deny'],
  ])('%s', (_, call, changes, kind) => {
    expect(decide(situation(call, { changed, ...changes })).kind).toBe(kind);
  });

  test('the question shows it, and a rule with its name accepts it', () => {
    expect(decide(situation(tool, { changed, rules: [allow] })).reason).toMatchObject({
      changed: { remedy: 'do this' },
      text: `${tool.name} is not accepted yet; it is new`,
    });
    const named = decide(situation(tool, { changed, rules: [rule('mcp__s__t', 'allow')] }));
    expect(named.reason.changed).toBeDefined();
    expect(decide(situation(tool, { changed, ...bypass })).reason.changed).toBeUndefined();
  });
});
