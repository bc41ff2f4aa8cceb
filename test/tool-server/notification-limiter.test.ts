import { expect, test } from 'vitest';
import type { RpcMessage } from '../../src/protocol/json-rpc.ts';
import { NotificationLimiter } from '../../src/tool-server/notification-limiter.ts';

function limiter() {
  const sent: RpcMessage[] = [];
  return { sent, limiter: new NotificationLimiter((message) => sent.push(message)) };
}

const notification = (method: string, params: Record<string, unknown> = {}): RpcMessage => ({
  jsonrpc: '2.0',
  method,
  params,
});

test('keeps the latest progress of each call and one change of each list', async () => {
  const { sent, limiter: it } = limiter();
  for (let at = 1; at <= 1_000; at++) {
    it.send(notification('notifications/progress', { progressToken: 1, progress: at }));
    it.send(notification('notifications/progress', { progressToken: '1', progress: -at }));
    it.send(notification('notifications/tools/list_changed'));
  }
  expect(sent).toHaveLength(256);
  await it.room;
  expect(sent.slice(256)).toMatchObject([
    { params: { progressToken: 1, progress: 1_000 } },
    { params: { progressToken: '1', progress: -1_000 } },
    { method: 'notifications/tools/list_changed' },
  ]);
});

test('keeps the latest update of each resource', async () => {
  const { sent, limiter: it } = limiter();
  for (let at = 1; at <= 1_000; at++)
    for (const uri of ['a://1', 'a://2'])
      it.send(notification('notifications/resources/updated', { uri, at }));
  expect(sent).toHaveLength(256);
  await it.room;
  expect(sent.slice(256)).toMatchObject([
    { params: { uri: 'a://1', at: 1_000 } },
    { params: { uri: 'a://2', at: 1_000 } },
  ]);
});

test('dropped log messages are counted; other messages are never dropped', async () => {
  const { sent, limiter: it } = limiter();
  for (let at = 1; at <= 1_000; at++)
    it.send(notification('notifications/message', { logger: 'l', data: at }));
  for (let at = 1; at <= 1_000; at++) it.send(notification('notifications/custom', { at }));
  it.send({ jsonrpc: '2.0', id: 1, method: 'elicitation/create' });
  expect(sent).toHaveLength(256 + 1_000 + 1);
  await it.room;
  const data = '744 log messages dropped because the client reads too slowly';
  expect(sent.at(-1)).toMatchObject({ params: { level: 'warning', logger: 'l', data } });
  for (let at = 1; at <= 300; at++) it.send(notification('notifications/message', { data: at }));
  it.flush();
  expect(sent.at(-1)).toMatchObject({ params: { data: expect.stringMatching(/^45 log messages/) } });
});
