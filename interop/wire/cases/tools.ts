import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import * as z3 from 'zod/v3';
import type { Options, Sdk, WireCase } from '../case.ts';
import { FENCE, mcp, type Step } from '../scenario.ts';
import { calc } from '../servers.ts';

type Shape = Parameters<Sdk['tool']>[2];
type Tools = NonNullable<Parameters<Sdk['createSdkMcpServer']>[0]['tools']>;
type Extras = Parameters<Sdk['tool']>[4];

const done = async () => ({ content: [] });

/** One tool per row: the shape and what `tools/list` makes of it. */
const SHAPES: Readonly<Record<string, Shape>> = {
  none: {},
  string: { s: z.string() },
  'string checks': { s: z.string().min(1).max(5).regex(/^a/), t: z.string().startsWith('x') },
  formats: { e: z.email(), u: z.url(), id: z.uuid(), d: z.iso.datetime(), old: z.string().email() },
  number: { n: z.number(), p: z.number().positive().max(9), m: z.number().multipleOf(2) },
  int: { i: z.int(), j: z.number().int(), k: z.int32() },
  boolean: { b: z.boolean() },
  literal: { l: z.literal('x'), n: z.literal(1), many: z.literal(['a', 'b']), nil: z.null() },
  enum: { e: z.enum(['a', 'b']) },
  optional: { o: z.string().optional(), r: z.string() },
  'all optional': { o: z.string().optional() },
  default: { d: z.string().default('x'), n: z.number().default(3) },
  array: { a: z.array(z.string()), b: z.array(z.number()).min(1).max(3) },
  tuple: { t: z.tuple([z.string(), z.number()]) },
  nested: { o: z.object({ a: z.string(), b: z.object({ c: z.number() }).optional() }) },
  strict: { o: z.strictObject({ a: z.string() }), l: z.looseObject({ a: z.string() }) },
  describe: { d: z.string().describe('a text'), o: z.object({ a: z.string() }).describe('an object') },
  'describe and optional': {
    a: z.string().describe('in').optional(),
    b: z.string().optional().describe('out'),
  },
  record: { r: z.record(z.string(), z.number()) },
  'record of enum': { r: z.record(z.enum(['a', 'b']), z.number()) },
  union: { u: z.union([z.string(), z.number()]) },
  'discriminated union': {
    u: z.discriminatedUnion('k', [
      z.object({ k: z.literal('a'), x: z.string() }),
      z.object({ k: z.literal('b'), y: z.number() }),
    ]),
  },
  intersection: { i: z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })) },
  nullable: { n: z.string().nullable(), o: z.string().nullish() },
  any: { a: z.any(), u: z.unknown() },
  meta: { m: z.string().meta({ title: 'T', description: 'D', examples: ['e'] }) },
  transform: { t: z.string().transform((text) => text.length) },
  pipe: { p: z.string().pipe(z.coerce.number()) },
  coerce: { c: z.coerce.number() },
  refine: { r: z.string().refine((text) => text !== 'no') },
  catch: { c: z.string().catch('x') },
  readonly: { r: z.array(z.string()).readonly() },
  'reused schema': reused(),
  date: { d: z.date() },
  bigint: { b: z.bigint() },
  'zod 3': {
    s: z3.string().describe('text'),
    n: z3.number().int().optional(),
    e: z3.enum(['a', 'b']).default('a'),
    o: z3.object({ a: z3.array(z3.string()) }),
    u: z3.union([z3.string(), z3.number()]).nullable(),
  } as unknown as Shape,
};

const EXTRAS: Readonly<Record<string, Extras>> = {
  annotations: { annotations: { readOnlyHint: true, destructiveHint: false, title: 'Adder' } },
  'annotations empty': { annotations: {} },
  searchHint: { searchHint: 'sum plus' },
  alwaysLoad: { alwaysLoad: true },
  'alwaysLoad false': { alwaysLoad: false },
  everything: { alwaysLoad: true, searchHint: 'sum', annotations: { openWorldHint: true } },
};

const LIST = mcp('m-1', 'box', { method: 'tools/list', jsonrpc: '2.0', id: 1 });

