import { expect, test } from 'vitest';
import { officialExports, programErrors, type TypeWalkRow, walkTypes } from '../../scripts/type-walk.ts';

type Comparison = 'toOfficial' | 'fromOfficial' | 'complete';
const COMPARISONS: readonly Comparison[] = ['toOfficial', 'fromOfficial', 'complete'];

const TEXTS = 'is refused when used; the texts of another product are not repeated in our types';
const SERVERS = 'accepts more: Toolplane servers, WebSocket servers, servers without a type';

/** The comparisons that fail, each with its reason. An exception whose comparison succeeds fails the test. */
const EXCEPTIONS: Readonly<Record<string, Partial<Record<Comparison, string>>>> = {
  AnyZodRawShape: {
    toOfficial: 'accepts more: the fields of any Standard Schema library',
    complete: 'a Standard Schema has fewer members than a zod type',
  },
  BUILTIN_TOOL_NAMES: { toOfficial: 'is refused when used; declared as a list of strings' },
  InMemorySessionStore: { toOfficial: 'a class with private members matches only itself' },
  McpSdkServerConfigWithInstance: {
    toOfficial: 'accepts more: Toolplane servers and functions that create one server per query',
    complete: 'an instance needs only connect() and close()',
  },
  McpServerConfig: { toOfficial: SERVERS, complete: SERVERS },
  ORG_POLICY_LIMIT_PREFIXES: { toOfficial: TEXTS },
  Options: {
    toOfficial: 'accepts more: other servers in mcpServers, any name in betas',
    complete: 'accepts more: other servers in mcpServers, any name in betas',
  },
  USAGE_LIMIT_ERROR_PREFIXES: { toOfficial: TEXTS },
  USAGE_TRANSITION_PREFIXES: { toOfficial: TEXTS },
  USAGE_WARNING_PREFIXES: { toOfficial: TEXTS },
  createSdkMcpServer: {
    toOfficial: 'returns a Toolplane server, whose instance is not an McpServer',
    fromOfficial: 'returns more: methods to add and call tools',
  },
  tool: {
    toOfficial:
      'infers optional arguments as optional members; its calls are compared in fixtures/typical-program.ts',
    fromOfficial: 'accepts more: any schema, and handlers that return any value',
  },
};

const rows = new Map((await walkTypes()).map((row) => [row.name, row]));
const rowOf = (name: string) => rows.get(name) as TypeWalkRow;

test('the published types of the official package have the known number of exports', () => {
  const kinds = Map.groupBy(officialExports(), ({ kind }) => kind);
  const counts = Object.fromEntries([...kinds].map(([kind, list]) => [kind, list.length]));
  expect(counts).toEqual({ type: 225, interface: 8, function: 21, const: 9, class: 2 });
});

test('every export of the official package is present', () => {
  expect([...rows.values()].filter(({ present }) => !present).map(({ name }) => name)).toEqual([]);
});

test('exceptions name exports that exist', () => {
  expect(Object.keys(EXCEPTIONS).filter((name) => !rows.has(name))).toEqual([]);
});

test.each(officialExports().map(({ name }) => name))('%s has a compatible type', (name) => {
  const row = rowOf(name);
  const failed = COMPARISONS.filter((comparison) => !row[comparison]);
  expect(failed, row.note).toEqual(COMPARISONS.filter((comparison) => EXCEPTIONS[name]?.[comparison]));
});

test.each(['ours', 'official'] as const)('a typical program compiles with the types: %s', async (types) => {
  const program = new URL('fixtures/typical-program.ts', import.meta.url);
  expect(await programErrors(program, types)).toEqual([]);
});
