import { expect, test } from 'vitest';
import { type Lasting, lastingStream } from '../../../../src/mcp/transports/http/lasting-stream.ts';

const GAP = 'data: {"jsonrpc":"2.0","method":"notifications/list_changed"}\n\n';

/** A stream of these events, which then ends, breaks or stays open. */
function stream(events: string[], then: 'end' | 'break' | 'stay' = 'end') {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      for (const event of events) controller.enqueue(Buffer.from(event));
      if (then === 'end') controller.close();
    },
    pull(controller) {
      if (then === 'break') controller.error(new Error('cut'));
    },
  });
}

function lasting(more: Partial<Lasting> & Pick<Lasting, 'open'>, first = stream(['data: a\n\n'])) {
  const troubles: unknown[] = [];
  const onTrouble = (fault: unknown) => troubles.push((fault as Error).message);
  const pause = { firstMs: 1, longestMs: 2 };
  const reader = lastingStream(first, { onTrouble, signal: undefined, pause, ...more }).getReader();
  return { troubles, reader, next: async () => Buffer.from((await reader.read()).value ?? []).toString() };
}

test('after any number of failures the next stream is read, and what was missed is made up for', async () => {
  let asked = 0;
  const open = async () => {
    if (++asked < 30) throw new Error('away');
    return stream(['data: b\n\n'], 'stay');
  };
  const { next, troubles, reader } = lasting({ open });
  expect([await next(), await next(), await next()]).toEqual(['data: a\n\n', GAP, 'data: b\n\n']);
  expect(troubles).toEqual(Array.from({ length: 29 }, () => 'away'));
  await reader.cancel();
});

test('a stream that breaks is told, and the next one begins after the last event', async () => {
  const asked: unknown[] = [];
  const open: Lasting['open'] = async (id) => {
    asked.push(id);
    return stream(['data: c\nid: 9\n\n'], asked.length < 3 ? 'break' : 'stay');
  };
  const { next, troubles, reader } = lasting(
    { open },
    stream(['id: 7\r\nretry: 1\r\ndata: a\r\n\r\n'], 'break'),
  );
  for (let read = 0; read < 7; read++) await next();
  expect({ asked, troubles }).toEqual({ asked: ['7', '9', '9'], troubles: ['cut', 'cut', 'cut'] });
  await reader.cancel();
});

test('it ends when the server has none any more', async () => {
  const { next, reader, troubles } = lasting({ open: async () => 'over' });
  await next();
  expect(await reader.read()).toEqual({ done: true, value: undefined });
  expect(troubles).toEqual([]);
});

test.each(['abort', 'cancel'] as const)('nothing is opened any more after an %s', async (how) => {
  const life = new AbortController();
  let asked = 0;
  const failed = Promise.withResolvers<void>();
  const open = async () => {
    asked++;
    failed.resolve();
    throw new Error('away');
  };
  const { next, reader, troubles } = lasting({
    open,
    signal: life.signal,
    pause: { firstMs: 1, longestMs: 1e6 },
  });
  await next();
  const last = reader.read().catch(() => 'failed');
  await failed.promise;
  if (how === 'abort') life.abort();
  else await reader.cancel();
  expect(await last).toEqual(how === 'abort' ? 'failed' : { done: true, value: undefined });
  const before = asked;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(asked).toBe(before);
  expect(troubles.length).toBeLessThanOrEqual(asked);
});
