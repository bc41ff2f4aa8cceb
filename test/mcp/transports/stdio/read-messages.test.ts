import { expect, test } from 'vitest';
import { readMessages } from '../../../../src/mcp/transports/stdio/read-messages.ts';

function read(line: string) {
  const messages: unknown[] = [];
  const noise: string[] = [];
  readMessages(line, { onMessage: (it) => messages.push(it), onNoise: (it) => noise.push(it) });
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

test('nobody can be meant by an answer without an id', () => {
  const line = '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}';
  expect(read(line)).toEqual({ messages: [], noise: [line] });
});

test('an answer that says nothing fails its request', () => {
  const error = { code: -32603, message: 'its answer is neither a result nor an error' };
  expect(read('{"jsonrpc":"2.0","id":1}')).toEqual({
    messages: [{ jsonrpc: '2.0', id: 1, error }],
    noise: [],
  });
});

test.each(['', ' ', '\r', '\t \r'])('a blank line is nothing: %j', (line) => {
  expect(read(line)).toEqual({ messages: [], noise: [] });
});

/** The official client drops each of these, and whoever asked waits for ever. */
test.each([
  ['members nobody knows', { ...result, extra: 1 }, result],
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
      error: { code: -32603, message: 'its answer is neither a result nor an error' },
    },
  ],
])('%s is put right', (_name, sent, message) => {
  expect(read(JSON.stringify(sent))).toEqual({ messages: [message], noise: [] });
});
