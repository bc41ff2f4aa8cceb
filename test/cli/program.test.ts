import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { VERSION } from '../../src/entry/version.ts';
import { CLI } from '../support/setup/built-package.ts';
import { CLI_ENV, runCli } from './support/run-cli.ts';

test('--version loads no cryptography, and so neither the secret store nor the keychain', () => {
  const code = `process.on('exit', () => console.log(process.moduleLoadList.join('\\n')))`;
  const hook = `data:text/javascript,${encodeURIComponent(code)}`;
  const loaded = execFileSync(process.execPath, ['--import', hook, CLI, '--version'], {
    encoding: 'utf8',
    env: CLI_ENV,
  });
  expect(loaded).toMatch(/^NativeModule fs$/m);
  expect(loaded).not.toMatch(/^NativeModule crypto$/m);
});

test.each(['--version', '-V'])('%s prints only the version', async (flag) => {
  expect(await runCli([flag])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
});

test.each([['--help'], ['-h'], ['help']])('%s lists commands and exit codes', async (...args) => {
  const { code, stdout, stderr } = await runCli(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/Usage: toolplane/);
  expect(stdout).toMatch(/serve .*Serve the tool server that a module exports/);
  expect(stdout).toMatch(/2 {2}usage error/);
});

test('each command has its own help', async () => {
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
])('%s is a usage error: exit code 2 and a message on stderr', async (_, args, message) => {
  const { code, stdout, stderr } = await runCli(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
});

test.concurrent.each([
  [['uninstall', '--json', '--nope'], "unknown option '--nope'"],
  [['tools', '--json', '--nope'], "unknown option '--nope'"],
  [['tools', '--nope', '--json'], "unknown option '--nope'"],
  [['tools', 'acept', '--json'], "unknown action 'acept'; did you mean accept?"],
  [['secret', '--json', '--nope'], "unknown option '--nope'"],
  [['secret', 'set', 'a', 'b', '--json'], 'a secret value is not accepted on the command line'],
  [['call', '--json'], "missing required argument 'server'"],
  [['call', '--timeout', 'x', '--json', 'a', 'b'], 'Expected milliseconds'],
  [['resources', '--json', '--nope'], "unknown option '--nope'"],
  [['prompts', '--json', '--nope'], "unknown option '--nope'"],
  [['explain', 'permission', '--json'], "missing required argument 'tool'"],
  [['explain', 'sever', 'x', '--json'], "unknown command 'sever'"],
  [['mcp', 'get', '--json'], "missing required argument 'name'"],
  [['mcp', 'lst', '--json'], "unknown command 'lst'"],
  [['tolls', '--json'], "unknown command 'tolls'"],
])('%j: a usage error is a JSON document and a line on stderr', async (args, message) => {
  const { code, stdout, stderr } = await runCli(args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(JSON.parse(stdout)).toEqual({ error: { message: expect.stringContaining(message) } });
});

test.runIf(process.platform !== 'win32').concurrent.each([
  ['tools', '--json'],
  ['call', 'a', 'b', '--json'],
  ['mcp', 'list', '--json'],
  ['explain', 'server', '--json'],
  ['secret', '--json'],
  ['uninstall', '--dry-run', '--json'],
  ['run', '-m', 'rehearsal', 'hello'],
  ['serve', 'x.ts'],
])('%s %s: a missing working directory is one line and exit code 1', async (...args) => {
  const gone = mkdtempSync(join(tmpdir(), 'toolplane-gone-'));
  const child = spawn(
    '/bin/sh',
    ['-c', 'rmdir "$1" && shift && exec "$@"', 'sh', gone, process.execPath, CLI, ...args],
    {
      cwd: gone,
      env: CLI_ENV,
    },
  );
  child.stdin.end();
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  const message = 'the working directory no longer exists; change to an existing directory';
  expect({ code, stderr }).toEqual({ code: 1, stderr: `toolplane: ${message}\n` });
  if (args.includes('--json')) expect(JSON.parse(stdout)).toEqual({ error: { message } });
  else expect(stdout).toBe('');
});
