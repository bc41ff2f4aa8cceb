import { describe, expect, test, vi } from 'vitest';
import type {
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
} from '../../src/tool-server/methods.ts';
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
    expect(await ask({ resources: [resource(() => '')] }, 'resources/read', { uri: 'x:y' })).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32602, message: "Resource 'x:y' not found", data: { uri: 'x:y' } },
    });
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

describe('resource templates', () => {
  const template = (uriTemplate: string): ResourceTemplateDefinition => ({
    uriTemplate,
    name: 'note',
    mimeType: 'text/plain',
    read: (variables) => JSON.stringify(variables),
  });

  test('are listed with everything but their functions', async () => {
    const note = { ...template('notes://{id}'), complete: { id: () => [] } };
    expect(await ask({ resourceTemplates: [note] }, 'resources/templates/list')).toEqual(
      success({
        resourceTemplates: [{ uriTemplate: 'notes://{id}', name: 'note', mimeType: 'text/plain' }],
      }),
    );
    expect(await ask({ resourceTemplates: [note] }, 'resources/list')).toEqual(success({ resources: [] }));
  });

  test.each([
    ['notes://{id}', 'notes://7', { id: '7' }],
    ['notes://{id}', 'notes://a%20b', { id: 'a b' }],
    ['notes://{id}', 'notes://100%', { id: '100%' }],
    ['notes://{id}', 'notes://', undefined],
    ['notes://{id}', 'notes://a/b', undefined],
    ['notes://{id}', 'other://a', undefined],
    ['notes://{+path}', 'notes://a/b', { path: 'a/b' }],
    ['notes://{+path}/raw', 'notes://a/raw/b/raw', { path: 'a/raw/b' }],
    ['notes://{year}/{name}.md', 'notes://2026/plan.md', { year: '2026', name: 'plan' }],
    ['notes://{year}/{name}.md', 'notes://2026/plan.txt', undefined],
    ['notes://{year}/{name}.md', 'notes:///.md', undefined],
  ])('%s with %s gives %j', async (uriTemplate, uri, variables) => {
    const answer = await ask({ resourceTemplates: [template(uriTemplate)] }, 'resources/read', { uri });
    expect(answer).toEqual(
      variables
        ? success({ contents: [{ uri, mimeType: 'text/plain', text: JSON.stringify(variables) }] })
        : {
            jsonrpc: '2.0',
            id: 1,
            error: { code: -32602, message: `Resource '${uri}' not found`, data: { uri } },
          },
    );
  });

  test('a resource with the URI comes before a template', async () => {
    const exact: ResourceDefinition = { uri: 'notes://1', name: 'first', read: () => 'exact' };
    const answer = await ask(
      { resources: [exact], resourceTemplates: [template('notes://{id}')] },
      'resources/read',
      {
        uri: 'notes://1',
      },
    );
    expect(answer).toMatchObject({ result: { contents: [{ text: 'exact' }] } });
  });

  test.each(['notes://', 'notes://{a}{b}', 'notes://{?q}', 'notes://{a', 'notes://{a*}'])(
    'the template %s is refused',
    (uriTemplate) => {
      expect(() => new ToolServer({ name: 'calc', resourceTemplates: [template(uriTemplate)] })).toThrow(
        expect.objectContaining({ code: 'bad-server' }),
      );
    },
  );
});

