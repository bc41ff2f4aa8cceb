import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { moduleServer } from '../../../src/entry/index.ts';
import { CLI } from '../../support/setup/built-package.ts';
import { fixture, runCli, startCli } from '../support/run-cli.ts';

/** An official client on the command's stdin and stdout; disposable. */
async function connect(
  command: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Client & AsyncDisposable> {
  const transport = new StdioClientTransport({ command, args, env, stderr: 'ignore' });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
const serve = (...args: string[]) => connect(process.execPath, [CLI, 'serve', ...args]);

test('an official client lists and calls the tools of a module that also prints (R42)', async () => {
  await using client = await serve(fixture('calc.ts'));
  expect(client.getServerVersion()).toEqual({ name: 'calc', version: '2.0.0' });
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual(['add', 'env', 'pid', 'fail']);
  expect(await client.callTool({ name: 'add', arguments: { a: 2, b: 40 } })).toEqual({
    content: [{ type: 'text', text: '42' }],
  });
  expect(await client.callTool({ name: 'fail', arguments: {} })).toEqual({
    content: [{ type: 'text', text: 'on purpose' }],
    isError: true,
  });
  expect(await client.callTool({ name: 'add', arguments: { a: 'two' } })).toMatchObject({ isError: true });
});

test('calls run concurrently', async () => {
  await using client = await serve(fixture('calc.ts'));
  const sums = Array.from({ length: 10 }, (_, n) =>
    client.callTool({ name: 'add', arguments: { a: n, b: 1 } }),
  );
  expect((await Promise.all(sums)).map((it) => (it.content as { text: string }[])[0]?.text)).toEqual(
    Array.from({ length: 10 }, (_, n) => String(n + 1)),
  );
});

test('serves an McpServer of the MCP SDK', async () => {
  await using client = await serve(fixture('hand-built.ts'));
  expect(client.getServerVersion()).toEqual({ name: 'by-hand', version: '3.0.0' });
  expect(await client.callTool({ name: 'greet', arguments: {} })).toEqual({
    content: [{ type: 'text', text: 'hello by hand' }],
  });
});

test('--export selects an export; the path may be a file URL', async () => {
  await using client = await serve(pathToFileURL(fixture('calc.ts')).href, '--export', 'other');
  expect(await client.callTool({ name: 'hello', arguments: {} })).toEqual({
    content: [{ type: 'text', text: 'hello from other' }],
  });
});

test('moduleServer() builds an entry that serves a module with its environment', async () => {
  const {
    command,
    args = [],
    env,
  } = moduleServer(pathToFileURL(fixture('calc.ts')), {
    export: 'calc',
    env: { FROM_ENTRY: 'yes' },
  });
  await using client = await connect(command, args, env);
  expect(await client.callTool({ name: 'env', arguments: { name: 'FROM_ENTRY' } })).toEqual({
    content: [{ type: 'text', text: 'yes' }],
  });
});

test('answers every request before the end of input ends the process', async () => {
  const lines = [
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'add', arguments: { a: 1, b: 2 } } },
  ];
  const input = lines.map((line) => JSON.stringify(line)).join('\n');
  const { code, stdout, stderr } = await runCli(['serve', fixture('calc.ts')], `${input}\nnot json\n`);
  expect(code).toBe(0);
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number | null });
  expect(answers.map((it) => it.id).sort()).toEqual([1, 2, null].sort());
  expect(stderr).toContain('loading calc');
});

test('a module that prints and keeps timers neither disturbs the protocol nor prevents exit', async () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'big', arguments: {} } };
  const { code, stdout, stderr } = await runCli(
    ['serve', fixture('restless.ts')],
    `${JSON.stringify(call)}\n`,
  );
  expect(code).toBe(0);
  const [answer, ...rest] = stdout.trimEnd().split('\n');
  expect(JSON.parse(answer ?? '').result.content[0].text).toHaveLength(1_000_000);
  expect(rest).toEqual([]);
  expect(stderr).toBe('at load\nby name\nby console\nin a call\n');
});

test('a module with timers and no server exits with the reason', async () => {
  const { code, stderr } = await runCli(['serve', fixture('restless.ts'), '--export', 'nope']);
  expect(code).toBe(1);
  expect(stderr).toContain('has no tool server named "nope"');
});

test('exits with the signal it received', async () => {
  const child = startCli(['serve', fixture('calc.ts')]);
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([null, 'SIGTERM']);
});

test.each([
  ['a module that is not there', ['nowhere.ts'], /^toolplane: cannot load nowhere\.ts: .*nowhere\.ts/],
  ['a module that fails', [fixture('broken.ts')], /^toolplane: cannot load .*broken\.ts: broken at load\n$/],
  [
    'a module without a server',
    [fixture('nothing.ts')],
    /^toolplane: .*nothing\.ts exports no tool server \(exports: answer\); export the result of createSdkMcpServer\(\)\n$/,
  ],
  [
    'an export that is none',
    [fixture('calc.ts'), '--export', 'notAServer'],
    /has no tool server named "notAServer" \(exports: calc, notAServer, other\)/,
  ],
  ['an export that is missing', [fixture('calc.ts'), '--export', 'nope'], /has no tool server named "nope"/],
])('%s is one line and exit code 1', async (_, args, message) => {
  const { code, stdout, stderr } = await runCli(['serve', ...args]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.replace('loading calc\n', '')).toMatch(message);
});
