import { expect, test, vi } from 'vitest';
import type { RpcMessage, RpcResponse } from '../../src/protocol/json-rpc.ts';
import { makeManifest } from '../../src/sdk/manifest.ts';
import type { McpSession } from '../../src/tool-server/mcp-session.ts';
import { createSdkMcpServer, type SdkServerEntry } from '../../src/tool-server/sdk-server.ts';
import { tool } from '../../src/tool-server/tool.ts';
import { entryOf } from './fake-world.ts';

const FOREIGN: SdkServerEntry = {
  type: 'sdk',
  name: 'f',
  instance: { connect: async () => {}, close: async () => {} },
};
const INFO = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'f', version: '1' },
};
const LISTED = { tools: [{ name: 't', inputSchema: { type: 'object' } }] };

/** A session that answers these methods, and keeps what it was sent. */
function session(answers: Record<string, object | undefined>): McpSession & { received: RpcMessage[] } {
  const received: RpcMessage[] = [];
  return {
    received,
    async receive(message) {
      const { method, id } = message as { method: string; id?: string };
      received.push(message as RpcMessage);
      const result = answers[method];
      if (id === undefined) return undefined;
      return (
        result
          ? { jsonrpc: '2.0', id, result }
          : { jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }
      ) as RpcResponse;
    },
    close() {},
  };
}

const unused: McpSession = {
  receive: () => Promise.reject(new Error('our own servers need no session')),
  close() {},
};

test('a server of our own tells its handshake without being asked (C29)', async () => {
  const server = createSdkMcpServer({
    name: 'calc',
    version: '1.2.3',
    instructions: 'Add.',
    tools: [tool('add', 'Adds', { type: 'object', properties: { a: { type: 'number' } } }, () => 1)],
  });
  expect(await makeManifest(entryOf(server), unused)).toEqual({
    initializeResult: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'calc', version: '1.2.3' },
      instructions: 'Add.',
    },
    toolsListResult: {
      tools: [
        {
          name: 'add',
          description: 'Adds',
          inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
          execution: { taskSupport: 'forbidden' },
        },
      ],
    },
  });
});

test('a foreign server is asked as an agent would ask it', async () => {
  const asked = session({ initialize: INFO, 'tools/list': LISTED });
  expect(await makeManifest(FOREIGN, asked)).toEqual({ initializeResult: INFO, toolsListResult: LISTED });
  expect(asked.received.map((it) => 'method' in it && it.method)).toEqual([
    'initialize',
    'notifications/initialized',
    'tools/list',
  ]);
});

test.each<[string, Record<string, object | undefined>, object | undefined]>([
  [
    'has no tools',
    { initialize: { ...INFO, capabilities: {} } },
    { initializeResult: { ...INFO, capabilities: {} } },
  ],
  ['does not list them', { initialize: INFO }, { initializeResult: INFO }],
  [
    'lists them in pages',
    { initialize: INFO, 'tools/list': { ...LISTED, nextCursor: 'x' } },
    { initializeResult: INFO },
  ],
  ['does not initialise', {}, undefined],
])('a foreign server that %s', async (_, answers, manifest) => {
  expect(await makeManifest(FOREIGN, session(answers))).toEqual(manifest);
});

test('a foreign server that never answers is left to the agent after 250 ms', async () => {
  vi.useFakeTimers();
  try {
    const stuck: McpSession = { receive: () => new Promise(() => {}), close() {} };
    const manifest = makeManifest(FOREIGN, stuck);
    await vi.advanceTimersByTimeAsync(250);
    expect(await manifest).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