describe('completion/complete', () => {
  const cities = ['Oslo', 'Odense', 'Bergen'];
  const options: Partial<ToolServerOptions> = {
    prompts: [
      {
        name: 'trip',
        arguments: [
          {
            name: 'to',
            complete: (value, context) =>
              cities.filter((it) => it.startsWith(value) && it !== context.arguments.from),
          },
          { name: 'from' },
        ],
        get: () => '',
      },
    ],
    resourceTemplates: [
      {
        uriTemplate: 'numbers://{n}',
        name: 'number',
        complete: { n: async () => Array.from({ length: 101 }, (_, n) => String(n)) },
        read: () => '',
      },
    ],
  };
  const complete = (ref: object, name: string, value: string, context?: object) =>
    ask(options, 'completion/complete', { ref, argument: { name, value }, ...(context && { context }) });
  const trip = { type: 'ref/prompt', name: 'trip' };

  test('suggests values of an argument of a prompt', async () => {
    expect(await complete(trip, 'to', 'O')).toEqual(
      success({ completion: { values: ['Oslo', 'Odense'], total: 2, hasMore: false } }),
    );
    expect(await complete(trip, 'to', 'O', { arguments: { from: 'Oslo' } })).toMatchObject({
      result: { completion: { values: ['Odense'] } },
    });
  });

  test('suggests at most 100 values of a variable of a template', async () => {
    const answer = await complete({ type: 'ref/resource', uri: 'numbers://{n}' }, 'n', '');
    expect(answer).toMatchObject({ result: { completion: { total: 101, hasMore: true } } });
    expect(
      (answer as never as { result: { completion: { values: string[] } } }).result.completion.values,
    ).toHaveLength(100);
  });

  test('an argument without a function has no suggestions', async () => {
    for (const name of ['from', 'nope', 'toString']) {
      expect(await complete(trip, name, '')).toMatchObject({ result: { completion: { values: [] } } });
    }
  });

  test.each([
    [{ type: 'ref/prompt', name: 'nope' }, 'to'],
    [{ type: 'ref/resource', uri: 'nope://{n}' }, 'n'],
    [{}, 'to'],
    [trip, undefined],
  ])('%j with the argument %j is -32602', async (ref, name) => {
    expect(await complete(ref, name as string, '')).toMatchObject({ error: { code: -32602 } });
  });

  test('is -32601 if nothing suggests values', async () => {
    expect(await ask({}, 'completion/complete', {})).toMatchObject({ error: { code: -32601 } });
  });

  test('is declared, and also answered if the McpServer object is used', async () => {
    const server = new ToolServer({ name: 'calc', ...options });
    expect(server.capabilities).toMatchObject({ completions: {} });
    expect(server.instance.isConnected()).toBe(false);
    const user = rpcUser((port) => server.open(port));
    await user.ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    });
    const answer = await user.ask('completion/complete', { ref: trip, argument: { name: 'to', value: 'B' } });
    expect(answer).toMatchObject({ result: { completion: { values: ['Bergen'] } } });
    const read = await user.ask('resources/read', { uri: 'numbers://7' });
    expect(read).toMatchObject({ result: { contents: [{ uri: 'numbers://7', text: '' }] } });
    user.session.close();
  });
});

describe('subscriptions', () => {
  function watched() {
    const end = vi.fn();
    let update = () => {};
    const resources: ResourceDefinition[] = [
      {
        uri: 'calc://count',
        name: 'count',
        read: () => '1',
        subscribe: (onUpdate) => {
          update = onUpdate;
          return end;
        },
      },
      { uri: 'calc://pi', name: 'pi', read: () => '3' },
    ];
    const server = new ToolServer({ name: 'calc', resources });
    return { server, end, update: () => update() };
  }
  const updated = {
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri: 'calc://count' },
  };

  test.each([false, true])('notify until they end; the McpServer object used: %s', async (isUsed) => {
    const { server, end, update } = watched();
    expect(server.capabilities).toMatchObject({ resources: { subscribe: true } });
    if (isUsed) expect(server.instance.isConnected()).toBe(false);
    const user = rpcUser((port) => server.open(port));
    expect(await user.ask('resources/subscribe', { uri: 'calc://count' }, 1)).toEqual(success({}));
    expect(await user.ask('resources/subscribe', { uri: 'calc://count' }, 1)).toEqual(success({}));
    update();
    expect(user.received).toEqual([updated]);
    expect(await user.ask('resources/unsubscribe', { uri: 'calc://count' }, 1)).toEqual(success({}));
    expect(end).toHaveBeenCalledOnce();
    update();
    expect(user.received).toEqual([updated]);
  });

  test('end with the session', async () => {
    const { server, end, update } = watched();
    const user = rpcUser((port) => server.open(port));
    await user.ask('resources/subscribe', { uri: 'calc://count' });
    user.session.close();
    expect(end).toHaveBeenCalledOnce();
    update();
    expect(user.received).toEqual([]);
  });

  test('a resource that never changes can be subscribed to; an unknown one is -32602', async () => {
    const { server } = watched();
    const user = rpcUser((port) => server.open(port));
    expect(await user.ask('resources/subscribe', { uri: 'calc://pi' }, 1)).toEqual(success({}));
    expect(await user.ask('resources/subscribe', { uri: 'nope' }, 1)).toMatchObject({
      error: { code: -32602, data: { uri: 'nope' } },
    });
  });

  test('are -32601 if no resource changes', async () => {
    const options = { resources: [{ uri: 'calc://pi', name: 'pi', read: () => '3' }] };
    expect(await ask(options, 'resources/subscribe', { uri: 'calc://pi' })).toMatchObject({
      error: { code: -32601 },
    });
  });
});
