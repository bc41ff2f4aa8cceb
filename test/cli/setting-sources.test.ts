import { Command } from 'commander';
import { expect, test } from 'vitest';
import { defineExplain } from '../../src/cli/explain.ts';
import { settingSources } from '../../src/cli/setting-sources.ts';

test.each<[string, string[]]>([
  ['user', ['user']],
  ['user,project, local', ['user', 'project', 'local']],
  ['user local', ['user', 'local']],
  ['', []],
])('%j is %j', (text, scopes) => {
  expect(settingSources(text)).toEqual(scopes);
});

test('explain refuses what a run would refuse, with what may be meant', () => {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  defineExplain(program.command('explain'));
  const words = ['explain', 'server', '--setting-sources', 'usr'];
  expect(() => program.parse(words, { from: 'user' })).toThrow(/did you mean user\?/);
});
