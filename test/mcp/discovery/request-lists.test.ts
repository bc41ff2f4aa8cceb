import { describe, expect, test } from 'vitest';
import { connect } from '../../../src/mcp/connection/connect.ts';
import { formatDiagnostic } from '../../../src/mcp/discovery/read-list.ts';
import {
  listPrompts,
  listResources,
  listResourceTemplates,
  listTools,
} from '../../../src/mcp/discovery/request-lists.ts';
import { ServerFault } from '../../../src/mcp/errors/host-error.ts';
import { INTERNAL, readRpc, rpcFailure, rpcResult } from '../../../src/protocol/json-rpc.ts';
import type { McpSession } from '../../../src/tool-server/session.ts';
import { everything, portTo, testWorld } from '../support/servers.ts';

describe('list tools', () => {
  test.each([
    [-32601, []],
    [-32603, 'fails'],
  ])('a server that answers with error %i', async (code, expected) => {
    const listed = listTools({
      name: 'odd',
      capabilities: { tools: {} },
      mirrorsParams: false,
      listTools: () => Promise.reject(new ServerFault('odd', code, 'Method not found')),
    });
    expect(await listed.then(({ items }) => items).catch(() => 'fails')).toEqual(expected);
  });

  const signal = new AbortController().signal;
  const good = (name: string) => ({ name, inputSchema: { type: 'object' } });

  type Page = { tools?: unknown; nextCursor?: string };

  /** A server that lists the given entries, valid or not. */
  async function openListing(pageAt: (cursor: unknown) => Page, capabilities: object = { tools: {} }) {
    const asked: unknown[] = [];
    const receive: McpSession['receive'] = async (message) => {
      const read = readRpc(message);
      if (read.kind !== 'request') return undefined;
      if (read.method === 'initialize') {
        const { protocolVersion } = read.params;
        return rpcResult(read.id, {
          protocolVersion,
          capabilities,
          serverInfo: { name: 'odd', version: '1' },
        });
      }
      if (read.method !== 'tools/list') return rpcFailure(read.id, INTERNAL, 'not here');
      asked.push(read.params.cursor);
      return rpcResult(read.id, pageAt(read.params.cursor));
    };
    const port = portTo({ open: () => ({ receive, close: () => {} }) });
    const connection = await connect(
      'odd',
      { type: 'sdk', name: 'odd' },
      testWorld({ openPort: () => port }),
      signal,
    );
    return { connection, asked, [Symbol.asyncDispose]: () => connection.close() };
  }

  test('all tools of a real server are found', async () => {
    const connection = await connect('all', everything, testWorld(), signal);
    const { items, diagnostics } = await listTools(connection);
    await connection.close();
    expect(items.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image']),
    );
    expect(diagnostics).toEqual([]);
  });

  describe('pages', () => {
    test('are asked for one after another', async () => {
      const pages: Record<string, Page> = {
        first: { tools: [good('a')], nextCursor: 'two' },
        two: { tools: [good('b')], nextCursor: 'three' },
        three: { tools: [good('c')] },
      };
      await using far = await openListing((cursor) => pages[String(cursor ?? 'first')] ?? {});
      const { items, diagnostics } = await listTools(far.connection);
      expect(items.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
      expect(far.asked).toEqual([undefined, 'two', 'three']);
      expect(diagnostics).toEqual([]);
    });

    test('with a repeated cursor end the list, and their entries are kept', async () => {
      await using far = await openListing((cursor) => ({ tools: [good(`t${cursor}`)], nextCursor: 'again' }));
      const { items, diagnostics } = await listTools(far.connection);
      expect(items.map(({ name }) => name)).toEqual(['tundefined', 'tagain']);
      expect(diagnostics).toMatchObject([
        { server: 'odd', fault: expect.stringContaining('repeats the cursor "again"') },
      ]);
    });

    test('that never end are cut off', async () => {
      let count = 0;
      await using far = await openListing(() => ({ tools: [good(`t${count}`)], nextCursor: `${++count}` }));
      const { items, diagnostics } = await listTools(far.connection, { limits: { pages: 3 } });
      expect(items).toHaveLength(3);
      expect(diagnostics).toMatchObject([{ fault: expect.stringContaining('more than 3 pages') }]);
    });

    test('without tools are a diagnostic, not a failure', async () => {
      await using far = await openListing(() => ({ tools: 'none' }));
      expect(await listTools(far.connection)).toMatchObject({
        items: [],
        diagnostics: [{ server: 'odd', list: 'tools' }],
      });
    });
  });

  test('an invalid tool is left out with a diagnostic, and the others are kept', async () => {
    const bad = [
      { name: 'list', inputSchema: { type: 'array' } },
      { inputSchema: { type: 'object' } },
      'text',
    ];
    await using far = await openListing(() => ({ tools: [good('a'), ...bad, good('a'), good('z')] }));
    const { items, diagnostics } = await listTools(far.connection);
    expect(items).toEqual([good('a'), good('z')]);
    const aside = { server: 'odd', list: 'tools', outcome: 'set-aside' };
    expect(diagnostics).toEqual([
      { ...aside, entry: 'list', fault: '"inputSchema" must have type "object"' },
      { ...aside, entry: '#2', fault: '"name" must be a non-empty string' },
      { ...aside, entry: '#3', fault: 'not an object' },
      { ...aside, entry: 'a', fault: 'an earlier entry of the list has the same name' },
    ]);
    expect(diagnostics.map(formatDiagnostic)[0]).toBe(
      'tool "list": "inputSchema" must have type "object"; not offered',
    );
  });

  test('a tool that can be repaired is kept, with a diagnostic', async () => {
    await using far = await openListing(() => ({
      tools: [{ name: 'bare' }, { ...good('told'), description: 5 }, good('a')],
    }));
    const { items, diagnostics } = await listTools(far.connection);
    expect(items).toEqual([good('bare'), good('told'), good('a')]);
    expect(diagnostics.map(({ entry, outcome }) => [entry, outcome])).toEqual([
      ['bare', 'kept'],
      ['told', 'kept'],
    ]);
  });

  test('a server without the tools capability is not asked', async () => {
    await using far = await openListing(() => ({ tools: [good('a')] }), {});
    expect(await listTools(far.connection)).toEqual({ items: [], diagnostics: [] });
    expect(far.asked).toEqual([]);
  });

  test('a tool with invalid header marks is left out where arguments are sent as headers', async () => {
    const marked = (name: unknown) => ({
      name: `t-${name}`,
      inputSchema: { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': name } } },
    });
    const tools = [marked('Region'), marked('not a token'), good('plain')];
    const connection = { name: 'web', capabilities: { tools: {} }, listTools: async () => ({ tools }) };
    const found = await listTools({ ...connection, mirrorsParams: true });
    expect(found.items.map(({ name }) => name)).toEqual(['t-Region', 'plain']);
    expect(found.diagnostics).toMatchObject([
      { entry: 't-not a token', outcome: 'set-aside', fault: expect.stringContaining('header') },
    ]);
    expect((await listTools(connection)).items).toHaveLength(3);
  });
});

describe('list prompts', () => {
  /** A server that returns its pages in order, and then repeats the last one. */
  function pages(...answers: unknown[]) {
    const asked: unknown[] = [];
    const connection = {
      name: 'p',
      capabilities: { prompts: {} },
      request: async (_: string, params: Record<string, unknown>) => {
        asked.push(params);
        const answer = answers[Math.min(asked.length, answers.length) - 1];
        if (answer instanceof Error) throw answer;
        return answer;
      },
    };
    return { connection, asked };
  }

  test('a server without the prompts capability is not asked', async () => {
    const { connection, asked } = pages({});
    expect(await listPrompts({ ...connection, capabilities: {} })).toEqual({ items: [], diagnostics: [] });
    expect(asked).toEqual([]);
  });

  test('all pages are read; an invalid entry does not affect the others', async () => {
    const { connection, asked } = pages(
      {
        prompts: [
          { name: 'a', description: 'A', arguments: [{ name: 'x', required: true, title: 'X' }, null] },
          7,
        ],
        nextCursor: '2',
      },
      { prompts: [{ name: 'b', title: 'B', description: 7, arguments: {}, _meta: { k: 1 }, extra: true }] },
    );
    const { items, diagnostics } = await listPrompts(connection);
    expect(items).toEqual([
      { name: 'a', description: 'A', arguments: [{ name: 'x', required: true, title: 'X' }] },
      { name: 'b', title: 'B', description: '', arguments: [], _meta: { k: 1 }, extra: true },
    ]);
    const told = { server: 'p', list: 'prompts' };
    expect(diagnostics).toEqual([
      { ...told, entry: 'a', outcome: 'kept', fault: '"arguments[1]" has no name and was removed' },
      { ...told, entry: '#1', outcome: 'set-aside', fault: 'not an object' },
      { ...told, entry: 'b', outcome: 'kept', fault: '"description" is not a string and was removed' },
      { ...told, entry: 'b', outcome: 'kept', fault: '"arguments" is not a list and was removed' },
    ]);
    expect(asked).toEqual([{}, { cursor: '2' }]);
  });

  test.each([
    [
      'a page that is refused keeps what came before',
      [{ prompts: [{ name: 'a' }], nextCursor: '2' }, new ServerFault('p', -32603, 'no')],
      1,
      2,
      'page 2 of its prompts could not be listed: no',
    ],
    [
      'the same cursor again ends it',
      [{ prompts: [{ name: 'a' }], nextCursor: '2' }],
      1,
      2,
      'its list of prompts repeats the cursor "2"; the rest was not read',
    ],
    ['garbage is nothing', [7], 0, 1, 'page 1 of its list of prompts has no "prompts"'],
  ])('%s', async (_, answers, found, times, fault) => {
    const { connection, asked } = pages(...answers);
    const { items, diagnostics } = await listPrompts(connection);
    expect(items).toHaveLength(found);
    expect(asked).toHaveLength(times);
    expect(diagnostics).toContainEqual({ server: 'p', list: 'prompts', outcome: 'list', fault });
  });

  test('a server that does not answer rejects the listing', async () => {
    const { connection } = pages(new Error('gone'));
    await expect(listPrompts(connection)).rejects.toThrow('gone');
  });

  test('an excessively long name is left out', async () => {
    const { connection } = pages({ prompts: [{ name: 'x'.repeat(1_025) }, { name: 'a' }] });
    const { items, diagnostics } = await listPrompts(connection);
    expect(items.map(({ name }) => name)).toEqual(['a']);
    expect(diagnostics).toMatchObject([
      { outcome: 'set-aside', fault: '"name" is longer than 1024 characters' },
    ]);
  });
});

describe('list resources', () => {
  /** A server with these answers, by method. */
  function server(answers: Record<string, unknown>, capabilities: object = { resources: {} }) {
    const asked: string[] = [];
    const request = async (method: string) => {
      asked.push(method);
      return answers[method];
    };
    return { connection: { name: 'r', capabilities, request }, asked };
  }

  test('resources keep known and unknown members', async () => {
    const whole = {
      uri: 'file:///a',
      name: 'a',
      title: 'A',
      description: 'An a',
      mimeType: 'text/plain',
      size: 3,
      annotations: { audience: ['user'], priority: 1, lastModified: '2026-01-01T00:00:00Z' },
      icons: [{ src: 'data:,' }],
      _meta: { k: 1 },
      ours: true,
    };
    const { connection, asked } = server({ 'resources/list': { resources: [whole], ttlMs: 5 } });
    expect(await listResources(connection)).toEqual({ items: [whole], diagnostics: [], ttlMs: 5 });
    expect(asked).toEqual(['resources/list']);
  });

  test('a resource that can be repaired is kept, one without a URI is left out', async () => {
    const resources = [
      { uri: 'x:1' },
      { uri: 'x:2', name: 'two', size: 'big', mimeType: 7, annotations: [], description: null },
      { name: 'nowhere' },
      { uri: 'x:1', name: 'again' },
      null,
    ];
    const { connection } = server({ 'resources/list': { resources } });
    const { items, diagnostics } = await listResources(connection);
    expect(items).toEqual([
      { uri: 'x:1', name: 'x:1' },
      { uri: 'x:2', name: 'two' },
    ]);
    expect(diagnostics.map(({ entry, fault, outcome }) => [entry, fault, outcome])).toEqual([
      ['x:1', '"name" is missing', 'kept'],
      ['x:2', '"mimeType" is not a string and was removed', 'kept'],
      ['x:2', '"size" is not a number and was removed', 'kept'],
      ['x:2', '"annotations" is not an object and was removed', 'kept'],
      ['nowhere', '"uri" must be a non-empty string', 'set-aside'],
      ['x:1', 'an earlier entry of the list has the same name', 'set-aside'],
      ['#4', 'not an object', 'set-aside'],
    ]);
  });

  test('templates are a separate list', async () => {
    const resourceTemplates = [{ uriTemplate: 'x:{id}', name: 'x' }, { uriTemplate: '' }];
    const { connection, asked } = server({ 'resources/templates/list': { resourceTemplates } });
    expect(await listResourceTemplates(connection)).toMatchObject({
      items: [{ uriTemplate: 'x:{id}', name: 'x' }],
      diagnostics: [{ list: 'resourceTemplates', entry: '#1' }],
    });
    expect(asked).toEqual(['resources/templates/list']);
  });

  test('a server without the resources capability is asked for neither', async () => {
    const { connection, asked } = server({}, {});
    expect(await listResources(connection)).toEqual({ items: [], diagnostics: [] });
    expect(await listResourceTemplates(connection)).toEqual({ items: [], diagnostics: [] });
    expect(asked).toEqual([]);
  });

  test('all resources and templates of a real server are found', async () => {
    const connection = await connect('all', everything, testWorld(), new AbortController().signal);
    const [resources, templates] = [await listResources(connection), await listResourceTemplates(connection)];
    await connection.close();
    expect(resources.items.length).toBeGreaterThan(0);
    expect(templates.items.length).toBeGreaterThan(0);
    expect([resources.diagnostics, templates.diagnostics]).toEqual([[], []]);
  });
});
