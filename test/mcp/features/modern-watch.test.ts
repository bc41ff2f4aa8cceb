import { expect, test } from 'vitest';
import type { Connection } from '../../../src/mcp/connection/connection.ts';
import { HostError } from '../../../src/mcp/connection/host-error.ts';
import { Signal } from '../../../src/mcp/connection/signal.ts';
import { modernWatch } from '../../../src/mcp/features/modern-watch.ts';

type Stream = { uris: string[]; end(failure?: Error): void; signal: AbortSignal };

/** A connection on which `subscriptions/listen` is answered as the test says. */
function connected(onListen: (stream: Stream, acknowledge: (uris?: string[], id?: unknown) => void) => void) {
  const notices = new Signal<[method: string, params: Record<string, unknown>]>();
  const streams: Stream[] = [];
  const connection = {
    name: 'a',
    onNotice: notices.on,
    ask: (
      _: string,
      params: { notifications: { resourceSubscriptions: string[] } },
      { signal }: { signal: AbortSignal },
    ) =>
      new Promise((resolve, reject) => {
        const uris = params.notifications.resourceSubscriptions;
        const end = (failure?: Error) => {
          streams.splice(streams.indexOf(stream), 1);
          return failure ? reject(failure) : resolve({});
        };
        signal.addEventListener('abort', () => reject(new Error('aborted')));
        const stream = { uris, end, signal };
        streams.push(stream);
        onListen(stream, (honored = uris, id = streams.length) => {
          const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
          const notifications = { resourceSubscriptions: honored };
          notices.emit('notifications/subscriptions/acknowledged', { _meta, notifications });
        });
      }),
  } as unknown as Connection;
  const open = () => streams.filter(({ signal }) => !signal.aborted).map(({ uris }) => uris);
  return { connection, streams, open };
}

test('another set is another stream, opened before the old one is closed', async () => {
  const { connection, open, streams } = connected((_, acknowledge) => acknowledge());
  const watch = modernWatch(connection, () => {});
  await watch.begin(['x:'], ['x:']);
  await watch.begin(['y:'], ['x:', 'y:']);
  expect(open()).toEqual([['x:', 'y:']]);
  await watch.end('x:', ['y:']);
  expect(open()).toEqual([['y:']]);
  await watch.end('y:', []);
  expect(open()).toEqual([]);
  expect(streams).toHaveLength(3);
});

test('a server that does not agree is refused in words, and what was there stays', async () => {
  const { connection, open } = connected((stream, acknowledge) => {
    if (stream.uris.includes('secret:')) acknowledge(['x:']);
    else if (stream.uris.includes('short:')) stream.end();
    else if (stream.uris.includes('bad:')) stream.end(new HostError('unreachable', 'a', 'no such thing'));
    else acknowledge();
  });
  const watch = modernWatch(connection, () => {});
  await watch.begin(['x:'], ['x:']);
  const refusals = [
    ['secret:', 'it does not tell of changes of secret:'],
    ['short:', 'it ended the subscription before it confirmed it'],
    ['bad:', 'no such thing'],
  ] as const;
  for (const [uri, fault] of refusals)
    await expect(watch.begin([uri], ['x:', uri])).rejects.toThrow(`MCP server "a": ${fault}`);
  expect(open()).toEqual([['x:']]);
  watch.close();
  expect(open()).toEqual([]);
});

test('who gives up ends the wait, and not the stream once it is there', async () => {
  const { connection, open } = connected((stream, acknowledge) => {
    if (!stream.uris.includes('hangs:')) acknowledge();
  });
  const watch = modernWatch(connection, () => {});
  const [early, late] = [new AbortController(), new AbortController()];
  const waiting = expect(watch.begin(['hangs:'], ['hangs:'], early.signal)).rejects.toThrow('aborted');
  const never = expect(watch.begin(['y:'], ['y:'], early.signal)).rejects.toMatchObject({
    name: 'AbortError',
  });
  const begun = watch.begin(['x:'], ['x:'], late.signal);
  await new Promise(setImmediate);
  early.abort();
  await Promise.all([waiting, never, begun]);
  late.abort();
  expect(open()).toEqual([['x:']]);
  watch.close();
});

test('what the stream for changed lists is told is not taken for an answer', async () => {
  const { connection } = connected((_, acknowledge) => {
    acknowledge([], 'listen:0');
    acknowledge();
  });
  const watch = modernWatch(connection, () => {});
  await watch.begin(['x:'], ['x:']);
  watch.close();
});

test('a stream that ends is opened again, until it is closed', async () => {
  const { connection, streams, open } = connected((_, acknowledge) => acknowledge());
  const missed = Promise.withResolvers<void>();
  const watch = modernWatch(connection, () => missed.resolve());
  await watch.begin(['x:'], ['x:']);
  streams[0]?.end(new Error('cut'));
  expect(open()).toEqual([]);
  await missed.promise;
  expect(open()).toEqual([['x:']]);
  watch.close();
  await watch.begin(['y:'], ['y:']);
  expect(open()).toEqual([]);
});

test('a stream that is being opened again does not replace one that tells of more', async () => {
  const asked: (() => void)[] = [];
  let onAsked = Promise.withResolvers<void>();
  const { connection, streams, open } = connected((_, acknowledge) => {
    asked.push(acknowledge);
    onAsked.resolve();
    onAsked = Promise.withResolvers();
  });
  const answerNext = async () => {
    if (asked.length === 0) await onAsked.promise;
    asked.shift()?.();
  };
  const missed = Promise.withResolvers<void>();
  const watch = modernWatch(connection, () => missed.resolve());
  await Promise.all([watch.begin(['x:'], ['x:']), answerNext()]);
  streams[0]?.end(new Error('cut'));
  if (asked.length === 0) await onAsked.promise;
  const added = watch.begin(['y:'], ['x:', 'y:']);
  await answerNext();
  await Promise.all([missed.promise, added, answerNext()]);
  expect(open()).toEqual([['x:', 'y:']]);
  watch.close();
});
