import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createHost, type HostOptions } from '../../../src/entry/host.ts';
import type { CallToolResult } from '../../../src/protocol/mcp.ts';
import { PROCESSES } from '../contract/support/third-party-servers.ts';

const TASK_SERVER = {
  command: process.execPath,
  args: [fileURLToPath(new URL('fixtures/task-server.mjs', import.meta.url))],
};

async function opened(entry: object, options: HostOptions = {}) {
  const host = createHost({ ...options, mcpServers: { s: entry as never }, cacheDirectory: false });
  onTestFinished(() => host.close());
  await host.ready({ servers: ['s'] });
  return host;
}

const textOf = ({ content }: CallToolResult) =>
  content.map((it) => ('text' in it ? it.text : it.type)).join();

describe('a tool call that a server of MCP 2026-07-28 runs as a task', () => {
  test('resolves with the result of the task, and reports its progress', async () => {
    const host = await opened(TASK_SERVER);
    const progress: unknown[] = [];
    const result = await host.callTool(
      's',
      'work',
      { how: 'well' },
      { onProgress: (it) => progress.push(it) },
    );
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'done' }], extra: 'kept' });
    expect(result).not.toHaveProperty('resultType');
    expect(progress).toContainEqual({ progress: expect.any(Number), message: 'step 2' });
  });

  test('may also be answered at once', async () => {
    const host = await opened(TASK_SERVER);
    expect(textOf(await host.callTool('s', 'work', { how: 'now' }))).toBe('at once');
  });

  test('asks for input through the handlers of the host', async () => {
    const asked: unknown[] = [];
    const host = await opened(TASK_SERVER, {
      handlers: {
        elicitation: async (params) => {
          asked.push(params.message);
          return { action: 'accept', content: { color: 'blue' } };
        },
      },
    });
    expect(textOf(await host.callTool('s', 'work', { how: 'ask' }))).toBe('color blue');
    expect(asked).toEqual(['Which color?']);
  });

  test('rejects with the error of a failed task', async () => {
    const host = await opened(TASK_SERVER);
    await expect(host.callTool('s', 'work', { how: 'fail' })).rejects.toMatchObject({
      name: 'ServerFault',
      code: -32050,
      message: 'the task broke',
    });
  });

  test.each<[string, () => object, object]>([
    ['an abort', () => ({ signal: AbortSignal.timeout(100) }), { name: 'AbortError' }],
    ['a time limit', () => ({ timeoutMs: 100 }), { code: 'timeout' }],
  ])('%s cancels the task', async (_, options, failure) => {
    const host = await opened(TASK_SERVER);
    await expect(host.callTool('s', 'work', { how: 'hang' }, options())).rejects.toMatchObject(failure);
    await expect.poll(async () => textOf(await host.callTool('s', 'state'))).toBe('cancelled');
  });
});

test('a tool of MCP 2025-11-25 that requires a task is called as one', async () => {
  const host = await opened(PROCESSES.everything, {
    handlers: { elicitation: async () => ({ action: 'accept', content: { interpretation: 'general' } }) },
  });
  const tools = await host.listTools();
  expect(tools.find(({ name }) => name === 'simulate-research-query')?.execution).toEqual({
    taskSupport: 'required',
  });
  const result = await host.callTool('s', 'simulate-research-query', { topic: 'tides', ambiguous: false });
  expect(textOf(result)).toContain('tides');
}, 60_000);
