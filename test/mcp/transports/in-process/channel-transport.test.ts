import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { replayed } from '../../../../src/mcp/transports/in-process/dial-in-process.ts';

const initializeResult = { protocolVersion: '2025-11-25' };
const toolsListResult = { tools: [{ name: 'known' }] };
const never = new AbortController().signal;

function port() {
  const sent: unknown[] = [];
  const listen = () => () => {};
  return {
    sent,
    listen,
    send: async (message: JSONRPCMessage) => {
      sent.push('method' in message ? message.method : message);
      return 'from the wire';
    },
  };
}

const request = (method: string, id = 1): JSONRPCMessage => ({ jsonrpc: '2.0', id, method });

test('the handshake and the first list are answered beforehand; all else goes over the wire', async () => {
  const wire = port();
  const { send } = replayed(wire, { initializeResult, toolsListResult });
  expect(await send(request('initialize', 7), never)).toEqual({
    jsonrpc: '2.0',
    id: 7,
    result: initializeResult,
  });
  expect(await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, never)).toBeUndefined();
  expect(await send(request('tools/list', 8), never)).toEqual({
    jsonrpc: '2.0',
    id: 8,
    result: toolsListResult,
  });
  expect(wire.sent).toEqual([]);
  expect(await send(request('tools/list'), never)).toBe('from the wire');
  expect(await send(request('tools/call'), never)).toBe('from the wire');
  expect(wire.sent).toEqual(['tools/list', 'tools/call']);
});

test('without a list beforehand it is asked for', async () => {
  const wire = port();
  expect(await replayed(wire, { initializeResult }).send(request('tools/list'), never)).toBe('from the wire');
});
