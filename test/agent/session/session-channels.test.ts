import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type ModelScript,
  scriptedModel,
  text,
  together,
  toolUse,
} from '../../../src/agent/models/scripted.ts';
import { AgentSession, type SessionOptions } from '../../../src/agent/session/agent-session.ts';
import { Inbox } from '../../../src/channels/inbox.ts';
import { CHANNEL_DEFAULTS, type ChannelSetting } from '../../../src/config/settings/channel-settings.ts';
import { memoryLinks } from '../../../src/control/memory-link.ts';
import { createAgentClient } from '../../../src/sdk/agent-client.ts';
import type { Options } from '../../../src/sdk/options/options.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import type { ChannelReceipt } from '../../../src/tool-server/serving/channel.ts';
import { fakeDeps } from '../../sdk/support/fake-deps.ts';
import { allow, sessionOptions } from '../../support/drive.ts';

type Given = Omit<Partial<SessionOptions>, 'channels'> & {
  directory?: string;
  channels?: Record<string, Partial<ChannelSetting>>;
  requested?: readonly string[];
  options?: Options;
};

/** An agent in this process with an inbox of its own. */
async function openAgent(
  script: ModelScript,
  { directory, channels = { news: {} }, requested = [], options, ...host }: Given = {},
) {
  const home = directory ?? mkdtempSync(join(tmpdir(), 'channels-'));
  const notes: string[] = [];
  const model = scriptedModel(script);
  let session: AgentSession | undefined;
  const settings = Object.fromEntries(
    Object.entries(channels).map(([name, it]) => [name, { ...CHANNEL_DEFAULTS, ...it }]),
  );
  const link = () => {
    const { program, agent } = memoryLinks();
    session = new AgentSession(
      agent,
      sessionOptions(model, {
        note: (line) => void notes.push(line),
        ...host,
        channels: { settings, requested, openInbox: () => Inbox.open(home) },
      }),
    );
    return program;
  };
  const client = await createAgentClient(fakeDeps())({ ...options, link });
  onTestFinished(async () => {
    await client.close();
    await session?.done;
  });
  return { client, model, notes, directory: home, session: () => session as AgentSession };
}

/** Waits for the next result. */
async function nextResult(client: Awaited<ReturnType<typeof openAgent>>['client']) {
  for await (const message of client.messages()) if (message.type === 'result') return message;
  throw new Error('no result');
}

async function storedIn(directory: string) {
  const inbox = await Inbox.open(directory);
  onTestFinished(() => inbox[Symbol.dispose]());
  return inbox.messages({}, 1_000);
}

type Requests = { requests: readonly { messages: readonly { content: unknown }[] }[] };

/** The last message of a request to the model. */
const requestText = (model: Requests, at: number) =>
  JSON.stringify(model.requests.at(at)?.messages.at(-1)?.content);
const lastText = (model: Requests) => requestText(model, -1);

