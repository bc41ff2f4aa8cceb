import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { defineExplain } from '../../../src/cli/commands/explain/explain.ts';
import { scopeName, settingSources } from '../../../src/cli/flags/flag-values.ts';
import { transportName } from '../../../src/cli/mcp/given-entry.ts';

describe('one of', () => {
  test.each(['local', 'project', 'user'])('%s is a scope', (scope) => {
    expect(scopeName(scope)).toBe(scope);
  });

  test.each<[(value: string) => string, string, RegExp]>([
    [scopeName, 'proejct', /one of local, project, user; did you mean project\?$/],
    [scopeName, 'global', /did you mean user\?$/],
    [scopeName, 'managed', /one of local, project, user$/],
    [scopeName, 'constructor', /one of local, project, user$/],
    [transportName, 'htpp', /one of stdio, http, sse, ws; did you mean http\?$/],
    [transportName, 'streamable-http', /did you mean http\?$/],
    [transportName, 'sdk', /one of stdio, http, sse, ws/],
  ])('%o: refuses %s with a suggestion', (read, word, message) => {
    expect(() => read(word)).toThrow(message);
  });
});

describe('setting sources', () => {
  test.each<[string, string[]]>([
    ['user', ['user']],
    ['user,project, local', ['user', 'project', 'local']],
    ['user local', ['user', 'local']],
    ['', []],
  ])('%j is %j', (text, scopes) => {
    expect(settingSources(text)).toEqual(scopes);
  });

  test('explain refuses the same scopes as run, with a suggestion', () => {
    const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
    defineExplain(program.command('explain'));
    const words = ['explain', 'server', '--setting-sources', 'usr'];
    expect(() => program.parse(words, { from: 'user' })).toThrow(/did you mean user\?/);
  });
});
