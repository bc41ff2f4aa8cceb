import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { config } from './host/real-servers.ts';
import { runCli } from './run-cli.ts';

const HOSTILE = {
  command: process.execPath,
  args: [fileURLToPath(new URL('host/fixtures/hostile-server.mjs', import.meta.url))],
  era: 'legacy' as const,
};
const SERVERS = ['--mcp-config', config({ hostile: HOSTILE })];
const CALL = ['call', ...SERVERS, 'hostile'];

test.each(['loop', 'double'])('a schema that leads on for ever holds up no call: %s', async (tool) => {
  expect(await runCli([...CALL, tool, 'a=1'])).toEqual({ code: 0, stdout: 'done\n', stderr: '' });
});

test.each([
  ['strings', 'hello\nb\n'],
  ['bare', '[content, of no known form]\n{"foo":"bar","toolResult":42}\n'],
  ['both', '[resource a://b text, 1 byte]\nT\n[resource a://b application/octet-stream, 3 bytes]\n'],
  ['weird', '[weird, of no known form]\n{"type":"weird","payload":"important"}\n'],
])('nothing of a result is lost: %s', async (tool, stdout) => {
  expect(await runCli([...CALL, tool])).toEqual({ code: 0, stdout, stderr: '' });
});

test('a resource that is text and data gives both, and --output keeps the data', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-hostile-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const read = ['resources', 'read', 'hostile', 'a://b', '-o', directory, ...SERVERS];
  const path = join(directory, 'hostile-1.bin');
  expect(await runCli(read)).toEqual({
    code: 0,
    stdout: `[resource a://b text, 1 byte]\nT\n[resource a://b application/octet-stream, 3 bytes: ${path}]\n`,
    stderr: '',
  });
  expect(readFileSync(path)).toEqual(Buffer.from([0, 0, 0]));
});

test('a result that is nested too deeply is a failure that says so, and a document', async () => {
  const message =
    'MCP server "hostile": its answer is nested more than 512 levels deep; have the server return flatter data';
  const stderr = `toolplane: ${message}\n`;
  expect(await runCli([...CALL, 'deep'])).toEqual({ code: 1, stdout: '', stderr });
  const { code, stdout } = await runCli([...CALL, 'deep', '--json']);
  expect({ code, said: JSON.parse(stdout) }).toEqual({
    code: 1,
    said: { error: expect.objectContaining({ message }) },
  });
});
