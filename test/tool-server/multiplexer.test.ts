import { expect, test } from 'vitest';
import type { RpcRequest } from '../../src/protocol/json-rpc.ts';
import { Multiplexer } from '../../src/tool-server/multiplexer.ts';
import type { Transport } from '../../src/tool-server/transport.ts';

/** A server that keeps what it is told and answers when the test says so. */
function silentServer() {
  const told: RpcRequest[] = [];
  let transport: Transport | undefined;
  const multiplexer = new Multiplexer(async (given) => {
    transport = given;
    given.onmessage = ((message: RpcRequest) => told.push(message)) as never;
  });
  const say = (message: object) => transport?.send({ jsonrpc: '2.0', ...message } as never);
  return { multiplexer, told, say };
}

const user = () => ({ port: { server: 'hand', assigns: {}, send: () => {} } });
const request = (id: number, method: string) => ({ jsonrpc: '2.0' as const, id, method });
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('the shared initialize is nobody’s: who asked first may leave, the others are answered', async () => {
  const { multiplexer, told, say } = silentServer();
  const [one, other] = [user(), user()];
  for (const it of [one, other]) multiplexer.attach(it);
  const asks = [
    multiplexer.request(one, request(1, 'initialize')),
    multiplexer.request(other, request(2, 'initialize')),
  ];
  await settle();
  multiplexer.detach(one);
  expect(told).toEqual([request(0, 'initialize')]);
  await say({ id: 0, result: { ok: true } });
  expect(await asks[1]).toEqual({ jsonrpc: '2.0', id: 2, result: { ok: true } });
});

test('an initialize the server refused is asked again next time', async () => {
  const { multiplexer, told, say } = silentServer();
  const one = user();
  multiplexer.attach(one);
  const refused = multiplexer.request(one, request(1, 'initialize'));
  await settle();
  await say({ id: 0, error: { code: -32602, message: 'no' } });
  expect(await refused).toMatchObject({ id: 1, error: { code: -32602 } });
  const served = multiplexer.request(one, request(2, 'initialize'));
  await settle();
  await say({ id: 1, result: {} });
  expect(await served).toMatchObject({ id: 2, result: {} });
  expect(told.map((it) => it.method)).toEqual(['initialize', 'initialize']);
});

test('messages of one user reach the server in the order they were given', async () => {
  const { multiplexer, told } = silentServer();
  const one = user();
  multiplexer.attach(one);
  void multiplexer.request(one, request(1, 'tools/list'));
  void multiplexer.notification(one, 'notifications/initialized', {});
  void multiplexer.request(one, request(2, 'tools/call'));
  void multiplexer.notification(one, 'notifications/roots/list_changed', {});
  await settle();
  expect(told.map((it) => it.method)).toEqual([
    'tools/list',
    'notifications/initialized',
    'tools/call',
    'notifications/roots/list_changed',
  ]);
});
