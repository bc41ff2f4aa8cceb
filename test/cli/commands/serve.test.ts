import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
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

test('serves over HTTP until it is interrupted', async () => {
  const child = startCli(['serve', fixture('calc.ts'), '--http', '--allow-host', 'tools.example.com']);
  let printed = '';
  for await (const part of child.stderr) {
    printed += part;
    if (printed.includes('/mcp')) break;
  }
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(printed) ?? [];
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  expect((await client.callTool({ name: 'add', arguments: { a: 2, b: 40 } })).content).toEqual([
    { type: 'text', text: '42' },
  ]);
  await client.close();
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('--auth-issuer requires access tokens, with scopes for single tools', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const key = { ...(await exportJWK(publicKey)), kid: 'one' };
  let issuer = '';
  const login = createServer((request, response) => {
    const document = request.url === '/jwks' ? { keys: [key] } : { issuer, jwks_uri: `${issuer}/jwks` };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(document));
  }).listen(0, '127.0.0.1');
  await once(login, 'listening');
  onTestFinished(() => void login.close());
  issuer = `http://127.0.0.1:${(login.address() as AddressInfo).port}`;
  const audience = 'https://calc.example.com/mcp';
  const child = startCli([
    ...['serve', fixture('calc.ts'), '--http', '0.0.0.0:0', '--auth-issuer', issuer],
    ...['--auth-audience', audience, '--auth-scope', 'calc', 'add=calc:add'],
  ]);
  let printed = '';
  for await (const part of child.stderr) {
    printed += part;
    if (printed.includes('/mcp')) break;
  }
  const [, port] = /http:\/\/0\.0\.0\.0:(\d+)\/mcp/.exec(printed) ?? [];
  const call = async (tool: string, scope?: string) => {
    const token =
      scope !== undefined &&
      (await new SignJWT({ iss: issuer, aud: audience, sub: 'ada', scope })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setExpirationTime('1h')
        .sign(privateKey));
    const { status } = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': tool,
        ...(token && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: tool,
          arguments: { a: 1, b: 2 },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    });
    return status;
  };
  expect(await call('add')).toBe(401);
  expect(await call('pid', 'other')).toBe(403);
  expect(await call('pid', 'calc')).toBe(200);
  expect(await call('add', 'calc')).toBe(403);
  expect(await call('add', 'calc calc:add')).toBe(200);
  expect(printed).not.toContain('every program');
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('a server that other machines reach without a token check is warned about', async () => {
  const child = startCli(['serve', fixture('calc.ts'), '--http', '0.0.0.0:0']);
  let printed = '';
  for await (const part of child.stderr) {
    printed += part;
    if (printed.includes('--auth-issuer')) break;
  }
  expect(printed).toContain('warning: every program that reaches this address can call the tools');
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('an issuer whose keys cannot be found is warned about at start', async () => {
  const issuer = 'http://127.0.0.1:1';
  const child = startCli(['serve', fixture('calc.ts'), '--http', '--auth-issuer', issuer]);
  let printed = '';
  for await (const part of child.stderr) {
    printed += part;
    if (printed.includes('503')) break;
  }
  expect(printed).toContain(`toolplane: warning: the keys of the issuer ${issuer} cannot be found (`);
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test.each([
  [['--http', '--auth-scope', 'calc'], '--auth-audience and --auth-scope require --auth-issuer'],
  [['--auth-issuer', 'https://a.test'], '--auth-issuer requires --http'],
  [
    ['--http', '--auth-issuer', 'https://a.test', '--auth-scope', 'ad=calc'],
    '--auth-scope ad=calc: the server has no tool "ad" (tools: add, env, pid, fail)',
  ],
  [
    ['--http', '--auth-issuer', 'https://a.test', '--auth-scope', 'add='],
    '--auth-scope add=: the scope is missing; use SCOPE or TOOL=SCOPE',
  ],
  [
    ['--http', '--auth-issuer', 'https://a.test', '--auth-scope', '=calc'],
    '--auth-scope =calc: the name of the tool is missing; use SCOPE or TOOL=SCOPE',
  ],
  [
    ['--http', '--auth-issuer', 'https://a.test', '--auth-scope', ''],
    'the scope is missing; use SCOPE or TOOL=SCOPE',
  ],
  [
    ['--http', '--auth-issuer', 'foo'],
    '--auth-issuer foo: the issuer must be an https URL (http only for loopback addresses)',
  ],
  [['--http', '--auth-issuer', 'https://a.test', '--auth-audience', ''], '--auth-audience must not be empty'],
])('%j is a usage error', async (flags, message) => {
  const { code, stderr } = await runCli(['serve', fixture('calc.ts'), ...flags]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
});

test('an invalid address is a usage error', async () => {
  const { code, stderr } = await runCli(['serve', fixture('calc.ts'), '--http', 'a:b:c']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('Use host:port or a port.'),
  });
});
