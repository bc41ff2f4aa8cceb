import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BROKEN, config, EVERYTHING, odd } from '../support/real-servers.ts';
import { runCli } from '../support/run-cli.ts';

const ODD = ['--mcp-config', config({ odd: odd() })];

test('lists resources by server; a failed server is exit code 1', async () => {
  const servers = ['--mcp-config', config({ odd: odd(), everything: EVERYTHING, broken: BROKEN })];
  const { code, stdout, stderr } = await runCli(['resources', ...servers]);
  expect(stdout).toMatch(
    /^odd \(2 resources\)\n {2}odd:\/\/text {3}text\/plain {2}5 bytes {2}Text: A ␛\[31mtext\n {2}odd:\/\/bytes\n/,
  );
  expect(stdout).toMatch(/\neverything \(\d+ resources\)\n {2}demo:\/\/resource\//);
  expect(stderr).toContain('server broken: command not found');
  expect(code).toBe(1);
});

test('lists URI templates', async () => {
  expect(await runCli(['resources', 'templates', ...ODD])).toEqual({
    code: 0,
    stdout: 'odd (1 template)\n  odd://{name}    Any\n',
    stderr: '',
  });
});

test('--json prints one document', async () => {
  const { stdout } = await runCli(['resources', 'list', '--json', ...ODD]);
  expect(JSON.parse(stdout)).toEqual({
    resources: [
      expect.objectContaining({ server: 'odd', uri: 'odd://text', size: 5 }),
      expect.objectContaining({ server: 'odd', uri: 'odd://bytes' }),
    ],
  });
});

test('prints text unchanged, one line for binary data, and --output saves it', async () => {
  expect(await runCli(['resources', 'read', 'odd', 'odd://text', ...ODD])).toEqual({
    code: 0,
    stdout: 'hello\n',
    stderr: '',
  });
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-read-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const { stdout } = await runCli(['resources', 'read', 'odd', 'odd://bytes', '-o', directory, ...ODD]);
  const path = join(directory, 'odd-1.png');
  expect(stdout).toBe(`[resource odd://bytes image/png, 6 bytes: ${path}]\n`);
  expect(readFileSync(path, 'utf8')).toBe('pixels');
});

test("an unknown resource is exit code 1 with the server's message", async () => {
  expect(await runCli(['resources', 'read', 'odd', 'odd://nothing', ...ODD])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'toolplane: server odd: no odd://nothing here\n',
  });
});

test.each([
  ['an unknown action', ['rad'], /unknown action 'rad'; did you mean read\?/],
  ['too few words', ['read', 'odd'], /usage: resources read <server> <uri>/],
])('%s is exit code 2', async (_, words, message) => {
  const { code, stderr } = await runCli(['resources', ...words, ...ODD]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});
