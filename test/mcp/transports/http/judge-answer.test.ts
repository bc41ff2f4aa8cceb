import { expect, test } from 'vitest';
import {
  type Answer,
  judgeAnswer,
  readJsonAnswer,
} from '../../../../src/mcp/transports/http/judge-answer.ts';

const NO_ANSWER = 'its answer is neither a result nor an error';

const ok: Answer = {
  method: 'POST',
  wantsAnswer: true,
  hadSession: false,
  status: 200,
  type: 'application/json',
  text: '{}',
};

test.each<['streamable' | 'sse', Partial<Answer>]>([
  ['streamable', {}],
  ['streamable', { type: 'text/event-stream', text: '' }],
  ['streamable', { status: 202, type: '', text: '', wantsAnswer: false }],
  ['streamable', { status: 204, type: '', text: '', wantsAnswer: false }],
  ['streamable', { method: 'GET', type: 'text/event-stream' }],
  // What the official transport reads eras, sign-in and missing streams from.
  ['streamable', { status: 400 }],
  ['streamable', { status: 404, type: 'text/html' }],
  ['streamable', { status: 405, method: 'GET' }],
  ['streamable', { status: 401 }],
  ['streamable', { status: 403, method: 'GET' }],
  ['streamable', { status: 500, method: 'DELETE' }],
  ['sse', { status: 202, type: '', text: 'Accepted' }],
])('%s %j is for the transport', (kind, more) => {
  expect(judgeAnswer(kind, { ...ok, ...more })).toBeUndefined();
});

test.each<['streamable' | 'sse', Partial<Answer>, object]>([
  ['streamable', { status: 404, hadSession: true }, { code: 'http-status', status: 404, hadSession: true }],
  [
    'streamable',
    { status: 400, hadSession: true, text: '{"error":{}}' },
    { hadSession: true, text: '{"error":{}}' },
  ],
  [
    'streamable',
    { status: 403, type: 'text/plain', text: 'not from here', challenge: 'Bearer' },
    { status: 403, reason: 'not from here', challenge: 'Bearer', message: 'it answered 403: not from here' },
  ],
  ['streamable', { status: 404, hadSession: true, method: 'GET' }, { status: 404, hadSession: false }],
  [
    'streamable',
    { status: 503, retryAfterMs: 2000, type: 'text/plain', text: 'busy' },
    { message: 'it answered 503 and asks to wait 2 s: busy', retryAfterMs: 2000, wasSent: true },
  ],
  [
    'streamable',
    { status: 500, type: 'text/html', text: '<title>Oh</title><p>x' },
    { message: 'it answered 500', reason: 'Oh x' },
  ],
  ['sse', { status: 403, type: 'text/html', text: '<h1>Blocked</h1>' }, { status: 403, reason: 'Blocked' }],
  [
    'streamable',
    { type: 'text/html', text: '<title>Log in</title>' },
    {
      code: 'bad-answer',
      message: 'it answered 200 with text/html instead of application/json ("Log in"); check "url"',
    },
  ],
  ['streamable', { text: ' ' }, { code: 'bad-answer' }],
  [
    'streamable',
    { text: '' },
    { message: 'it answered 200 with nothing instead of application/json; check "url"' },
  ],
  ['streamable', { status: 204, type: '', text: '' }, { code: 'bad-answer', status: 204 }],
  ['streamable', { status: 202, type: '', text: '' }, { code: 'bad-answer', status: 202 }],
  ['streamable', { method: 'GET', type: 'text/html' }, { code: 'bad-answer' }],
  ['sse', { status: 404, method: 'GET' }, { code: 'http-status', status: 404 }],
  ['sse', { status: 401, method: 'GET' }, { code: 'http-status', status: 401 }],
  ['sse', { method: 'GET' }, { code: 'bad-answer' }],
  ['sse', { status: 500 }, { code: 'http-status', status: 500 }],
])('%s %j fails the request', (kind, more, fault) => {
  expect(judgeAnswer(kind, { ...ok, ...more })).toMatchObject(fault);
});

test.each([
  ['{"jsonrpc":"2.0","id":1,"result":{}}', 1],
  ['{"jsonrpc":"2.0","id":"1","result":{}}', 1],
  ['[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":1,"result":{}}]', 1],
])('%s is read as an answer to %s', (text, id) => {
  expect(readJsonAnswer(text, 200, id)).toEqual(JSON.parse(text));
});

test.each([
  ['{"jsonrpc":"2.0","id":1,"result":{},"error":null}', { result: {} }],
  ['{"id":1,"result":{"_meta":null}}', { result: {} }],
  ['{"jsonrpc":"2.0","id":1,"result":null}', { error: { code: -32603, message: NO_ANSWER } }],
  ['{"jsonrpc":"2.0","id":1}', { error: { code: -32603, message: NO_ANSWER } }],
  [
    '{"jsonrpc":"2.0","id":1,"error":{"code":"E","message":"no"}}',
    { error: { code: -32603, message: 'no' } },
  ],
])('%s is put right', (text, read) => {
  expect(readJsonAnswer(text, 200, 1)).toEqual({ jsonrpc: '2.0', id: 1, ...read });
});

test.each([
  ['[]', 'it answered 200, but no answer to the request is in the list it sent'],
  [
    '[{"jsonrpc":"2.0","id":9,"result":{}},7]',
    'it answered 200, but no answer to the request is in the list it sent',
  ],
  [
    '{"jsonrpc":"2.0","method":"notifications/x"}',
    'it answered 200, but what it sent is no answer to the request; check "url"',
  ],
  [
    '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    'it answered 200, but what it sent is no answer to the request; check "url"',
  ],
  [
    '{"jsonrpc":"2.0","id":{"toString":1},"result":{}}',
    'it answered 200, but to another request (no id instead of 1)',
  ],
  ['{"jsonrpc":"2.0","id":2,"result":{}}', 'it answered 200, but to another request (2 instead of 1)'],
  ['{"jsonrpc":"2.0","error":{"code":1}}', 'it answered 200, but to another request (no id instead of 1)'],
  ['{"ok":true}', 'it answered 200, but what it sent is no JSON-RPC message; check "url"'],
  ['null', 'it answered 200, but what it sent is no JSON-RPC message; check "url"'],
  ['{"jsonrpc"', 'it answered 200, but its JSON is broken'],
])('%s is no answer', (text, message) => {
  expect(() => readJsonAnswer(text, 200, 1)).toThrow(
    expect.objectContaining({ code: 'bad-answer', message }),
  );
});
