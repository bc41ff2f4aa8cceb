import { describe, expect, test } from 'vitest';
import { connect } from '../../../src/mcp/connection/connect.ts';
import { sayDiagnostic } from '../../../src/mcp/discovery/discovered.ts';
import { listTools } from '../../../src/mcp/discovery/list-tools.ts';
import { INTERNAL, readRpc, rpcFailure, rpcResult } from '../../../src/protocol/json-rpc.ts';
import type { McpSession } from '../../../src/tool-server/mcp-session.ts';
import { everything, portTo, testWorld } from '../connection/servers.ts';

const signal = new AbortController().signal;
const good = (name: string) => ({ name, inputSchema: { type: 'object' } });

type Page = { tools?: unknown; nextCursor?: string };

/** A server that lists whatever the test says, however wrong. */
async function openListing(pageAt: (cursor: unknown) => Page, capabilities: object = { tools: {} }) {
  const asked: unknown[] = [];
  const receive: McpSession['receive'] = async (message) => {
    const read = readRpc(message);
    if (read.kind !== 'request') return undefined;
    if (read.method === 'initialize') {
      const { protocolVersion } = read.params;
      return rpcResult(read.id, { protocolVersion, capabilities, serverInfo: { name: 'odd', version: '1' } });
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

  test('that run in circles end, and what they held is kept', async () => {
    await using far = await openListing((cursor) => ({ tools: [good(`t${cursor}`)], nextCursor: 'again' }));
    const { items, diagnostics } = await listTools(far.connection);
    expect(items.map(({ name }) => name)).toEqual(['tundefined', 'tagain']);
    expect(diagnostics).toMatchObject([
      { server: 'odd', fault: expect.stringContaining('"again" came twice') },
    ]);
  });

  test('that never stop are cut off', async () => {
    let count = 0;
    await using far = await openListing(() => ({ tools: [good(`t${count}`)], nextCursor: `${++count}` }));
    const { items, diagnostics } = await listTools(far.connection, { limits: { pages: 3 } });
    expect(items).toHaveLength(3);
    expect(diagnostics).toMatchObject([{ fault: expect.stringContaining('more than 3 pages') }]);
  });

  test('without tools are a fault, not a failure', async () => {
    await using far = await openListing(() => ({ tools: 'none' }));
    expect(await listTools(far.connection)).toMatchObject({
      items: [],
      diagnostics: [{ server: 'odd', list: 'tools' }],
    });
  });
});

test('a bad tool is set aside with its fault, and the others are kept', async () => {
  const bad = [{ name: 'list', inputSchema: { type: 'array' } }, { inputSchema: { type: 'object' } }, 'text'];
  await using far = await openListing(() => ({ tools: [good('a'), ...bad, good('a'), good('z')] }));
  const { items, diagnostics } = await listTools(far.connection);
  expect(items).toEqual([good('a'), good('z')]);
  const aside = { server: 'odd', list: 'tools', outcome: 'set-aside' };
  expect(diagnostics).toEqual([
    { ...aside, entry: 'list', fault: '"inputSchema" must have the type "object"' },
    { ...aside, entry: '#2', fault: '"name" must be a non-empty string' },
    { ...aside, entry: '#3', fault: 'it is no object' },
    { ...aside, entry: 'a', fault: 'it is listed twice; the first is used' },
  ]);
  expect(diagnostics.map(sayDiagnostic)[0]).toBe(
    'tool "list": "inputSchema" must have the type "object"; it is not offered',
  );
});

test('a tool that can be mended is kept, and what was mended is told', async () => {
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

test('a server without tools is not asked for them', async () => {
  await using far = await openListing(() => ({ tools: [good('a')] }), {});
  expect(await listTools(far.connection)).toEqual({ items: [], diagnostics: [] });
  expect(far.asked).toEqual([]);
});

test('a tool whose marked arguments cannot travel as headers is set aside where they must', async () => {
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
