import { describe, expect, test } from 'vitest';
import { assemble } from '../../src/pool/assemble.ts';
import type { PoolInput } from '../../src/pool/pool.ts';
import { visibleSchema } from '../../src/pool/pooled-tool.ts';
import { tokenCost } from '../../src/pool/token-cost.ts';
import type { ListedTool } from '../../src/protocol/mcp.ts';
import { compileTool, tool } from '../../src/tool-server/tool.ts';
import { listed, pool } from './pool-of.ts';

describe('pooled', () => {
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

  test('the pool reads the metadata that tool() sets', () => {
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

  test('a schema is normalized once for all pools', () => {
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

  test('an unreadable schema does not affect other tools and is tried once', () => {
    let reads = 0;
    const broken = Object.defineProperty({ type: 'object' }, 'properties', {
      enumerable: true,
      get() {
        reads++;
        throw new RangeError('Invalid string length');
      },
    });
    const tools = of([listed('a', { inputSchema: broken }), listed('b')]);
    expect(tools.map(({ inputSchema }) => inputSchema)).toEqual([
      {
        type: 'object',
        description: 'The input schema is too large to be included; the server validates the arguments.',
        properties: {},
      },
      { type: 'object', properties: {} },
    ]);
    expect(tools.map(tokenCost)).toEqual([expect.any(Number), expect.any(Number)]);
    expect(tools[0]?.inputSchema).toBe(tools[0]?.inputSchema);
    expect(reads).toBe(1);
  });

  test('hidden characters are also removed below parameters named like keywords', () => {
    const hidden = { type: 'string', description: 'a\u200bb', enum: ['x\u200b'] };
    const properties = { default: hidden, enum: hidden, title: hidden };
    const [it] = of([listed('a', { inputSchema: { type: 'object', properties } })]);
    const shown = { ...hidden, description: 'ab' };
    expect(it?.inputSchema.properties).toEqual({ default: shown, enum: shown, title: shown });
  });
});

describe('visible schema', () => {
  const HIDDEN = 'Finds\u200b it\u{e0041}\u{e0042}';

  test('hidden characters are removed from texts and kept in values that a call must match', () => {
    const schema = {
      type: 'object',
      properties: {
        'a\u200bb': { title: HIDDEN, enum: ['x\u200b'], default: 'x\u200b', description: HIDDEN },
      },
      required: ['a\u200bb'],
    };
    expect(visibleSchema(schema)).toEqual({
      type: 'object',
      properties: {
        'a\u200bb': { title: 'Finds it', enum: ['x\u200b'], default: 'x\u200b', description: 'Finds it' },
      },
      required: ['a\u200bb'],
    });
  });

  test('a schema without hidden characters is returned unchanged', () => {
    const plain = { type: 'object', properties: { a: { description: 'Words\nand "more"' } } };
    expect(visibleSchema(plain)).toBe(plain);
  });

  test('a parameter that is called description stays one', () => {
    const schema = { type: 'object', properties: { description: { type: 'string', title: '\u200bx' } } };
    expect(visibleSchema(schema)).toEqual({
      type: 'object',
      properties: { description: { type: 'string', title: 'x' } },
    });
  });

  test('descriptions are sent without hidden characters', () => {
    const servers = new Map([['s', [listed('find', { description: HIDDEN })]]]);
    expect(pool([], {}, { servers }).tools[0]?.description).toBe('Finds it');
  });
});
