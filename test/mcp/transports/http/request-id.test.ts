import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quickRequestIdOf, requestIdOf } from '../../../../src/mcp/transports/http/request-id.ts';

test.each([
  ['{"method":"m","jsonrpc":"2.0","id":12}', 12],
  ['{"jsonrpc":"2.0","id":"probe-1","method":"m"}', 'probe-1'],
  ['{"jsonrpc":"2.0","method":"m","params":{"a":1,"id":5}}', undefined],
  ['{"result":{},"jsonrpc":"2.0","id":3}', undefined],
  ['[{"method":"m","id":1}]', undefined],
  ['', undefined],
])('the request in %s is %s', (body, id) => {
  expect(requestIdOf(body)).toBe(id);
});

test.each([
  ['{"jsonrpc":"2.0","id":12,"method":"m", the rest', 12],
  ['the rest, "a":1,"id":12}', 12],
])('the quick way does not read all of %s', (body, id) => {
  expect(quickRequestIdOf(body)).toBe(id);
});

test('of a request the quick way finds the same, whatever its parameters', () => {
  const id = fc.oneof(fc.nat(), fc.string());
  fc.assert(
    fc.property(fc.jsonValue(), id, fc.boolean(), (params, it, isLast) => {
      const body = isLast
        ? { method: 'm', params, jsonrpc: '2.0', id: it }
        : { jsonrpc: '2.0', id: it, method: 'm', params };
      expect(quickRequestIdOf(JSON.stringify(body))).toBe(it);
    }),
  );
});
