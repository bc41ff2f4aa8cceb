import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { McpServer as McpServerV1 } from '../../../../interop/node_modules/@modelcontextprotocol/sdk/dist/esm/server/mcp.js';
import { McpServer } from '../../../../interop/node_modules/@modelcontextprotocol/server/dist/index.mjs';
import { tool } from '../../../../src/tool-server/tool.ts';
import { ToolServer } from '../../../../src/tool-server/tool-server.ts';
import { gate } from '../../../support/gate.ts';
import { failure, open } from '../../support/attempt.ts';
import { portTo, testWorld } from '../../support/servers.ts';

const entry = (instance: unknown) => ({ type: 'sdk' as const, name: 'calc', instance });

const add = tool('add', 'Adds', { a: z.number(), b: z.number() }, ({ a, b }) => a + b);

describe('an in-process server', () => {
  test('answers through the port, and its changes are heard', async () => {
    const server = new ToolServer({ name: 'calc', version: '1.2.3', instructions: 'Use add.', tools: [add] });
    await using far = await open(
      { type: 'sdk', name: 'calc' },
      testWorld({ openPort: () => portTo(server) }),
    );
    expect(far.connection.serverInfo).toEqual({ name: 'calc', version: '1.2.3' });
    expect(await far.connection.callTool('add', { a: 2, b: 40 })).toMatchObject({
      content: [{ type: 'text', text: '42' }],
    });
    const changed = Promise.withResolvers<void>();
    far.connection.onListChanged(() => changed.resolve());
    server.add(tool('more', '', {}, () => 'x'));
    await changed.promise;
  });

  test('hears of an aborted call, whose request is not waited for', async () => {
    const door = gate();
    const cancelled = Promise.withResolvers<void>();
    const slow = tool('slow', '', {}, (_args, { signal }) => {
      signal.addEventListener('abort', () => cancelled.resolve());
      return door.pass();
    });
    const port = portTo(new ToolServer({ name: 'calc', tools: [slow] }));
    await using far = await open({ type: 'sdk', name: 'calc' }, testWorld({ openPort: () => port }));
    const abort = new AbortController();
    const call = far.connection.callTool('slow', {}, { signal: abort.signal });
    await door.reached;
    abort.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await cancelled.promise;
    expect(port.taken).toMatchObject([{ method: 'tools/call' }]);
    door.open();
  });

  test('that takes too long is named with its tool', async () => {
    const door = gate();
    const server = new ToolServer({ name: 'calc', tools: [tool('slow', '', {}, () => door.pass())] });
    await using far = await open(
      { type: 'sdk', name: 'calc' },
      testWorld({ openPort: () => portTo(server) }),
    );
    await expect(far.connection.callTool('slow', {}, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('tool "slow" timed out after 20 ms; raise "timeout"'),
    });
    door.open();
  });

  test('that is closed fails the calls in flight, and hears nothing more', async () => {
    const door = gate();
    const port = portTo(new ToolServer({ name: 'calc', tools: [tool('slow', '', {}, () => door.pass())] }));
    await using far = await open({ type: 'sdk', name: 'calc' }, testWorld({ openPort: () => port }));
    const call = far.connection.callTool('slow', {});
    const refused = expect(call).rejects.toMatchObject({ code: 'closed' });
    await door.reached;
    await far.connection.close();
    await refused;
    await expect(far.connection.listTools()).rejects.toMatchObject({ code: 'closed' });
    door.open();
  });

  test('that answers with a JSON-RPC error is quoted as it is', async () => {
    const server = new ToolServer({ name: 'calc', tools: [add] });
    await using far = await open(
      { type: 'sdk', name: 'calc' },
      testWorld({ openPort: () => portTo(server) }),
    );
    const call = far.connection.callTool(5 as unknown as string, {});
    await expect(call).rejects.toMatchObject({
      code: -32602,
      message: expect.not.stringMatching(/^MCP error/),
    });
  });

  test('whose port fails is told in the words of the failure', async () => {
    const port = { send: () => Promise.reject(new Error('not found: ghost')), listen: () => () => {} };
    const thrown = await failure({ type: 'sdk', name: 'ghost' }, testWorld({ openPort: () => port }));
    expect(thrown).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('not found: ghost'),
    });
  });

  test('cannot be reached without a program', async () => {
    expect(await failure({ type: 'sdk', name: 'calc' })).toMatchObject({ code: 'bad-config' });
  });
});

describe('a server of this process that is at hand', () => {
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
  const v1 = () => {
    const server = new McpServerV1({ name: 'one', version: '1' });
    server.registerTool('who', {}, async () => text('v1'));
    return server;
  };
  const v2 = () => {
    const server = new McpServer({ name: 'two', version: '2' });
    server.registerTool('who', {}, async () => text('v2'));
    return server;
  };
  const own = () => new ToolServer({ name: 'calc', tools: [tool('who', '', {}, () => 'own')] });

  test.each([
    ['our own', own, 'own'],
    ['an official one of the first line', v1, 'v1'],
    ['an official one of the second line', v2, 'v2'],
    ['what makes one', () => v2, 'v2'],
  ])('%s is called directly', async (_, make, words) => {
    await using far = await open(entry(make()));
    expect(far.connection.era).toBe('legacy');
    expect(await far.connection.callTool('who', {})).toMatchObject(text(words));
  });

  test.each([
    ['our own', own],
    ['an official one', v1],
  ])('%s serves others on when we leave, and us when we come back', async (_, make) => {
    const instance = make();
    await using other = await open(entry(instance));
    const first = await open(entry(instance));
    await first.connection.close();
    await expect(first.connection.callTool('who', {})).rejects.toMatchObject({ code: 'closed' });
    expect(await other.connection.callTool('who', {})).toHaveProperty('content');
    await using again = await open(entry(instance));
    expect(await again.connection.callTool('who', {})).toHaveProperty('content');
  });

  test('what was made for us ends with us', async () => {
    const closed = Promise.withResolvers<void>();
    const make = () => {
      const server = v2();
      server.server.onclose = closed.resolve;
      return server;
    };
    const far = await open(entry(make));
    await far.connection.close();
    await closed.promise;
  });

  test('hears of an abort, tells of its progress and of its changes', async () => {
    const door = gate();
    const aborted = Promise.withResolvers<void>();
    const slow = tool('slow', '', {}, (_args, { signal, progress }) => {
      signal.addEventListener('abort', () => aborted.resolve());
      progress(1, { total: 2 });
      return door.pass();
    });
    const server = new ToolServer({ name: 'calc', tools: [slow] });
    await using far = await open(entry(server));
    const changed = Promise.withResolvers<void>();
    far.connection.onListChanged(() => changed.resolve());
    server.add(tool('more', '', {}, () => 'x'));
    await changed.promise;
    const abort = new AbortController();
    const steps: unknown[] = [];
    const onProgress = ({ progress }: { progress: number }) => steps.push(progress);
    const call = far.connection.callTool('slow', {}, { signal: abort.signal, onProgress });
    await door.reached;
    abort.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await aborted.promise;
    expect(steps).toEqual([1]);
    door.open();
  });

  test('that is no server is refused by name', async () => {
    expect(await failure(entry({ nothing: true }))).toMatchObject({
      code: 'bad-config',
      message: expect.stringContaining('"instance" is not an MCP server'),
    });
  });
});
