import { describe, expect, test } from 'vitest';
import { canReadResults, withReadableResults } from '../../../src/agent/session/session-context.ts';
import { decide } from '../../../src/permissions/decide.ts';
import { memoryRuleStore } from '../../../src/permissions/rule-store.ts';
import { allow, asks, deny } from '../../support/drive.ts';

describe('session context', () => {
  const workspace = { cwd: '/w', home: '/h', directories: [] };
  const READS = { annotations: { readOnlyHint: true } };

  function decided(name: string, path: string, rules = allow('Bash(ls)')) {
    const given = memoryRuleStore({ rules, modes: {}, directories: [] });
    const store = withReadableResults(given, ['/t/tool*results', '/t/earlier'], workspace);
    const input = name === 'Grep' || name === 'Glob' ? { path } : { file_path: path };
    const call = { name, input };
    const { kind } = decide({
      call,
      rules: store.current().rules,
      mode: 'default',
      bypassLaunched: false,
      trusted: true,
      ...(name === 'Write' || name === 'Edit' ? {} : READS),
      workspace,
    });
    return kind;
  }

  test.each([
    ['Read', '/t/tool*results/a.txt', 'allow'],
    ['Read', '/t/earlier/a.txt', 'allow'],
    ['Grep', '/t/tool*results', 'allow'],
    ['Glob', '/t/tool*results', 'allow'],
    ['Read', '/t/tool*results/../other', 'ask'],
    ['Read', '/t/tool-results/a.txt', 'ask'],
    ['Read', '/t/tool*results2/a.txt', 'ask'],
    ['Write', '/t/tool*results/a.txt', 'ask'],
    ['Edit', '/t/tool*results/a.txt', 'ask'],
  ])('%s of %s: %s', (name, path, expected) => {
    expect(decided(name, path)).toBe(expected);
  });

  test('deny and ask rules of users win over it', () => {
    expect(decided('Read', '/t/tool*results/a.txt', deny('Read(//t/**)'))).toBe('deny');
    expect(decided('Read', '/t/tool*results/a.txt', asks('Read'))).toBe('ask');
  });

  test('it survives every change, and unchanged rules are the same object', async () => {
    const given = memoryRuleStore({ rules: allow('Bash(ls)'), modes: {}, directories: [] });
    const store = withReadableResults(given, ['/t'], workspace);
    const first = store.current();
    expect(store.current().rules).toBe(first.rules);
    await store.apply([{ type: 'setMode', mode: 'plan', destination: 'session' }]);
    expect(store.current().rules).toBe(first.rules);
    expect(store.current().modes).toEqual({ session: 'plan' });
    const destination = 'session' as const;
    await store.apply([{ type: 'replaceRules', behavior: 'allow', rules: [], destination }]);
    expect(store.current().rules.map(({ tool, content }) => [tool, content])).toEqual([
      ['Bash', 'ls'],
      ['Read', '//t'],
    ]);
  });

  test.each([
    [allow('Read'), true],
    [asks('Read'), true],
    [deny('Read(//t/other/**)'), true],
    [deny('Write(//t/**)'), true],
    [deny('Read'), false],
    [deny('Read(//t/**)'), false],
    [deny('Read(//t/results/*.txt)'), false],
  ])('rules %j: stored results may be read: %s', (rules, expected) => {
    expect(canReadResults(rules, '/t/results', workspace)).toBe(expected);
  });
});
