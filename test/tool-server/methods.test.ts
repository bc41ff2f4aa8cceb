import { describe, expect, test } from 'vitest';
import type { PromptDefinition, ResourceDefinition } from '../../src/tool-server/methods.ts';
import { ToolServer, type ToolServerOptions } from '../../src/tool-server/tool-server.ts';

import { rpcUser } from './rpc-user.ts';

const failure = (code: number, message: string) => ({ jsonrpc: '2.0', id: 1, error: { code, message } });
const success = (result: object) => ({ result, jsonrpc: '2.0', id: 1 });

function ask(options: Partial<ToolServerOptions>, method: string, params: object = {}) {
  const server = new ToolServer({ name: 'calc', ...options });
  return rpcUser((port) => server.open(port), { assigns: { user: 'ada' } }).ask(method, params, 1);
}

describe('nothing offered', () => {
  test.each(['resources/list', 'resources/templates/list', 'resources/read', 'prompts/list', 'prompts/get'])(
    'C7 %s is -32601',
    async (method) => {
      expect(await ask({}, method)).toEqual(failure(-32601, `Method not found: ${method}`));
    },
  );

  test.each([
    ['resources/list', { resources: [] }],
    ['resources/templates/list', { resourceTemplates: [] }],
    ['prompts/list', { prompts: [] }],
  ])('R77 C7 with emptyStubs %s is an empty list', async (method, result) => {
    expect(await ask({ emptyStubs: true }, method)).toEqual(success(result));
  });

  test.each(['resources/read', 'prompts/get'])('with emptyStubs %s is still -32601', async (method) => {
    expect(await ask({ emptyStubs: true }, method)).toMatchObject({ error: { code: -32601 } });
  });
});

describe('resources', () => {
  const resource = (read: ResourceDefinition['read'], more: object = {}): ResourceDefinition => ({
    uri: 'calc://doc',
    name: 'doc',
    read,
    ...more,
  });

  test('are listed with everything but their reader', async () => {
    const full = { title: 'Doc', description: 'A document', mimeType: 'text/markdown' };
    expect(await ask({ resources: [resource(() => '', full)] }, 'resources/list')).toEqual(
      success({ resources: [{ uri: 'calc://doc', name: 'doc', ...full }] }),
    );
    expect(await ask({ resources: [resource(() => '')] }, 'resources/templates/list')).toEqual(
      success({ resourceTemplates: [] }),
    );
  });

  test.each<[string, ResourceDefinition, object]>([
    [
      'text',
      resource(() => '# Doc', { mimeType: 'text/markdown' }),
      { uri: 'calc://doc', mimeType: 'text/markdown', text: '# Doc' },
    ],
    ['empty text', resource(() => ''), { uri: 'calc://doc', text: '' }],
    ['bytes', resource(async () => new Uint8Array([65, 66])), { uri: 'calc://doc', blob: 'QUI=' }],
    [
      'whole contents',
      resource(() => [{ uri: 'calc://other', text: 'x' }]),
      { uri: 'calc://other', text: 'x' },
    ],
    ['what the state says', resource((ctx) => String(ctx.assigns.user)), { uri: 'calc://doc', text: 'ada' }],
  ])('%s can be read', async (_name, definition, contents) => {
    expect(await ask({ resources: [definition] }, 'resources/read', { uri: 'calc://doc' })).toEqual(
      success({ contents: [contents] }),
    );
  });

  test('an unknown one is -32602', async () => {
    expect(await ask({ resources: [resource(() => '')] }, 'resources/read', { uri: 'x:y' })).toEqual(
      failure(-32602, "Resource 'x:y' not found"),
    );
    expect(await ask({ resources: [resource(() => '')] }, 'resources/read')).toMatchObject({
      error: { code: -32602 },
    });
  });

  test.each([
    () => {
      throw new Error('gone');
    },
    () => Promise.reject(new Error('gone')),
  ])('a reader that fails is -32603', async (read) => {
    expect(await ask({ resources: [resource(read)] }, 'resources/read', { uri: 'calc://doc' })).toEqual(
      failure(-32603, 'gone'),
    );
  });
});

describe('prompts', () => {
  const greet: PromptDefinition = {
    name: 'greet',
    description: 'Greets',
    arguments: [{ name: 'who', required: true }, { name: 'how' }],
    get: ({ who, how = 'Hello' }) => `${how}, ${who}`,
  };
  const message = (text: string) => ({ role: 'user', content: { type: 'text', text } });

  test('are listed with everything but their getter', async () => {
    const { get: _, ...listed } = greet;
    expect(await ask({ prompts: [greet] }, 'prompts/list')).toEqual(success({ prompts: [listed] }));
  });

  test('a text becomes one user message', async () => {
    expect(
      await ask({ prompts: [greet] }, 'prompts/get', { name: 'greet', arguments: { who: 'Ada' } }),
    ).toEqual(success({ description: 'Greets', messages: [message('Hello, Ada')] }));
  });

  test('whole messages pass as they are', async () => {
    const messages = [message('a'), { role: 'assistant' as const, content: { type: 'text', text: 'b' } }];
    const prompt = { name: 'p', get: async () => messages as never };
    expect(await ask({ prompts: [prompt] }, 'prompts/get', { name: 'p' })).toEqual(success({ messages }));
  });

  test.each([
    [{ name: 'nope' }, "Prompt 'nope' not found"],
    [{ name: 'greet' }, "Prompt 'greet' requires the argument 'who'"],
    [{ name: 'greet', arguments: { how: 'Hi' } }, "Prompt 'greet' requires the argument 'who'"],
  ])('%j is -32602', async (params, fault) => {
    expect(await ask({ prompts: [greet] }, 'prompts/get', params)).toEqual(failure(-32602, fault));
  });

  test('a getter that fails is -32603', async () => {
    const prompt = { name: 'p', get: () => Promise.reject(new Error('gone')) };
    expect(await ask({ prompts: [prompt] }, 'prompts/get', { name: 'p' })).toEqual(failure(-32603, 'gone'));
  });
});
