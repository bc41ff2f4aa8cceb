import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addServerFlags, flagConfigs, milliseconds } from '../../../src/cli/host/server-flags.ts';
import { config } from './real-servers.ts';

const given = (...words: readonly string[]) => {
  const command = addServerFlags(new Command('test'))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  return flagConfigs(command.parse(words, { from: 'user' }));
};

const BOTH = config({ a: { command: 'x' }, b: { url: 'http://b/mcp' } });

test('servers come from files and texts, and one from the command line', () => {
  expect(
    given('--mcp-config', BOTH, '--mcp-config', 'file.json', '--stdio', "node 'my server.js' -v"),
  ).toEqual([BOTH, 'file.json', config({ server: { command: 'node', args: ['my server.js', '-v'] } })]);
  expect(given('--url', 'http://127.0.0.1:1/mcp')).toEqual([
    config({ server: { url: 'http://127.0.0.1:1/mcp' } }),
  ]);
  expect(given()).toBeUndefined();
});

test('what a shell has left in a command line is taken as it is', () => {
  expect(given('--stdio', 'run ${HOME}')).toEqual([
    config({ server: { command: 'run', args: ['$${HOME}'] } }),
  ]);
});

test.each([
  ['an open quote', ['--stdio', 'run --key "secret'], /error: --stdio: the " at character 11 is not closed$/],
  ['no command', ['--stdio', ' '], /--stdio takes a command/],
])('%s is refused', (_, words, message) => {
  expect(() => given(...words)).toThrow(message);
});

test.each(['0', '-1', '1.5', 'x', '1e3', ''])('%j is no time', (text) => {
  expect(() => milliseconds(text)).toThrow('milliseconds');
});
