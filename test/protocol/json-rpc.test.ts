import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type IncomingRpc, readRpc, rpcFailure, rpcResult } from '../../src/protocol/json-rpc.ts';

test.each<[string, unknown, IncomingRpc]>([
  [
    'a request',
    { jsonrpc: '2.0', id: 1, method: 'm', params: { a: 1 } },
    { kind: 'request', id: 1, method: 'm', params: { a: 1 } },
  ],
  ['the id 0', { id: 0, method: 'm' }, { kind: 'request', id: 0, method: 'm', params: {} }],
  ['an empty string as id', { id: '', method: 'm' }, { kind: 'request', id: '', method: 'm', params: {} }],
  ['a notification', { method: 'm' }, { kind: 'notification', method: 'm', params: {} }],
  ['an id of 2.5', { id: 2.5, method: 'm' }, { kind: 'notification', method: 'm', params: {} }],
  ['an id of null', { id: null, method: 'm' }, { kind: 'notification', method: 'm', params: {} }],
  ['an object as id', { id: {}, method: 'm' }, { kind: 'notification', method: 'm', params: {} }],
  [
    'a result',
    { jsonrpc: '2.0', id: 1, result: {} },
    { kind: 'response', id: 1, message: { jsonrpc: '2.0', id: 1, result: {} } as never },
  ],
  [
    'params that are a list',
    { id: 1, method: 'm', params: [] },
    { kind: 'malformed', id: 1, reason: 'the params of m must be an object' },
  ],
  [
    'neither method nor result',
    { id: 1 },
    { kind: 'malformed', id: 1, reason: 'a JSON-RPC message needs a method, a result or an error' },
  ],
  [
    'a batch',
    [{ id: 1, method: 'm' }],
    { kind: 'malformed', id: undefined, reason: 'a JSON-RPC message must be an object' },
  ],
])('%s', (_name, message, expected) => {
  expect(readRpc(message)).toEqual(expected);
});

test('R80 responses echo the id, with the official order of members', () => {
  expect(
    [
      rpcResult(2, { a: 1 }),
      rpcFailure('x', -32601, 'Method not found'),
      rpcFailure(1, 1, 'm', { d: 1 }),
    ].map((it) => JSON.stringify(it)),
  ).toEqual([
    '{"result":{"a":1},"jsonrpc":"2.0","id":2}',
    '{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"Method not found"}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{"d":1}}}',
  ]);
});

test('any JSON value is parsed to one kind', () => {
  const rpcLike = fc.record(
    {
      id: fc.jsonValue(),
      method: fc.oneof(fc.string(), fc.jsonValue()),
      params: fc.jsonValue(),
      result: fc.jsonValue(),
      error: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), rpcLike), (value) => {
      expect(['request', 'notification', 'response', 'malformed']).toContain(readRpc(value).kind);
    }),
  );
});
