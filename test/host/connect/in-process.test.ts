import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { tool } from '../../../src/tools/tool.ts';
import { ToolServer } from '../../../src/tools/tool-server.ts';
import { gate } from '../../world/gate.ts';
import { failure, open } from './attempt.ts';
import { portTo, testWorld } from './servers.ts';

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
    far.connection.onListChanged(changed.resolve);
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
      message: 'MCP server "srv": tool "slow" timed out after 20 ms',
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
