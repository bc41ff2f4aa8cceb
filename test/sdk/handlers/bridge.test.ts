import { expect, test } from 'vitest';
import type { Frame } from '../../../src/protocol/control-frame.ts';
import type { RpcMessage } from '../../../src/protocol/json-rpc.ts';
import { Bridge } from '../../../src/sdk/handlers/bridge.ts';
import { splitServers } from '../../../src/sdk/options/mcp-servers.ts';
import type { McpServerConfig } from '../../../src/sdk/options/options.ts';
import { attach, createSdkMcpServer, toolServer } from '../../../src/tool-server/sdk-server.ts';
import { gate } from '../../support/gate.ts';
import { answerOf } from '../support/served.ts';

type Sent = { server: string; message: RpcMessage };

function bridge(servers: Record<string, McpServerConfig>, assigns = {}): Bridge & { sent: Sent[] } {
  const sent: Sent[] = [];
  const send = (server: string, message: RpcMessage) => void sent.push({ server, message });
  return Object.assign(new Bridge(splitServers(servers).sdk, { assigns, send }), { sent });
}

const ask = (it: Bridge, body: Frame) => answerOf((served) => it.serve(body, served));

const calls = (name: string, id: number | string = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
});
const answer = (text: string, id: number | string = 1) => ({
  mcp_response: { result: { content: [{ type: 'text', text }] }, jsonrpc: '2.0', id },
});

const who = () =>
  toolServer('own name').tool(
    'who',
    'Tells',
    { type: 'object' },
    (_, ctx) => `${ctx.server} ${JSON.stringify(ctx.assigns)}`,
  );

test('a server is addressed by its key (C24, R41)', async () => {
  const it = bridge({ calc: who(), 'my calc': who() });
  expect(await ask(it, { server_name: 'my calc', message: calls('who') })).toEqual(answer('my calc {}'));
  expect(await ask(it, { serverName: 'calc', message: calls('who', 'x') })).toEqual(answer('calc {}', 'x'));
});

test('the state of an attachment takes precedence over that of the query (R103)', async () => {
  const server = who();
  const it = bridge({ query: server, own: attach(server, { assigns: { user: 'Bob' } }) }, { user: 'Ada' });
  expect(await ask(it, { server_name: 'query', message: calls('who') })).toEqual(
    answer('query {"user":"Ada"}'),
  );
  expect(await ask(it, { server_name: 'own', message: calls('who') })).toEqual(answer('own {"user":"Bob"}'));
});

test.each([
  ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
  ['a stray answer', { jsonrpc: '2.0', id: 9, result: {} }],
  ['a message that cannot be answered', {}],
])('%s is acknowledged without an id (C10)', async (_, message) => {
  expect(await ask(bridge({ calc: who() }), { server_name: 'calc', message })).toEqual({
    mcp_response: { jsonrpc: '2.0', result: {} },
  });
});

test.each([
  ['ghost', calls('x', 3), 3, "Server 'ghost' not found"],
  ['toString', calls('x', 0), 0, "Server 'toString' not found"],
  [undefined, { id: 'm' }, 'm', "Server 'undefined' not found"],
])(
  'an unknown server (%s) is a JSON-RPC error with the id of the request (R83, R84)',
  async (server_name, message, id, text) => {
    expect(await ask(bridge({ calc: who() }), { server_name, message })).toEqual({
      mcp_response: { jsonrpc: '2.0', id, error: { code: -32601, message: text } },
    });
  },
);

test('a notification to an unknown server is rejected', () => {
  const message = { jsonrpc: '2.0', method: 'notifications/initialized' };
  expect(() =>
    bridge({}).serve(
      { server_name: 'ghost', message },
      { id: 'r', signal: new AbortController().signal, reply() {} },
    ),
  ).toThrow(expect.objectContaining({ code: 'bad-server', message: 'SDK MCP server not found: ghost' }));
});

test('notifications of a server carry its key', async () => {
  const server = who();
  const it = bridge({ calc: server });
  server.tool('more', 'More', { type: 'object' }, () => 1);
  await Promise.resolve();
  expect(it.sent).toEqual([
    { server: 'calc', message: { jsonrpc: '2.0', method: 'notifications/tools/list_changed' } },
  ]);
});

test('replacing the servers keeps unchanged sessions and closes the others', async () => {
  const stays = gate<string>();
  const goes = gate<string>();
  const staying = toolServer('s').tool('wait', 'W', { type: 'object' }, () => stays.pass());
  const going = toolServer('g').tool('wait', 'W', { type: 'object' }, () => goes.pass());
  const it = bridge({ staying, going });
  const first = ask(it, { server_name: 'staying', message: calls('wait') });
  const second = ask(it, { server_name: 'going', message: calls('wait') });
  await Promise.all([stays.reached, goes.reached]);
  it.set(splitServers({ staying, late: who() }).sdk);
  expect(await second).toEqual({
    mcp_response: { jsonrpc: '2.0', id: 1, error: { code: -32603, message: "server 'going' is closed" } },
  });
  stays.open('done');
  expect(await first).toEqual(answer('done'));
  expect(await ask(it, { server_name: 'late', message: calls('who') })).toEqual(answer('late {}'));
  expect([staying.instance.isConnected(), going.instance.isConnected()]).toEqual([true, false]);
});

test('closing ends every session and prevents new ones', async () => {
  const server = who();
  const it = bridge({ calc: server });
  it.close();
  it.close();
  it.set(splitServers({ calc: server }).sdk);
  expect(server.instance.isConnected()).toBe(false);
  expect(await ask(it, { server_name: 'calc', message: calls('who') })).toEqual({
    mcp_response: { jsonrpc: '2.0', id: 1, error: { code: -32601, message: "Server 'calc' not found" } },
  });
});

test('one server may be open in many bridges at once, each with its own sessions', async () => {
  const server = createSdkMcpServer({ name: 'shared' });
  const [one, two] = [bridge({ a: server }), bridge({ b: server })];
  one.close();
  expect(server.instance.isConnected()).toBe(true);
  expect(two.session('b')).toBeDefined();
  two.close();
  expect(server.instance.isConnected()).toBe(false);
});
