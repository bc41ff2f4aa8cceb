// The reference server of the MCP project, with every method of `Features` and over both of its transports.
import { expect, test } from 'vitest';
import { createHost, type HostServerEntry } from '../../../src/entry/host.ts';
import { PROCESSES, startEverything } from '../contract/support/third-party-servers.ts';

const WAYS: [string, () => Promise<AsyncDisposable & { entry: HostServerEntry }>][] = [
  ['stdio', async () => ({ entry: PROCESSES.everything, async [Symbol.asyncDispose]() {} })],
  [
    'http',
    async () => {
      const far = await startEverything('streamableHttp');
      return { entry: { url: far.url }, [Symbol.asyncDispose]: () => far[Symbol.asyncDispose]() };
    },
  ],
];
const TEXT_1 = 'demo://resource/dynamic/text/1';
const BLOB_1 = 'demo://resource/dynamic/blob/1';

test.each(WAYS)('%s: resources, templates, prompts, completion and subscriptions', async (_, start) => {
  await using far = await start();
  await using host = createHost({ mcpServers: { everything: far.entry } });

  const resources = await host.listResources('everything');
  expect(resources.length).toBeGreaterThan(3);
  expect(resources.every(({ server, uri, name }) => server === 'everything' && uri && name)).toBe(true);
  expect(await host.listResources()).toEqual(resources);
  const [first] = resources;
  const { contents } = await host.readResource('everything', first?.uri ?? '');
  expect(contents).toEqual([expect.objectContaining({ uri: first?.uri, text: expect.any(String) })]);

  const templates = await host.listResourceTemplates();
  expect(templates.map(({ uriTemplate }) => uriTemplate)).toContain(
    'demo://resource/dynamic/text/{resourceId}',
  );
  const text = await host.readResource('everything', TEXT_1);
  expect(text.contents).toEqual([
    expect.objectContaining({ uri: TEXT_1, text: expect.stringContaining('Resource 1') }),
  ]);
  const [piece] = (await host.readResource('everything', BLOB_1)).contents;
  const blob = piece && 'blob' in piece ? piece.blob : '';
  expect(Buffer.from(blob, 'base64').toString()).toContain('Resource 1');

  const prompts = await host.listPrompts();
  expect(prompts).toContainEqual(
    expect.objectContaining({
      server: 'everything',
      name: 'args-prompt',
      arguments: [
        expect.objectContaining({ name: 'city', required: true }),
        expect.objectContaining({ name: 'state', required: false }),
      ],
    }),
  );
  expect(await host.getPrompt('everything', 'args-prompt', { city: 'Oslo' })).toMatchObject({
    messages: [{ role: 'user', content: { type: 'text', text: "What's weather in Oslo?" } }],
  });
  const embedded = await host.getPrompt('everything', 'resource-prompt', {
    resourceType: 'Text',
    resourceId: '1',
  });
  expect(embedded.messages[1]?.content).toMatchObject({ type: 'resource', resource: { uri: TEXT_1 } });

  const of = { prompt: 'completable-prompt' };
  expect(await host.complete('everything', of, { name: 'department', value: 'E' })).toMatchObject({
    values: ['Engineering'],
  });
  const context = { department: 'Sales' };
  expect(await host.complete('everything', of, { name: 'name', value: '' }, context)).toMatchObject({
    values: ['David', 'Eve', 'Frank'],
  });
  const template = { resourceTemplate: 'demo://resource/dynamic/text/{resourceId}' };
  expect(await host.complete('everything', template, { name: 'resourceId', value: '7' })).toMatchObject({
    values: ['7'],
  });

  const heard = Promise.withResolvers<void>();
  await using subscription = await host.subscribe('everything', TEXT_1, () => heard.resolve());
  await host.callTool('everything', 'toggle-subscriber-updates');
  await heard.promise;
  await host.callTool('everything', 'toggle-subscriber-updates');
  await subscription.unsubscribe();
});

test('errors of the server keep its message, missing features get ours', async () => {
  await using host = createHost({ mcpServers: { everything: PROCESSES.everything } });
  await expect(host.readResource('everything', 'demo://nothing')).rejects.toMatchObject({
    name: 'ServerFault',
    server: 'everything',
  });
  await expect(host.getPrompt('everything', 'args-promt')).rejects.toMatchObject({
    name: 'HostError',
    message: expect.stringContaining('the server has no prompt "args-promt"; did you mean "args-prompt"?'),
  });
  await expect(host.getPrompt('everything', 'completable-prompt', { name: 'Eve' })).rejects.toMatchObject({
    name: 'HostError',
    message:
      'MCP server "everything": missing arguments of prompt "completable-prompt": "department"; required: "department", "name"',
  });
});
