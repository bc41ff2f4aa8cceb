import { Command } from 'commander';
import { expect, test } from 'vitest';
import {
  addServerChoice,
  addServerFlags,
  chosenNames,
  milliseconds,
  namedServers,
} from '../../../src/cli/host/server-flags.ts';
import { config } from './real-servers.ts';

function parsed(...words: readonly string[]): Command {
  const command = addServerChoice(addServerFlags(new Command('test')))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  return command.parse(words, { from: 'user' });
}

const named = (...words: readonly string[]) => {
  const command = parsed(...words);
  return namedServers(command, chosenNames(command));
};

const BOTH = config({ a: { command: 'x' }, b: { url: 'http://b/mcp' } });

test('servers come from files and texts, and one from the command line', () => {
  expect(named('--mcp-config', BOTH, '--stdio', "node 'my server.js' -v")).toEqual({
    a: { command: 'x' },
    b: { url: 'http://b/mcp' },
    server: { command: 'node', args: ['my server.js', '-v'] },
  });
  expect(named('--url', 'http://127.0.0.1:1/mcp')).toEqual({ server: { url: 'http://127.0.0.1:1/mcp' } });
});

test('--server keeps to some, in the order in which they are named', () => {
  expect(Object.keys(named('--mcp-config', BOTH, '-s', 'b', '-s', 'a', '-s', 'b'))).toEqual(['b', 'a']);
});

test.each([
  ['a file that is not there', ['--mcp-config', 'none.json'], /none\.json cannot be read/],
  ['an open quote', ['--stdio', 'run --key "secret'], /error: --stdio: the " at character 11 is not closed$/],
  ['no command', ['--stdio', ' '], /--stdio takes a command/],
  ['no address', ['--url', 'x'], /needs "url", a full URL/],
  [
    'an unknown name',
    ['--mcp-config', BOTH, '-s', '__proto__'],
    /there is no server "__proto__" \(there are a, b\)/,
  ],
  ['nobody at all', [], /there are no servers/],
])('%s is refused', (_, words, message) => {
  expect(() => named(...words)).toThrow(message);
});

test.each(['0', '-1', '1.5', 'x', '1e3', ''])('%j is no time', (text) => {
  expect(() => milliseconds(text)).toThrow('milliseconds');
});
