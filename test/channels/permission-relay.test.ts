import { expect, test } from 'vitest';
import type { ChannelConnection } from '../../src/channels/channel-servers.ts';
import { PermissionRelay } from '../../src/channels/permission-relay.ts';
import type { Question } from '../../src/permissions/ask.ts';
import { CHANNEL } from '../../src/protocol/mcp.ts';

const QUESTION: Question = {
  call: { name: 'Bash', input: { command: 'ls' } },
  toolUseId: 't1',
  reason: { text: 'a rule' },
  suggestions: [],
};
const never = new AbortController().signal;

function setUp(names: readonly string[], refused: readonly string[] = []) {
  const sent: string[] = [];
  const connections = new Map<string, ChannelConnection>();
  const connecting = new Map<string, Promise<unknown>>();
  const relay = new PermissionRelay({
    settings: Object.fromEntries(names.map((name) => [name, { permissions: !refused.includes(name) }])),
    connection: (server) => connections.get(server),
    connecting: (server) => connecting.get(server),
    note: expect.unreachable,
  });
  const connect = (server: string, capability: string = CHANNEL.permissionCapability) => {
    connections.set(server, {
      capabilities: { experimental: { [CHANNEL.capability]: {}, [capability]: {} } },
      notify: (method, { request_id }) => sent.push(`${server} ${method} ${request_id}`),
    });
    relay.connected(server);
  };
  const ask = () => {
    if (!relay.asker) throw new Error('no channel can answer');
    const answer = relay.asker.ask(QUESTION, never);
    return { answer, id: sent.at(-1)?.split(' ').at(-1) as string };
  };
  return { relay, sent, connections, connecting, connect, ask };
}

test('an open request is sent to channels that connect or reconnect, once per connection', async () => {
  const { relay, sent, connections, connect, ask } = setUp(['chat', 'phone', 'mute'], ['mute']);
  connect('chat');
  const { answer, id } = ask();
  relay.connected('chat');
  connections.delete('chat');
  relay.connected('chat');
  connect('chat');
  connect('phone');
  connect('mute');
  const request = `${CHANNEL.permissionRequest} ${id}`;
  expect(sent).toEqual([`chat ${request}`, `chat ${request}`, `phone ${request}`]);
  relay.receive('phone', { request_id: id, behavior: 'allow' });
  expect(await answer).toEqual({ behavior: 'allow', channel: 'phone' });
  expect(sent.slice(3)).toEqual([`chat ${CHANNEL.permissionSettled} ${id}`]);
  connect('chat');
  expect(sent).toHaveLength(4);
});

test('it is ready when a channel can answer, whether others are connecting or not', async () => {
  const { relay, connecting, connect } = setUp(['chat', 'slow']);
  connecting.set('slow', new Promise(() => {}));
  const attempt = Promise.withResolvers<void>();
  connecting.set('chat', attempt.promise);
  const ready = relay.ready();
  expect(relay.asker).toBeUndefined();
  connect('chat');
  attempt.resolve();
  await ready;
  expect(relay.asker?.channels).toEqual(['chat']);
  await relay.ready();
});

test('it is ready without a channel once all have failed or cannot answer', async () => {
  const { relay, connecting, connect } = setUp(['failed', 'oneWay', 'off', 'mute'], ['mute']);
  connecting.set('failed', Promise.resolve());
  connecting.set('mute', new Promise(() => {}));
  connect('oneWay', 'claude/other');
  await relay.ready();
  expect(relay.asker).toBeUndefined();
});
