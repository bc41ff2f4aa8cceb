import { expect, test } from 'vitest';
import { VERSION } from '../../src/entry/version.ts';
import { runCli } from './run-cli.ts';

test.each(['--version', '-V'])('%s prints the version and nothing else', async (flag) => {
  expect(await runCli([flag])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
});

test.each([['--help'], ['-h'], ['help']])('%s tells what there is, exit codes included', async (...args) => {
  const { code, stdout, stderr } = await runCli(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/Usage: toolplane/);
  expect(stdout).toMatch(/serve .*Run the tool server a module exports/);
  expect(stdout).toMatch(/2 {2}the command was not understood/);
});

test('a command has help of its own', async () => {
  const { code, stdout } = await runCli(['serve', '--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/--export <name>/);
});

test.each([
  ['an unknown command, with the nearest one', ['serv'], /unknown command 'serv'[\s\S]*Did you mean serve\?/],
  [
    'an unknown flag, with the nearest one',
    ['serve', 'x', '--exprt', 'y'],
    /unknown option '--exprt'[\s\S]*Did you mean --export\?/,
  ],
  ['a missing argument', ['serve'], /missing required argument 'module'/],
  ['an argument too many', ['serve', 'one', 'two'], /too many arguments/],
  ['a flag of no command', ['--modle', 'x'], /unknown option '--modle'[\s\S]*Did you mean --model\?/],
])('%s is not understood: exit code 2, told on stderr', async (_, args, message) => {
  const { code, stdout, stderr } = await runCli(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
});
