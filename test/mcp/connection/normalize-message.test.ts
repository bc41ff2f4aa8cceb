import { parseJSONRPCMessage } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalizeLooseMessage, normalizeMessage } from '../../../src/mcp/connection/normalize-message.ts';

const result = { jsonrpc: '2.0', id: 1, result: { ok: true } };

test('a valid message is returned unchanged', () => {
  for (const message of [result, { jsonrpc: '2.0', method: 'm', params: { _meta: {} } }]) {
    expect(normalizeMessage(message)).toBe(message);
    expect(normalizeLooseMessage(message)).toBe(message);
  }
});

test('what does not say that it is JSON-RPC is a message only where nothing else can come', () => {
  const { jsonrpc, ...bare } = result;
  expect(normalizeMessage(bare)).toBeUndefined();
  expect(normalizeLooseMessage(bare)).toEqual(result);
  for (const other of [{ ok: true }, null, 7, 'text', []])
    expect(normalizeLooseMessage(other)).toBeUndefined();
});

test('invalid metadata is removed', () => {
  expect(normalizeMessage({ ...result, result: { ok: true, _meta: null } })).toEqual(result);
  const notice = { jsonrpc: '2.0', method: 'm', params: { a: 1 } };
  expect(normalizeMessage({ ...notice, params: { a: 1, _meta: 'x' } })).toEqual(notice);
});

test('every normalized message is accepted by the official client, and a response keeps its request id', () => {
  const part = fc.oneof(fc.jsonValue(), fc.record({ _meta: fc.jsonValue(), a: fc.jsonValue() }));
  const error = fc.record({ code: fc.jsonValue(), message: fc.jsonValue(), data: fc.jsonValue() });
  const members = {
    jsonrpc: fc.constantFrom('2.0', '1.0', 2),
    id: fc.oneof(fc.nat(), fc.string(), fc.jsonValue()),
    method: fc.oneof(fc.string(), fc.jsonValue()),
    params: part,
    result: part,
    error: fc.oneof(error, fc.jsonValue()),
    more: fc.jsonValue(),
  };
  fc.assert(
    fc.property(fc.record(members, { requiredKeys: [] }), (value) => {
      const tidied = normalizeLooseMessage(value);
      if (tidied === undefined) return;
      expect(() => parseJSONRPCMessage(tidied)).not.toThrow();
      if (!('method' in tidied)) expect(tidied.id).toBe(value.id);
    }),
  );
});
