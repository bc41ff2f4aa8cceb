import { expect, test } from 'vitest';
import { connect } from '../../../src/mcp/connection/connect.ts';
import { listResources, listResourceTemplates } from '../../../src/mcp/discovery/list-resources.ts';
import { everything, testWorld } from '../connection/servers.ts';

/** A server with these answers, by method. */
function server(answers: Record<string, unknown>, capabilities: object = { resources: {} }) {
  const asked: string[] = [];
  const ask = async (method: string) => {
    asked.push(method);
    return answers[method];
  };
  return { connection: { name: 'r', capabilities, ask }, asked };
}

test('resources keep everything the protocol knows of them, and what it does not', async () => {
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

test('a resource that can be mended is kept, one without an address is set aside', async () => {
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
    ['x:2', '"mimeType" is not a string and was left out', 'kept'],
    ['x:2', '"size" is not a number and was left out', 'kept'],
    ['x:2', '"annotations" is not an object and was left out', 'kept'],
    ['nowhere', '"uri" must be a non-empty string', 'set-aside'],
    ['x:1', 'it is listed twice; the first is used', 'set-aside'],
    ['#4', 'it is no object', 'set-aside'],
  ]);
});

test('templates are a list of their own', async () => {
  const resourceTemplates = [{ uriTemplate: 'x:{id}', name: 'x' }, { uriTemplate: '' }];
  const { connection, asked } = server({ 'resources/templates/list': { resourceTemplates } });
  expect(await listResourceTemplates(connection)).toMatchObject({
    items: [{ uriTemplate: 'x:{id}', name: 'x' }],
    diagnostics: [{ list: 'resourceTemplates', entry: '#1' }],
  });
  expect(asked).toEqual(['resources/templates/list']);
});

test('a server without resources is asked for neither', async () => {
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