describe('messages of channels', () => {
  test('start a turn of an idle agent and are labelled as data (R170, R171, R172)', async () => {
    const receipts: ChannelReceipt[] = [];
    const server = toolServer('news', { channel: { onReceipt: (it) => void receipts.push(it) } });
    const { client, model, directory } = await openAgent(async () => text('noted'), {
      options: { mcpServers: { news: server } },
    });
    await server.channel.send('deploy finished', { id: 'd1', user: 'ci' });
    expect(await nextResult(client)).toMatchObject({
      result: 'noted',
      origin: { kind: 'channel', server: 'news' },
    });
    expect(lastText(model)).toContain(
      String.raw`<channel source=\"news\" id=\"d1\" user=\"ci\">deploy finished</channel>`,
    );
    expect(lastText(model)).toContain('data from outside this conversation');
    expect(receipts).toEqual([{ kind: 'ack', id: 'd1' }]);
    await expect.poll(() => storedIn(directory)).toMatchObject([{ id: 'd1', state: 'delivered' }]);
  });

  test('end a Sleep call within a second, and follow its result (R173)', async () => {
    const server = toolServer('news', { channel: true });
    const { client, model } = await openAgent(
      async (_, n) => (n === 1 ? toolUse('Sleep', { seconds: 60 }, 's1') : text('awake')),
      { options: { mcpServers: { news: server } }, builtIns: ['Sleep'], rules: allow('Sleep') },
    );
    const turn = client.turn('wait for news');
    let wokenAt = 0;
    let sentAt = 0;
    for await (const message of turn) {
      if (message.type === 'assistant' && sentAt === 0) {
        sentAt = performance.now();
        await server.channel.send('news at last');
      }
      if (message.type === 'user' && message.isSynthetic) wokenAt = performance.now();
    }
    expect(wokenAt - sentAt).toBeLessThan(1_000);
    expect(wokenAt).toBeGreaterThan(0);
    expect(lastText(model)).toMatch(/Woken by a channel.*<channel source=\\"news\\">news at last/);
    expect(model.requests).toHaveLength(2);
  });

  test('enter after the whole tool round, never between its calls', async () => {
    const server = toolServer('news', { channel: true })
      .tool('a', '', {}, async (_, ctx) => {
        await ctx.channel('from a handler');
        return 'A';
      })
      .tool('b', '', {}, () => 'B');
    const { client, model } = await openAgent(
      async (_, n) =>
        n === 1 ? together(toolUse('mcp__news__a', {}, '1'), toolUse('mcp__news__b', {}, '2')) : text('ok'),
      { options: { mcpServers: { news: server } }, rules: allow('mcp__news') },
    );
    await client.ask('go');
    const content = model.requests[1]?.messages.at(-1)?.content as { type: string; text?: string }[];
    expect(content.map(({ type }) => type)).toEqual(['tool_result', 'tool_result', 'text']);
    expect(content[2]?.text).toContain('<channel source="news">from a handler</channel>');
  });

  test('with priority "later" wait for the end of the turn', async () => {
    const server = toolServer('news', { channel: true }).tool('a', '', {}, async (_, ctx) => {
      await ctx.channel('no hurry');
      return 'A';
    });
    const { client, model } = await openAgent(
      async (_, n) => (n === 1 ? toolUse('mcp__news__a', {}, '1') : text(`reply ${n}`)),
      {
        options: { mcpServers: { news: server } },
        rules: allow('mcp__news'),
        channels: { news: { priority: 'later' } },
      },
    );
    expect(await client.ask('go')).toMatchObject({ result: 'reply 2' });
    expect(requestText(model, 1)).not.toContain('no hurry');
    expect(await nextResult(client)).toMatchObject({ result: 'reply 3', origin: { kind: 'channel' } });
    expect(requestText(model, 2)).toContain('no hurry');
  });

  test('are batched, in order, and an own turn keeps its own result', async () => {
    const server = toolServer('news', { channel: true });
    const { client, model } = await openAgent(async (_, n) => text(`r${n}`), {
      options: { mcpServers: { news: server } },
    });
    expect(await client.ask('hello')).toMatchObject({ result: 'r1' });
    for (let at = 0; at < 150; at++) await server.channel.send(`message ${at}`, { id: at });
    const seen: string[] = [];
    while (seen.length < 150) {
      await nextResult(client);
      const found = lastText(model).matchAll(/>(message \d+)</g);
      seen.push(...[...found].map(([, it]) => it as string));
    }
    expect(seen).toEqual(Array.from({ length: 150 }, (_, at) => `message ${at}`));
    expect(model.requests.length).toBeLessThan(20);
    expect(await client.ask('again')).not.toHaveProperty('origin');
  });

  test('are not commands, and do not run hooks of prompts', async () => {
    const prompts: unknown[] = [];
    const server = toolServer('news', { channel: true });
    const { client, model } = await openAgent(async () => text('ok'), {
      options: {
        mcpServers: { news: server },
        hooks: {
          UserPromptSubmit: [
            {
              hooks: [
                async (input) => {
                  prompts.push(input);
                  return {};
                },
              ],
            },
          ],
        },
      },
    });
    await server.channel.send('/clear');
    await nextResult(client);
    expect(lastText(model)).toContain('>/clear<');
    expect(prompts).toEqual([]);
  });

  test('of a server that is not enabled, or that declares no channel, are ignored with one note', async () => {
    const other = toolServer('other', { channel: true });
    const silent = toolServer('silent').tool('t', '', {}, () => 1);
    const { client, model, notes } = await openAgent(async () => text('ok'), {
      options: { mcpServers: { other, silent } },
      channels: { silent: {} },
    });
    await client.ask('connect');
    await other.channel.send('one');
    await other.channel.send('two');
    await client.ask('look');
    expect(JSON.stringify(model.requests)).not.toContain('<channel');
    expect(notes).toEqual([
      expect.stringMatching(/channel "silent": the server does not declare the capability "claude\/channel"/),
      expect.stringMatching(/"other" pushed a message.*--channels server:other/),
    ]);
  });

  test('of a server that was requested but does not exist cannot come, which is one note', async () => {
    const { client, notes } = await openAgent(async () => text('ok'), {
      options: { mcpServers: { news: toolServer('news', { channel: true }) } },
      requested: ['news', 'nope'],
    });
    const expected = ['channel "nope": there is no server with this name; check the name, or add the server'];
    await client.initializationResult();
    expect(notes).toEqual(expected);
    await client.ask('hello');
    await client.ask('again');
    expect(notes).toEqual(expected);
  });

  test('of unknown senders are quarantined, and delivered once a person releases them', async () => {
    const server = toolServer('news', { channel: true });
    const { client, model, directory, notes } = await openAgent(async () => text('ok'), {
      options: { mcpServers: { news: server } },
      channels: { news: { senders: ['ann'] } },
    });
    await server.channel.send('buy now', { id: 'spam', sender: 'eve' });
    await server.channel.send('lunch?', { id: 'real', sender: 'ann' });
    await nextResult(client);
    expect(lastText(model)).toContain('lunch?');
    expect(JSON.stringify(model.requests)).not.toContain('buy now');
    expect(notes.join()).toMatch(/quarantined \(unknown sender: "eve" is not in "senders"\)/);
    const other = await Inbox.open(directory);
    other.retry({ named: 'spam' });
    other[Symbol.dispose]();
    await nextResult(client);
    expect(lastText(model)).toContain('buy now');
  });

  test('that are too large are quarantined with their beginning', async () => {
    const server = toolServer('news', { channel: true });
    const { client, model, directory } = await openAgent(async () => text('ok'), {
      options: { mcpServers: { news: server } },
    });
    await server.channel.send('x'.repeat(1_000_000), { id: 'big' });
    await server.channel.send('small', { id: 'small' });
    await nextResult(client);
    expect(JSON.stringify(model.requests)).not.toContain('xxx');
    expect(await storedIn(directory)).toMatchObject([
      { id: 'big', state: 'quarantined', content: expect.stringMatching(/^x{4000}…$/) },
      { id: 'small' },
    ]);
  });

  test('beyond the rate limit are refused, and the server is notified', async () => {
    const receipts: ChannelReceipt[] = [];
    const server = toolServer('news', { channel: { onReceipt: (it) => void receipts.push(it) } });
    const { client, notes } = await openAgent(async () => text('ok'), {
      options: { mcpServers: { news: server } },
      channels: { news: { maxPerMinute: 2 } },
    });
    for (const id of ['1', '2', '3', '4']) await server.channel.send('x', { id });
    await nextResult(client);
    expect(receipts.map(({ kind, id, reason }) => [kind, id, reason])).toEqual(
      expect.arrayContaining([
        ['nack', '3', 'rate'],
        ['nack', '4', 'rate'],
        ['ack', '1', undefined],
        ['ack', '2', undefined],
      ]),
    );
    await expect
      .poll(() => notes.join())
      .toMatch(/2 messages were refused: the server exceeded the rate limit/);
  });

  test('survive the end of their session: the next one of the project gets them', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'channels-'));
    const inbox = await Inbox.open(directory);
    inbox.admit({ project: '/w', conversation: 'gone' }, [
      { source: 'news', content: 'kept', meta: {}, state: 'pending' },
    ]);
    inbox[Symbol.dispose]();
    const { client, model } = await openAgent(async () => text('ok'), { directory });
    await nextResult(client);
    expect(lastText(model)).toContain('>kept<');
  });

  test('that the conversation already contains are not delivered again', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'channels-'));
    const inbox = await Inbox.open(directory);
    inbox.admit({ project: '/w', conversation: 'same' }, [
      { source: 'news', id: '1', content: 'old', meta: {}, state: 'pending' },
      { source: 'news', id: '2', content: 'new', meta: {}, state: 'pending' },
    ]);
    inbox[Symbol.dispose]();
    const { client, model } = await openAgent(async () => text('ok'), {
      directory,
      sessionId: 'same',
      channelMessages: ['news/1'],
    });
    await nextResult(client);
    expect(lastText(model)).toContain('>new<');
    expect(lastText(model)).not.toContain('>old<');
  });

  /** A conversation that was killed while the model had a message of a channel to answer. */
  async function killedWhileAnswering() {
    const directory = mkdtempSync(join(tmpdir(), 'channels-'));
    using inbox = await Inbox.open(directory);
    inbox.admit({ project: '/w', conversation: 'same' }, [
      { source: 'news', id: '1', content: 'alarm', meta: {}, state: 'pending' },
    ]);
    const content = [{ type: 'text' as const, text: '<channel source="news" id="1">alarm</channel>' }];
    return {
      directory,
      sessionId: 'same',
      messages: [{ role: 'user' as const, content }],
      channelMessages: ['news/1'],
      unansweredMessages: ['news/1'],
    };
  }

  test('that the model did not answer before its process was killed get a turn, without a second copy', async () => {
    const killed = await killedWhileAnswering();
    const { client, model } = await openAgent(async () => text('on it'), killed);
    expect(await nextResult(client)).toMatchObject({
      result: 'on it',
      origin: { kind: 'channel', server: 'news' },
    });
    expect(model.requests).toHaveLength(1);
    expect(JSON.stringify(model.requests[0]?.messages).split('>alarm<')).toHaveLength(2);
    await expect.poll(() => storedIn(killed.directory)).toMatchObject([{ state: 'delivered' }]);
  });

  test('that the model answers with the first prompt after a kill get no turn of their own', async () => {
    const killed = await killedWhileAnswering();
    const server = toolServer('news', { channel: true });
    const { client, model } = await openAgent(async () => text('ok'), {
      ...killed,
      options: { mcpServers: { news: server } },
    });
    await client.ask('hello');
    await expect.poll(() => storedIn(killed.directory)).toMatchObject([{ state: 'delivered' }]);
    await server.channel.send('later');
    await nextResult(client);
    expect(model.requests).toHaveLength(2);
    expect(JSON.stringify(model.requests[0]?.messages).split('>alarm<')).toHaveLength(2);
  });

  test('an inbox that cannot be opened is one clear note; the agent goes on', async () => {
    const server = toolServer('news', { channel: true });
    const { client, notes } = await openAgent(async () => text('ok'), {
      options: { mcpServers: { news: server } },
      directory: '/dev/null/inbox',
    });
    await server.channel.send('lost?');
    expect(await client.ask('still there?')).toMatchObject({ result: 'ok' });
    expect(notes).toEqual([
      expect.stringMatching(/^the channel inbox \/dev\/null\/inbox\/inbox.db cannot be opened/),
    ]);
  });
});

