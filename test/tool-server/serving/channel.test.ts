import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Client } from '../../../interop/node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.js';
import { StreamableHTTPClientTransport } from '../../../interop/node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js';
import { createHost } from '../../../src/entry/host.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { type ChannelReceipt, ToolServerChannel } from '../../../src/tool-server/serving/channel.ts';

const REQUEST = { request_id: 'abcde', tool_name: 'Bash', description: 'why', input_preview: '{}' };

describe('a channel over HTTP', () => {
  test('pushes to a host of MCP 2026-07-28 outside of calls, and gets receipts', async () => {
    const receipts: ChannelReceipt[] = [];
    const server = toolServer('news', { channel: { onReceipt: (it) => void receipts.push(it) } });
    await using http = await server.listen();
    const { promise: received, resolve } = Promise.withResolvers<string>();
    await using host = createHost({
      mcpServers: { news: { type: 'http', url: http.url } },
      channels: {
        servers: { news: true },
        directory: mkdtempSync(join(tmpdir(), 'channels-')),
        onMessage: ({ content }) => resolve(content),
      },
    });
    await host.ready({ servers: ['news'] });
    expect(host.status().news).toMatchObject({ era: 'modern' });
    await server.channel.send('over the stream', { id: 'm1' });
    expect(await received).toBe('over the stream');
    await expect.poll(() => receipts).toEqual([{ kind: 'ack', id: 'm1' }]);
  });

  test('pushes to clients of earlier revisions, and answers their permission requests', async () => {
    const asked: unknown[] = [];
    const server = toolServer('news', {
      channel: {
        onPermissionRequest: async (request) => {
          asked.push(request);
          return 'allow';
        },
      },
    });
    await using http = await server.listen();
    const client = new Client({ name: 'old', version: '1' });
    const heard: unknown[] = [];
    const transport = new StreamableHTTPClientTransport(new URL(http.url));
    await client.connect(transport as never);
    client.fallbackNotificationHandler = async (it) => void heard.push(it);
    expect(client.getServerCapabilities()?.experimental).toEqual({
      'claude/channel': {},
      'claude/channel/permission': {},
    });
    await server.channel.send('hello');
    await client.notification({
      method: 'notifications/claude/channel/permission_request',
      params: REQUEST,
    } as never);
    await expect
      .poll(() => heard)
      .toMatchObject([
        { method: 'notifications/claude/channel', params: { content: 'hello' } },
        {
          method: 'notifications/claude/channel/permission',
          params: { request_id: 'abcde', behavior: 'allow' },
        },
      ]);
    expect(asked).toEqual([REQUEST]);
    await client.close();
  });
});

describe('permission requests of several callers', () => {
  const CHANNEL = 'notifications/claude/channel';
  const port = (caller: string, acceptsPush: boolean) => {
    const sent: unknown[] = [];
    return { caller, acceptsPush, sent, notify: (method: string) => void sent.push(method) };
  };

  test('are answered only to the caller that asked', async () => {
    const [ada, eve, request] = [port('ada', true), port('eve', true), port('ada', false)];
    const options = { onPermissionRequest: async () => 'allow' as const };
    const channel = new ToolServerChannel('news', options, () => [ada, eve, request]);
    channel.receive(`${CHANNEL}/permission_request`, REQUEST, request);
    await expect.poll(() => ada.sent).toEqual([`${CHANNEL}/permission`]);
    expect(eve.sent).toEqual([]);
  });

  test.each([
    ['the caller that asked', port('ada', false), true],
    ['another caller', port('eve', false), false],
    ['another session', port('ada', true), false],
  ])('are settled or not by %s', async (_, by, isSettled) => {
    let signal: AbortSignal | undefined;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const onPermissionRequest = (_: unknown, context: { readonly signal: AbortSignal }) => {
      signal = context.signal;
      return promise;
    };
    const channel = new ToolServerChannel('news', { onPermissionRequest }, () => []);
    channel.receive(`${CHANNEL}/permission_request`, REQUEST, port('ada', false));
    channel.receive('notifications/toolplane/channel/permission_settled', { request_id: 'abcde' }, by);
    expect(signal?.aborted).toBe(isSettled);
    resolve(undefined);
  });
});

describe('a channel of a tool server', () => {
  test('has no clients: sending rejects, so that nothing is lost unnoticed', async () => {
    await expect(toolServer('news', { channel: true }).channel.send('x')).rejects.toMatchObject({
      code: 'not-connected',
    });
  });

  test('must be declared', async () => {
    const server = toolServer('news').tool('t', '', {}, async (_, ctx) => ctx.channel('x'));
    expect(() => server.channel).toThrow(/set the option "channel"/);
    expect(await server.call('t')).toMatchObject({ isError: true });
  });

  test('in a direct call, the message goes to onNotification', async () => {
    const sent: unknown[] = [];
    const server = toolServer('news', { channel: true }).tool('t', '', {}, async (_, ctx) =>
      ctx.channel('x', { id: 1 }),
    );
    await server.call('t', {}, { onNotification: (...it) => void sent.push(it) });
    expect(sent).toEqual([['notifications/claude/channel', { content: 'x', meta: { id: 1 } }]]);
  });

  test.each([
    ['content that is no string', [7], /must be a string/],
    ['meta that is no object', ['x', 'y'], /must be an object/],
  ])('%s', async (_, args, fault) => {
    const { channel } = toolServer('news', { channel: true });
    await expect((channel.send as (...it: unknown[]) => Promise<void>)(...args)).rejects.toThrow(fault);
  });
});
