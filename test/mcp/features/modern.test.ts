// The stateless protocol (2026-07-28): the same methods, with one stream for all subscriptions.
import { expect, test } from 'vitest';
import { createHost, type Host, type HostServerEntry } from '../../../src/entry/host.ts';
import { until } from '../contract/support/until.ts';
import { Heard } from './support/heard.ts';
import { startLibrary, stdioLibrary } from './support/library.ts';

const WAYS: [string, () => Promise<AsyncDisposable & { entry: HostServerEntry }>][] = [
  ['stdio', async () => ({ entry: stdioLibrary, async [Symbol.asyncDispose]() {} })],
  ['http', startLibrary],
];
const change = (host: Host, uri: string) => host.callTool('library', 'change', { uri });

test.each(WAYS)('%s: list, read, prompts, completion, subscriptions', async (_, start) => {
  await using far = await start();
  await using host = createHost({ mcpServers: { library: far.entry } });
  expect(await host.listResources('library')).toEqual([
    expect.objectContaining({ server: 'library', uri: 'book://one', name: 'one', mimeType: 'text/plain' }),
    expect.objectContaining({ server: 'library', uri: 'book://cover', name: 'cover' }),
  ]);
  expect(host.status().library?.era).toBe('modern');
  expect(await host.listResourceTemplates()).toMatchObject([{ uriTemplate: 'book://{name}' }]);
  expect((await host.readResource('library', 'book://two')).contents).toEqual([
    { uri: 'book://two', text: 'The text of book://two' },
  ]);
  expect((await host.readResource('library', 'book://cover')).contents).toEqual([
    { uri: 'book://cover', mimeType: 'image/png', blob: 'iVBORw0KGgo=' },
  ]);
  expect(await host.listPrompts()).toMatchObject([{ server: 'library', name: 'sum-up' }]);
  expect(await host.getPrompt('library', 'sum-up', { topic: 'bees' })).toMatchObject({
    messages: [{ role: 'user', content: { type: 'text', text: 'Sum up bees' } }],
  });
  await expect(host.getPrompt('library', 'sum-up')).rejects.toThrow('"topic"; required: "topic"');
  const completed = [
    await host.complete('library', { prompt: 'sum-up' }, { name: 'topic', value: 'be' }),
    await host.complete('library', { resourceTemplate: 'book://{name}' }, { name: 'name', value: 't' }),
  ];
  expect(completed).toMatchObject([{ values: ['bees'] }, { values: ['two'] }]);

  const [one, two] = [new Heard(), new Heard()];
  const first = await host.subscribe('library', 'book://one', one.listener);
  await using _second = await host.subscribe('library', 'book://two', two.listener);
  await change(host, 'book://one');
  await one.next();
  await change(host, 'book://two');
  await two.next();
  await first.unsubscribe();
  await change(host, 'book://one');
  await change(host, 'book://two');
  await two.next();
  expect([one.count, two.count]).toEqual([1, 2]);
});

test('all subscriptions of a server share one stream; a broken one is reopened and all listeners are called', async () => {
  await using far = await startLibrary();
  await using host = createHost({ mcpServers: { library: far.entry } });
  const [one, two] = [new Heard(), new Heard()];
  const subscriptions = await Promise.all([
    host.subscribe('library', 'book://one', one.listener),
    host.subscribe('library', 'book://two', two.listener),
  ]);
  await until(() => far.streams().length === 1, 'the first stream is closed');
  expect(far.streams()).toEqual([['book://one', 'book://two']]);
  far.cut();
  await Promise.all([one.next(), two.next()]);
  expect(far.streams()).toEqual([['book://one', 'book://two']]);
  expect(host.status().library?.state).toBe('connected');
  await change(host, 'book://two');
  await two.next();
  expect([one.count, two.count]).toEqual([1, 2]);
  await Promise.all(subscriptions.map((it) => it.unsubscribe()));
  await until(() => far.streams().length === 0, 'nothing is listened to any more');
});

test('after a crash the subscription is renewed, and the listener is called once', async () => {
  await using host = createHost({ mcpServers: { library: stdioLibrary }, retry: { firstMs: 1 } });
  const heard = new Heard();
  await using _ = await host.subscribe('library', 'book://one', heard.listener);
  const { content } = await host.callTool('library', 'pid');
  process.kill(Number(content[0]?.type === 'text' && content[0].text), 'SIGKILL');
  await heard.next();
  await change(host, 'book://one');
  await heard.next();
  expect(heard.count).toBe(2);
});