/** What `tool()` and `createSdkMcpServer()` turn into in `tools/list`. */
export const TOOL_CASES: readonly WireCase[] = [
  ...Object.entries(SHAPES).map(([name, shape]) => ({
    name: `tool: ${name}`,
    options: (sdk: Sdk) => box(sdk, [sdk.tool('t', 'T', shape, done)]),
    scenario: { beforeResult: [LIST] },
  })),
  ...Object.entries(EXTRAS).map(([name, extras]) => ({
    name: `tool extras: ${name}`,
    options: (sdk: Sdk) => box(sdk, [sdk.tool('t', 'T', {}, done, extras)]),
  })),
  {
    name: 'tool extras: server alwaysLoad over its tools',
    options: (sdk) => ({
      mcpServers: {
        box: sdk.createSdkMcpServer({
          name: 'box',
          alwaysLoad: true,
          tools: [
            sdk.tool('a', 'A', {}, done, { alwaysLoad: false }),
            sdk.tool('b', 'B', {}, done, { searchHint: 'h' }),
          ],
        }),
      },
    }),
  },
  {
    name: 'tool: empty description and odd name',
    options: (sdk) => box(sdk, [sdk.tool('do it!', '', {}, done)]),
  },
  {
    name: 'tool: _meta on the definition',
    options: (sdk) => box(sdk, [{ ...sdk.tool('t', 'T', {}, done), _meta: { mine: 1 } }]),
  },
  {
    name: 'tool: the same name twice',
    options: (sdk) => box(sdk, [sdk.tool('t', 'A', {}, done), sdk.tool('t', 'B', {}, done)]),
  },
  {
    name: 'tool: arguments reach the handler parsed',
    options: (sdk) =>
      box(sdk, [
        sdk.tool(
          't',
          'T',
          { d: z.string().default('x'), c: z.coerce.number(), n: z.object({ a: z.string() }) },
          says,
        ),
      ]),
    scenario: { beforeResult: [call({ c: '5', n: { a: 'b', extra: 1 }, more: 1 }), FENCE] },
  },
  {
    name: 'tool: a nested wrong argument',
    options: (sdk) => box(sdk, [sdk.tool('t', 'T', { n: z.object({ a: z.enum(['x', 'y']) }) }, says)]),
    scenario: { beforeResult: [call({ n: { a: 'z' } }), FENCE] },
  },
  {
    name: 'tool: a wrong union, format and limit',
    options: (sdk) =>
      box(sdk, [
        sdk.tool(
          't',
          'T',
          { u: z.union([z.string(), z.number()]), e: z.email(), m: z.string().min(3) },
          says,
        ),
      ]),
    scenario: { beforeResult: [call({ u: true, e: 'x', m: 'a' }), FENCE] },
  },
  {
    name: 'tool: an McpServer of the official MCP package',
    options: () => ({ mcpServers: { box: { type: 'sdk', name: 'box', instance: ownServer() } } }),
    scenario: {
      beforeResult: [LIST, mcp('m-2', 'box', { method: 'resources/list', jsonrpc: '2.0', id: 2 })],
    },
  },
  {
    name: 'tool: a server set later is served',
    scenario: {
      beforeReply: {
        set_model: [
          mcp('m-1', 'late', toolCall('add', { a: 1, b: 2 })),
          mcp('m-2', 'late', { method: 'tools/list', jsonrpc: '2.0', id: 3 }),
        ],
      },
    },
    act: async (query, sdk) => {
      const set = await query.setMcpServers({ late: calc(sdk) });
      await query.setModel('after');
      return set;
    },
  },
];

function box(sdk: Sdk, tools: Tools): Options {
  return { mcpServers: { box: sdk.createSdkMcpServer({ name: 'box', tools }) } };
}

function call(args: unknown): Step {
  return mcp('m-1', 'box', toolCall('t', args));
}

function toolCall(name: string, args: unknown): Record<string, unknown> {
  return { method: 'tools/call', params: { name, arguments: args }, jsonrpc: '2.0', id: 2 };
}

async function says(args: unknown) {
  return { content: [{ type: 'text' as const, text: JSON.stringify(args) }] };
}

function reused(): Shape {
  const point = z.object({ x: z.number() });
  return { from: point, to: point };
}

function ownServer(): McpServer {
  const server = new McpServer({ name: 'box', version: '2.0.0', title: 'Box' }, { instructions: 'Open it.' });
  const config = {
    title: 'Open',
    description: 'O',
    inputSchema: { a: z.string() },
    outputSchema: { b: z.string() },
  };
  server.registerTool('open', config, async () => ({ content: [], structuredContent: { b: 'x' } }));
  server.registerResource('r', 'calc://doc', { title: 'R' }, async () => ({ contents: [] }));
  return server;
}
