import { expect, test } from 'vitest';
import { assemble, type PoolInput } from '../../../src/host/pool/assemble.ts';
import type { ListedTool } from '../../../src/protocol/mcp.ts';
import { compileTool, tool } from '../../../src/tools/tool.ts';
import { listed } from './pool-of.ts';

const of = (tools: ListedTool[], more: Partial<PoolInput> = {}) =>
  assemble({ builtIns: [], servers: new Map([['s', tools]]), maxNameLength: 128, ...more }).tools;

test.each<[string, Record<string, unknown> | undefined, object]>([
  ['nothing', undefined, { alwaysLoad: false }],
  ['always loaded', { 'anthropic/alwaysLoad': true }, { alwaysLoad: true }],
  ['always loaded, but in words', { 'anthropic/alwaysLoad': 'true' }, { alwaysLoad: false }],
  ['a hint', { 'anthropic/searchHint': 'papers' }, { alwaysLoad: false, searchHint: 'papers' }],
  ['a hint that is none', { 'anthropic/searchHint': 7 }, { alwaysLoad: false, searchHint: undefined }],
])('a tool says of itself: %s', (_, _meta, expected) => {
  const [it] = of([listed('a', _meta && { _meta })]);
  expect({ alwaysLoad: it?.alwaysLoad, searchHint: it?.searchHint }).toEqual(expected);
});

test('what tool() is told, the pool reads', () => {
  const definition = tool('a', 'A', {}, () => '', { searchHint: 'papers', alwaysLoad: true });
  const [it] = of([compileTool(definition, { alwaysLoad: false }).listed]);
  expect(it).toMatchObject({ searchHint: 'papers', alwaysLoad: true });
});

test('a server may be always loaded as a whole', () => {
  const servers = new Map([
    ['s', [listed('a')]],
    ['t', [listed('a')]],
  ]);
  const tools = of([], { servers, alwaysLoadServers: new Set(['t']) });
  expect(tools.map(({ name, alwaysLoad }) => [name, alwaysLoad])).toEqual([
    ['mcp__s__a', false],
    ['mcp__t__a', true],
  ]);
});

test('a definition is put in the form of the API once, however often pools are made of it', () => {
  const tools = [listed('a', { inputSchema: { $ref: '#/$defs/a', $defs: { a: { type: 'object' } } } })];
  const [first] = of(tools);
  const [second] = of(tools, { marks: true });
  expect(second).not.toBe(first);
  expect(second?.inputSchema).toBe(first?.inputSchema);
});

test('a pooled tool is plain data: a copy and its JSON have the schema', () => {
  const [it] = of([listed('a', { inputSchema: { type: 'object', title: 'A' } })]);
  expect({ ...(it as object) }).toMatchObject({ inputSchema: { type: 'object', title: 'A' } });
  expect(JSON.parse(JSON.stringify(it))).toMatchObject({ inputSchema: { type: 'object', title: 'A' } });
});