test('a change of a subscribed resource starts no turn; the next prompt and the next round have it once', async () => {
  let update = () => {};
  const server = toolServer('docs', {
    resources: [
      {
        uri: 'docs://status',
        name: 'status',
        read: () => 'green',
        subscribe: (onUpdate) => {
          update = onUpdate;
          return () => {
            update = () => {};
          };
        },
      },
      { uri: 'docs://fixed', name: 'fixed', read: () => 'never changes' },
    ],
  });
  const read = (uri: string, subscribe: boolean, id: string) =>
    toolUse('ReadMcpResourceTool', { server: 'docs', uri, subscribe }, id);
  const { client, model } = await openAgent(
    async (_, n) => {
      if (n === 1) return read('docs://status', true, 't1');
      if (n === 4) {
        update();
        return read('docs://fixed', false, 't4');
      }
      return n === 6 ? read('docs://status', false, 't6') : text(`r${n}`);
    },
    {
      options: { mcpServers: { docs: server } },
      builtIns: ['ReadMcpResourceTool'],
      rules: allow('ReadMcpResourceTool'),
    },
  );
  const notices = (at: number) =>
    requestText(model, at).match(
      /<channel source=\\"docs\\" uri=\\"docs:\/\/status\\">The resource has changed/g,
    );
  await client.ask('watch it');
  expect(requestText(model, 1)).toContain('You are notified when this resource changes');
  update();
  update();
  expect(await client.ask('anything new?')).toMatchObject({ result: 'r3' });
  expect(notices(2)).toHaveLength(1);
  expect(await client.ask('and now?')).toMatchObject({ result: 'r5' });
  expect(notices(3)).toBeNull();
  expect(notices(4)).toHaveLength(1);
  await client.ask('stop');
  expect(requestText(model, 6)).toContain('no longer notified');
  expect(model.requests).toHaveLength(7);
});
