import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startEvents, writeEvent, writeKeepAlive } from '../../../src/tool-server/serving/http-exchange.ts';

/** A stream of events to a client, which reads only when the test tells it to. */
async function openStream(unreadMs?: number) {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  const http = createServer((_, response) => {
    startEvents(response, {}, unreadMs);
    resolve(response);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const client = connect((http.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  client.pause();
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  onTestFinished(() => {
    client.destroy();
    http.close();
    http.closeAllConnections();
  });
  return { client, response: await promise };
}

/** Writes events until the response has no room. */
function fill(response: ServerResponse): Promise<void> {
  const event = 'x'.repeat(1024 * 1024);
  for (let n = 0; n < 100; n++) {
    const room = writeEvent(response, event);
    if (room !== undefined && response.writableLength > 16 * 1024 * 1024) return room;
  }
  throw new Error('the response always has room');
}

test('a stream that its client does not read is closed, and frees what is unread', async () => {
  const { response } = await openStream(200);
  await fill(response);
  expect(response.destroyed).toBe(true);
});

test('a stream that its client reads stays open, also while it only keeps alive', async () => {
  const { client, response } = await openStream(200);
  const room = fill(response);
  client.resume();
  await room;
  const timer = setInterval(() => writeKeepAlive(response), 50);
  onTestFinished(() => clearInterval(timer));
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(response.destroyed).toBe(false);
});

test('waiting for room adds no listeners for each event', async () => {
  const { client, response } = await openStream();
  const before = response.listenerCount('close');
  const rooms = Array.from({ length: 50 }, () => fill(response));
  expect(response.listenerCount('drain')).toBeLessThan(5);
  client.resume();
  await Promise.all(rooms);
  expect(response.listenerCount('close')).toBe(before);
});
