import { expect, test } from 'vitest';
import type { ResourceLists } from '../../../src/agent/builtins/built-in.ts';
import { LIST_MCP_RESOURCES, READ_MCP_RESOURCE } from '../../../src/agent/builtins/mcp-tools.ts';

import { call, directoryWith, done, failed, worldIn } from './built-in-world.ts';

const LISTS: ResourceLists = {
  resources: [
    { server: 'a', uri: 'file:///x.md', name: 'X' },
    { server: 'b', uri: 'db://rows', name: 'Rows', description: 'All ORDERS' },
  ],
  templates: [{ server: 'b', uriTemplate: 'db://rows/{id}', name: 'Row' }],
  faults: ['server c did not answer'],
};

function worldOf(lists: ResourceLists | { fault: string }) {
  const asked: unknown[] = [];
  const world = worldIn(directoryWith(), {
    resources: {
      list: async (server) => {
        asked.push(server);
        return lists;
      },
      read: async (server, uri) => done(`${server} ${uri}`),
      watch: async () => undefined,
    },
  });
  return { world, asked };
}

test('resources and templates are listed one per line, followed by errors', async () => {
  const { world, asked } = worldOf(LISTS);
  const { content, isError, programResult: told } = await call(LIST_MCP_RESOURCES, {}, world);
  expect({ asked, isError }).toEqual({ asked: [undefined], isError: false });
  const lines = String(content).split('\n');
  expect(lines.slice(0, 3).map((line) => JSON.parse(line))).toEqual([...LISTS.resources, ...LISTS.templates]);
  expect(lines.slice(3)).toEqual(LISTS.faults);
  expect(told).toEqual([...LISTS.resources, ...LISTS.templates]);
});

test('lists the resources of one server, or those that contain a text', async () => {
  const { world, asked } = worldOf({ ...LISTS, faults: [] });
  const { content } = await call(LIST_MCP_RESOURCES, { server: 'b', contains: 'orders' }, world);
  expect(asked).toEqual(['b']);
  expect(JSON.parse(String(content))).toEqual(LISTS.resources[1]);
});

test('a long list is truncated, with a note on how to see the rest', async () => {
  const resources = Array.from({ length: 1_000 }, (_, at) => ({
    server: 'a',
    uri: `x:${at}`,
    name: `${at}`,
  }));
  const { world } = worldOf({ resources, templates: [], faults: [] });
  const { content } = await call(LIST_MCP_RESOURCES, {}, world);
  const lines = String(content).split('\n');
  expect(lines).toHaveLength(201);
  expect(lines[200]).toBe('… and 800 more: set "server" or "contains" to see them.');
});

test('long texts are truncated, members for programs are left out, and the total length is limited', async () => {
  const resources = Array.from({ length: 199 }, (_, at) => ({
    server: 'a',
    uri: `x:${at}${'y'.repeat(1_000)}`,
    name: '😀'.repeat(300),
    description: 'd'.repeat(5_000),
    _meta: { secret: 1 },
  }));
  const { world } = worldOf({ resources, templates: [], faults: [] });
  const { content } = await call(LIST_MCP_RESOURCES, {}, world);
  expect(String(content).length).toBeLessThan(45_000);
  expect(content).not.toContain('secret');
  expect(String(content).isWellFormed()).toBe(true);
  expect(content).toMatch(/… and \d+ more/);
});

test('a server that fails is an error, not an empty list', async () => {
  const { world } = worldOf({ resources: [], templates: [], faults: ['a failed'] });
  expect(await call(LIST_MCP_RESOURCES, {}, world)).toEqual(failed('a failed'));
});

test('an empty list and an error are reported', async () => {
  const none = worldOf({ resources: [], templates: [], faults: [] });
  expect(await call(LIST_MCP_RESOURCES, {}, none.world)).toMatchObject(done('No resources were found.'));
  const { world } = worldOf({ fault: 'there is no server z' });
  expect(await call(LIST_MCP_RESOURCES, { server: 'z' }, world)).toEqual(failed('there is no server z'));
});

test('a resource is read by its server and URI', async () => {
  const { world } = worldOf(LISTS);
  expect(await call(READ_MCP_RESOURCE, { server: 'a', uri: 'file:///x.md' }, world)).toEqual(
    done('a file:///x.md'),
  );
});
