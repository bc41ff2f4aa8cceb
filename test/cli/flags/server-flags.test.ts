import { Command } from 'commander';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { milliseconds } from '../../../src/cli/flags/flag-values.ts';
import { addServerFlags, flagConfigs, splitCommandLine } from '../../../src/cli/flags/server-flags.ts';
import { config } from '../support/real-servers.ts';

describe('server flags', () => {
  const given = (...words: readonly string[]) => {
    const command = addServerFlags(new Command('test'))
      .exitOverride()
      .configureOutput({ writeErr: () => {} });
    return flagConfigs(command.parse(words, { from: 'user' }));
  };

  const BOTH = config({ a: { command: 'x' }, b: { url: 'http://b/mcp' } });

  test('servers are read from files, JSON text and flags', () => {
    expect(
      given('--mcp-config', BOTH, '--mcp-config', 'file.json', '--stdio', "node 'my server.js' -v"),
    ).toEqual([BOTH, 'file.json', config({ server: { command: 'node', args: ['my server.js', '-v'] } })]);
    expect(given('--url', 'http://127.0.0.1:1/mcp')).toEqual([
      config({ server: { url: 'http://127.0.0.1:1/mcp' } }),
    ]);
    expect(given()).toBeUndefined();
  });

  test('variables in --stdio are not expanded again', () => {
    expect(given('--stdio', 'run ${HOME}')).toEqual([
      config({ server: { command: 'run', args: ['$${HOME}'] } }),
    ]);
  });

  test.each([
    [
      'an open quote',
      ['--stdio', 'run --key "secret'],
      /error: --stdio: the " at character 11 is not closed$/,
    ],
    ['no command', ['--stdio', ' '], /--stdio needs a command/],
  ])('%s is rejected', (_, words, message) => {
    expect(() => given(...words)).toThrow(message);
  });

  test.each(['0', '-1', '1.5', 'x', '1e3', ''])('%j is not a number of milliseconds', (text) => {
    expect(() => milliseconds(text)).toThrow('milliseconds');
  });
});

describe('split words', () => {
  test.each([
    ['', []],
    ['  ', []],
    ['node server.js', ['node', 'server.js']],
    ['  a\tb \n c ', ['a', 'b', 'c']],
    [`node "my server.js" 'it is'`, ['node', 'my server.js', 'it is']],
    [`--name="a b"c`, ['--name=a bc']],
    [`"" ''`, ['', '']],
    [String.raw`"say \"hi\" \\ \n"`, [String.raw`say "hi" \ \n`]],
    [String.raw`'no \ escape'`, [String.raw`no \ escape`]],
    [String.raw`a\ b`, ['a b']],
    [String.raw`C:\Tools\node.exe`, [String.raw`C:\Tools\node.exe`]],
  ])('%j is split like a shell does', (line, words) => {
    expect(splitCommandLine(line)).toEqual(words);
  });

  test.each([`"`, `a 'b`])('%s: an unclosed quote is an error', (line) => {
    expect(splitCommandLine(line)).toEqual({ fault: expect.stringContaining('is not closed') });
  });

  test('words in single quotes are unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.string().filter((it) => !it.includes("'"))), (words) => {
        expect(splitCommandLine(words.map((word) => `'${word}'`).join(' '))).toEqual(words);
      }),
    );
  });
});
