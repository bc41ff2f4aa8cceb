import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { TOO_LARGE } from '../../../../src/mcp/transports/oversized-message.ts';
import { messageLines, readMessages } from '../../../../src/mcp/transports/stdio/message-lines.ts';

describe('message lines', () => {
  const MIB = 1024 * 1024;

  function reader(maxBytes: number) {
    const messages: unknown[] = [];
    const replies: unknown[] = [];
    const noise: string[] = [];
    const lines = messageLines({
      maxBytes,
      onMessage: (it) => messages.push(it),
      onReply: (it) => replies.push(it),
      onUnexpectedOutput: (it) => noise.push(it),
    });
    return { lines, messages, replies, noise };
  }

  /** Bytes that are still referenced. Unreferenced buffers are freed a moment after the garbage collection. */
  function held(): number {
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    return process.memoryUsage().arrayBuffers;
  }

  test('of a line beyond the limit nothing is held', async () => {
    const { lines, messages } = reader(4 * MIB);
    const before = held();
    const feed = (pieces: number) => {
      for (let at = 0; at < pieces; at++) lines.write(Buffer.alloc(MIB / 16, 'x'));
    };
    lines.write(Buffer.from('{"jsonrpc":"2.0","result":{"text":"'));
    feed(3 * 16);
    expect(held() - before).toBeGreaterThan(2 * MIB);
    feed(61 * 16);
    await expect.poll(() => held() - before, { timeout: 5000 }).toBeLessThan(MIB);
    lines.write(Buffer.from('"},"id":7}\n'));
    expect(messages).toMatchObject([{ id: 7, error: { code: TOO_LARGE } }]);
  });

  test('each answer of a batch that is too long fails its request', () => {
    const { lines, messages, noise } = reader(20);
    lines.write(Buffer.from('[{"id":1,"result":{}},{"method":"x"},{"id":"b","result":{}}]\n'));
    expect(messages).toMatchObject([
      { id: 1, error: { code: TOO_LARGE, data: { bytes: 60, limit: 20 } } },
      { id: 'b', error: { code: TOO_LARGE } },
    ]);
    expect(noise).toEqual([]);
  });

  test('a long line without an id is noise, and the next one is read as ever', () => {
    const { lines, messages, noise } = reader(40);
    lines.write(Buffer.from(`${'x'.repeat(50)}\n{"jsonrpc":"2.0","id":1,"result":{}}\n`));
    expect(noise).toEqual([expect.stringContaining('a message of 50 bytes, more than the limit of 40')]);
    expect(messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });

  test.each([
    ['a list', (deep: string) => `[${deep}]`, 'a value that is nested too deeply'],
    ['no list', (deep: string) => deep.replace('[', '{"a":').replace(/\]$/, '}'), '{"a":'],
  ])('%s that nests too deep to be written is noise, and what comes after it is read', (_, line, told) => {
    const { lines, messages, noise } = reader(4 * MIB);
    const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
    lines.write(Buffer.from(`${line(deep)}\n{"jsonrpc":"2.0","id":1,"result":{}}\n`));
    expect(noise).toEqual([expect.stringContaining(told)]);
    expect(messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });

  test('an error that nests too deep to be written fails its request', () => {
    const { lines, messages } = reader(4 * MIB);
    const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
    lines.write(Buffer.from(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":${deep}}}\n`));
    expect(messages).toMatchObject([
      { id: 1, error: { code: 1, message: 'a value that is nested too deeply' } },
    ]);
  });

  test('a throwing message handler does not stop the next message', () => {
    const noise: string[] = [];
    const lines = messageLines({
      maxBytes: MIB,
      onMessage: () => {
        throw new Error('listener');
      },
      onReply: () => {},
      onUnexpectedOutput: (it) => noise.push(it),
    });
    const line = '{"jsonrpc":"2.0","id":1,"result":{}}';
    lines.write(Buffer.from(`${line}\n${line}\n`));
    expect(noise).toEqual([line, line]);
  });
});

describe('read messages', () => {
  function read(line: string) {
    const messages: unknown[] = [];
    const noise: string[] = [];
    readMessages(line, { onMessage: (it) => messages.push(it), onUnexpectedOutput: (it) => noise.push(it) });
    return { messages, noise };
  }

  const result = { jsonrpc: '2.0', id: 1, result: { ok: true } };
  const request = { jsonrpc: '2.0', id: 'a', method: 'ping' };
  const notification = { jsonrpc: '2.0', method: 'notifications/x', params: { a: 1 } };
  const failure = { jsonrpc: '2.0', id: 2, error: { code: -1, message: 'no', data: [1] } };

  test.each([
    ['an answer', result],
    ['a request', request],
    ['a notification', notification],
    ['an error', failure],
  ])('%s is taken as it is', (_name, message) => {
    expect(read(JSON.stringify(message))).toEqual({ messages: [message], noise: [] });
    expect(read(`\ufeff  ${JSON.stringify(message)}\r`)).toEqual({ messages: [message], noise: [] });
  });

  test('a batch is taken apart, and what is no message in it is noise', () => {
    const line = JSON.stringify([result, 7, notification]);
    expect(read(line)).toEqual({ messages: [result, notification], noise: ['7'] });
  });

  test.each([
    'Server listening on stdio',
    '{"level":"info","msg":"up"}',
    '{"id":1,"result":{}}',
    '42',
    '{"a":',
  ])('noise: %s', (line) => {
    expect(read(line)).toEqual({ messages: [], noise: [line] });
  });

  test('a response without an id belongs to no request', () => {
    const line = '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}';
    expect(read(line)).toEqual({ messages: [], noise: [line] });
  });

  test('an answer that says nothing fails its request', () => {
    const error = {
      code: -32603,
      message:
        'the response of the server is neither a result nor an error; report this to the author of the server',
    };
    expect(read('{"jsonrpc":"2.0","id":1}')).toEqual({
      messages: [{ jsonrpc: '2.0', id: 1, error }],
      noise: [],
    });
  });

  test.each(['', ' ', '\r', '\t \r'])('a blank line is nothing: %j', (line) => {
    expect(read(line)).toEqual({ messages: [], noise: [] });
  });

  /** The official client drops each of these, and the request never settles. */
  test.each([
    ['unknown members', { ...result, extra: 1 }, result],
    ['a result and an empty error', { ...result, error: null }, result],
    ['a request with more', { ...request, trace: 'x' }, request],
    ['a notification with an id of null', { ...notification, id: null }, notification],
    ['an error with more', { ...failure, error: { ...failure.error, stack: 's' } }, failure],
    [
      'an error with a word as code',
      { jsonrpc: '2.0', id: 3, error: { code: 'E', message: 'm' } },
      { jsonrpc: '2.0', id: 3, error: { code: -32603, message: 'm' } },
    ],
    [
      'a result that is no object',
      { jsonrpc: '2.0', id: 4, result: 'done' },
      {
        jsonrpc: '2.0',
        id: 4,
        error: {
          code: -32603,
          message:
            'the response of the server is neither a result nor an error; report this to the author of the server',
        },
      },
    ],
  ])('%s is put right', (_name, sent, message) => {
    expect(read(JSON.stringify(sent))).toEqual({ messages: [message], noise: [] });
  });
});
