import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { dialStdio } from '../../../../src/mcp/transports/stdio/dial-stdio.ts';
import type { StdioServerEntry } from '../../../../src/protocol/server-entry.ts';
import { everything, script, testWorld } from '../../support/servers.ts';

const python: StdioServerEntry = {
  command: 'python3',
  args: [fileURLToPath(new URL('./fixtures/plain_server.py', import.meta.url))],
  env: { PYTHONIOENCODING: 'utf-8' },
};

async function connected(entry: StdioServerEntry, mode: 'auto' | 'legacy' = 'legacy') {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const starts: string[] = [];
  const world = testWorld({ onStderr: (_name, line) => void starts.push(line) });
  const dialed = await dialStdio('srv', entry, world);
  onTestFinished(() => dialed.close());
  await client.connect(dialed.transport);
  return { client, starts };
}

const text = ({ content }: { content?: unknown }) => (content as { text: string }[])[0]?.text;

test('R151: a server of a few lines of Python is as good as any', async () => {
  const { client } = await connected(python);
  expect(client.getServerVersion()).toEqual({ name: 'plain-python', version: '1.0' });
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['add']);
  expect(text(await client.callTool({ name: 'add', arguments: { a: 2, b: 40 } }))).toBe('42 ≤ ∞');
  await expect(client.getPrompt({ name: 'x' })).rejects.toThrow();
});

test('the era is asked for in the one process there is', async () => {
  const { client, starts } = await connected(python, 'auto');
  expect(client.getProtocolEra()).toBe('legacy');
  expect(text(await client.callTool({ name: 'add', arguments: { a: 1, b: 1 } }))).toBe('2 ≤ ∞');
  expect(starts).toHaveLength(1);
});

test('the reference server answers many calls at once', async () => {
  const { client } = await connected(everything);
  const calls = Array.from({ length: 100 }, (_, at) =>
    client.callTool({ name: 'echo', arguments: { message: `no. ${at}` } }),
  );
  const said = (await Promise.all(calls)).map(text);
  expect(said).toEqual(calls.map((_, at) => expect.stringContaining(`no. ${at}`)));
});

test('an answer that is too long fails its call only, by a code one can tell it by', async () => {
  const { client } = await connected({ ...everything, maxFrameBytes: 20_000 });
  const long = client.callTool({ name: 'echo', arguments: { message: 'x'.repeat(30_000) } });
  const short = client.callTool({ name: 'echo', arguments: { message: 'short' } });
  await expect(long).rejects.toMatchObject({ code: -31413, data: { limit: 20_000 } });
  expect(text(await short)).toContain('short');
});

test('a command that cannot be run is told by its code', async () => {
  const start = async (entry: StdioServerEntry) =>
    (await dialStdio('srv', entry, testWorld())).transport.start();
  await expect(start({ command: '/no/such/binary' })).rejects.toMatchObject({
    code: 'ENOENT',
    syscall: 'spawn /no/such/binary',
  });
  await expect(start({ command: import.meta.dirname })).rejects.toMatchObject({ code: 'EACCES' });
});

test('a server runs in the directory of its entry, which must be there', async () => {
  const said = Promise.withResolvers<string>();
  const world = testWorld({ cwd: '/', onStderr: (_name, line) => said.resolve(line) });
  const entry = { ...script('console.error(process.cwd())'), cwd: 'usr' };
  const dialed = await dialStdio('srv', entry, world);
  onTestFinished(() => dialed.close());
  await dialed.transport.start();
  expect(await said.promise).toBe('/usr');
  await expect(dialStdio('srv', { ...entry, cwd: 'no/such' }, world)).rejects.toMatchObject({
    code: 'bad-config',
    message: 'MCP server "srv": "cwd" is not a directory: /no/such; correct it in the entry',
  });
});

test('a transport that was never started closes immediately, without a close event', async () => {
  const dialed = await dialStdio('srv', everything, testWorld());
  dialed.transport.onclose = () => expect.unreachable('it never ran');
  await dialed.close();
  await expect(dialed.transport.start()).rejects.toThrow('already been started');
  await expect(dialed.transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toThrow('not running');
});
