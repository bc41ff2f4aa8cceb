import { describe, expect, test } from 'vitest';
import { ProgramPorts } from '../../../src/agent/session/connect-deps.ts';

describe('program ports', () => {
  const never = new AbortController().signal;

  test('a message to a server is a control request, and its response is the answer', async () => {
    const asked: unknown[] = [];
    const ports = new ProgramPorts(async (body, signal) => {
      asked.push([body, signal]);
      return { response: { mcp_response: 'reply' }, extra: {} };
    });
    const message = { jsonrpc: '2.0' as const, id: 1, method: 'ping' };
    expect(await ports.open('s').send(message, never)).toBe('reply');
    expect(asked).toEqual([[{ subtype: 'mcp_message', server_name: 's', message }, never]]);
  });

  test('messages of a server go to the current listener', () => {
    const ports = new ProgramPorts(() => expect.unreachable());
    const heard: string[] = [];
    const stopOld = ports.open('s').listen((it) => heard.push(`old ${String(it)}`));
    ports.deliver('s', 1);
    ports.deliver('other', 2);
    const stopNew = ports.open('s').listen((it) => heard.push(`new ${String(it)}`));
    // Closing the old server late does not close the new one.
    stopOld();
    ports.deliver('s', 3);
    stopNew();
    ports.deliver('s', 4);
    ports.deliver('constructor', 5);
    expect(heard).toEqual(['old 1', 'new 3']);
  });
});
