import { expect, test } from 'vitest';
import { createHost, HostError } from '../../src/entry/host.ts';
import { createSdkMcpServer } from '../../src/entry/index.ts';

const handbook = () =>
  createSdkMcpServer({
    name: 'handbook',
    resources: [
      { uri: 'handbook://rules', name: 'rules', mimeType: 'text/markdown', read: () => '# Be kind' },
      { uri: 'handbook://logo', name: 'logo', mimeType: 'image/png', read: () => new Uint8Array([1, 2, 3]) },
    ],
    prompts: [
      {
        name: 'welcome',
        description: 'Greets who is new',
        arguments: [{ name: 'who', required: true }],
        get: ({ who }) => `Welcome ${who}, and read the rules.`,
      },
    ],
  });

test('resources and prompts of a server in this program', async () => {
  await using host = createHost({ mcpServers: { handbook: handbook() } });
  await host.ready();
  expect((await host.listResources()).map(({ server, uri }) => `${server} ${uri}`)).toEqual([
    'handbook handbook://rules',
    'handbook handbook://logo',
  ]);
  expect(await host.readResource('handbook', 'handbook://rules')).toEqual({
    contents: [{ uri: 'handbook://rules', mimeType: 'text/markdown', text: '# Be kind' }],
  });
  expect(await host.readResource('handbook', 'handbook://logo')).toEqual({
    contents: [{ uri: 'handbook://logo', mimeType: 'image/png', blob: 'AQID' }],
  });
  expect(await host.listResourceTemplates()).toEqual([]);
  expect(await host.getPrompt('handbook', 'welcome', { who: 'Ada' })).toMatchObject({
    messages: [{ role: 'user', content: { type: 'text', text: 'Welcome Ada, and read the rules.' } }],
  });
  const failure = await host.getPrompt('handbook', 'welcome').catch((it: unknown) => it);
  expect(failure).toBeInstanceOf(HostError);
  expect(failure).toMatchObject({
    message: 'MCP server "handbook": missing arguments of prompt "welcome": "who"; required: "who"',
  });
});
