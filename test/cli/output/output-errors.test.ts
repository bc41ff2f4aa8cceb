import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { CLI } from '../../support/setup/built-package.ts';
import { CLI_ENV, runCli, startCli } from '../support/run-cli.ts';
import { TWO_SERVERS } from '../support/two-servers.ts';

const RUN = ['run', '--model', 'rehearsal', '--mcp-config', TWO_SERVERS];

test.each([
  ['--help', ['--help']],
  ['--version', ['--version']],
  ['mcp --help', ['mcp', '--help']],
  ['tools', ['tools', '--mcp-config', TWO_SERVERS]],
  ['tools --json', ['tools', '--json', '--mcp-config', TWO_SERVERS]],
  ['call', ['call', '--mcp-config', TWO_SERVERS, 'search', 'query=x']],
  ['completion', ['completion', 'bash']],
  ['mcp list', ['mcp', 'list']],
  ['mcp list --json', ['mcp', 'list', '--json']],
  ['mcp doctor', ['mcp', 'doctor']],
  ['explain --json', ['explain', 'timeout', '--json']],
  ['run', [...RUN, 'list tools']],
  ['run with a stream', [...RUN, '--output-format', 'stream-json', 'list tools']],
  ['an unknown flag', ['--no-such-flag', '--json']],
])('toolplane %s ends without a stack trace when its reader is gone', async (_, args) => {
  const child = startCli(args);
  child.stdin.end();
  child.stdout.destroy();
  const [said, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect(said).not.toMatch(/EPIPE|\n {4}at /);
  expect(signal).toBeNull();
  expect(code).toBeLessThan(3);
});

test('toolplane --help | head -1 prints one line and exits with 0', async () => {
  const command = `'${process.execPath}' '${CLI}' --help | head -1`;
  const child = spawn('bash', ['--norc', '--noprofile', '-o', 'pipefail', '-c', command], { env: CLI_ENV });
  const [printed, said, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  expect({ printed, said, code }).toEqual({
    printed: 'Usage: toolplane [options] [command]\n',
    said: '',
    code: 0,
  });
});

test('a closed stderr does not change the exit code', async () => {
  const child = startCli(['no-such-command']);
  child.stdin.end();
  child.stderr.destroy();
  expect(await once(child, 'close')).toEqual([2, null]);
});

test('a run ends early when its reader is gone', async () => {
  const child = startCli([
    ...RUN,
    '--allowedTools',
    'mcp__deploy',
    '--output-format',
    'stream-json',
    'call wait',
  ]);
  child.stdin.end();
  await once(child.stdout, 'data');
  child.stdout.destroy();
  // The tool ends only when cancelled.
  const [said, [, signal]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect(said).not.toMatch(/EPIPE|\n {4}at /);
  expect(signal).toBeNull();
});

test.runIf(existsSync('/dev/full'))('a full disk is one line on stderr and exit code 1', async () => {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [CLI, '--help'], { env: CLI_ENV, stdio: ['ignore', full, 'pipe'] });
  const [said, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'close')]);
  expect(code).toBe(1);
  expect(said).toMatch(/^toolplane: cannot write to stdout: ENOSPC.*\n$/);
});

test('prints the complete output to a reader', async () => {
  const { stdout, code } = await runCli(['completion', 'bash']);
  expect(code).toBe(0);
  expect(stdout.length).toBeGreaterThan(500);
});
