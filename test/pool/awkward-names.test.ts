import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assemble } from '../../src/pool/assemble.ts';
import type { Pool, PoolInput } from '../../src/pool/pool.ts';
import { mcpToolName } from '../../src/protocol/tool-name.ts';
import { anomalies, catalogue } from './catalogue.ts';
import { listed, names, pool } from './pool-of.ts';

const ODD = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  '__',
  'a__b',
  '.',
  '数据',
  '😀',
  '\0',
];
const name = fc.oneof(
  fc.constantFrom(...ODD),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.stringMatching(/^[ab_.]{1,5}$/),
  fc.constantFrom('x', 'y').map((sign) => sign.repeat(10_000)),
);

/** The origin of each tool of the input, and how often it is listed. */
function wanted({ builtIns, servers }: PoolInput): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (origin: object) => {
    const key = JSON.stringify(origin);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  for (const { name: tool } of builtIns) count({ kind: 'builtin', tool });
  for (const [server, tools] of servers) {
    for (const { name: tool } of tools) count({ kind: 'mcp', server, tool });
  }
  return counts;
}

/** Checks that every tool of the input is offered once, under a valid and unique name that leads to it. */
function expectSound(input: PoolInput, it: Pool): void {
  const counts = wanted(input);
  expect(it.tools.map(({ origin }) => JSON.stringify(origin)).sort()).toEqual([...counts.keys()].sort());
  expect(it.byName.size).toBe(it.tools.length);
  const isGood = new RegExp(`^[a-zA-Z0-9_-]{1,${input.maxNameLength}}$`);
  const unsound = it.tools.filter((tool) => {
    const { origin, listed: declared } = tool;
    const list = origin.kind === 'builtin' ? input.builtIns : input.servers.get(origin.server);
    const found = origin.kind === 'builtin' ? tool : it.byServer.get(origin.server)?.get(origin.tool);
    return !(
      isGood.test(tool.name) &&
      it.byName.get(tool.name) === tool &&
      declared.name === origin.tool &&
      list?.includes(declared) &&
      found === tool
    );
  });
  expect(unsound).toEqual([]);
  const repeats = [...counts.values()].reduce((sum, times) => sum + times - 1, 0);
  expect(it.diagnostics.filter(({ fault }) => fault === 'listed-twice')).toHaveLength(repeats);
  for (const { origin, name: told } of it.diagnostics) expect(it.byName.get(told)?.origin).toEqual(origin);
}

test('R142 C15 C16 whatever the names are, no tool is lost and none is reached by the name of another', () => {
  const lists = fc.array(fc.tuple(name, fc.array(name, { maxLength: 6 })), { maxLength: 5 });
  const limits = fc.constantFrom(16, 64, 128);
  fc.assert(
    fc.property(fc.array(name, { maxLength: 4 }), lists, limits, (own, servers, maxNameLength) => {
      const input = {
        builtIns: own.map((it) => listed(it)),
        servers: new Map(servers.map(([key, tools]) => [key, tools.map((it) => listed(it))])),
        maxNameLength,
      };
      expectSound(input, assemble(input));
    }),
    { numRuns: 200 },
  );
});

test.each<[string, string[], Record<string, string[]>]>([
  ['a split of the name would find another server', [], { x__y: ['z'], x: ['y__z'] }],
  ['keys become the same', [], { 'a b': ['t'], 'a.b': ['t'], a_b: ['t'], 'a/b': ['t'] }],
  ['nothing of the names is left', [], { 数据: ['数据', '工具'], 工具: ['工具', '数据'] }],
  [
    'names of what every object has',
    ['constructor'],
    { constructor: ['__proto__', 'toString'], toString: ['x'] },
  ],
  ['a built-in takes the name of a tool', ['mcp__s__t'], { s: ['t'] }],
  ['a tool is named as the alias of another would be', ['mcp__s__t'], { s: ['t', 't_365e2810', 't_'] }],
  ['a built-in has no name, a bad one, or a long one', ['', 'a b', 'a.b', 'B'.repeat(200)], {}],
])('C15 %s', (_, own, servers) => {
  const input = {
    builtIns: own.map((it) => listed(it)),
    servers: new Map(Object.entries(servers).map(([key, tools]) => [key, tools.map((it) => listed(it))])),
    maxNameLength: 64,
  };
  expectSound(input, assemble(input));
});

test('a built-in without a name is offered under an alias and reported', () => {
  const it = pool([''], {});
  expect(names(it)).toEqual([expect.stringMatching(/^_[0-9a-f]{8}$/)]);
  expect(it.diagnostics).toMatchObject([{ fault: 'name-empty', wanted: '', name: names(it)[0] }]);
});

test('an alias is the same in every run and on every machine', () => {
  expect(names(pool(['mcp__s__t'], { s: ['t'] }))).toEqual(['mcp__s__t', 'mcp__s__t_365e2810']);
  const long = pool([], { s: ['x'.repeat(100)] }, { maxNameLength: 64 });
  expect(names(long)).toEqual([`mcp__s__${'x'.repeat(47)}_1997bd11`]);
});

test('a tool listed twice is reported under its pool name', () => {
  const long = 'x'.repeat(100);
  const it = pool([], { s: [long, long] }, { maxNameLength: 64 });
  expect(it.tools).toHaveLength(1);
  expect(it.diagnostics.map(({ fault, name: told }) => [fault, told])).toEqual([
    ['name-too-long', names(it)[0]],
    ['listed-twice', names(it)[0]],
  ]);
});

test('of a tool listed twice the first is used', () => {
  const tools = [listed('a', { description: 'first' }), listed('a', { description: 'second' })];
  const it = assemble({ builtIns: [], servers: new Map([['s', tools]]), maxNameLength: 64 });
  expect(it.tools.map(({ description }) => description)).toEqual(['first']);
});

test('a limit that leaves no room for an alias is refused', () => {
  expect(() => pool([], {}, { maxNameLength: 15 })).toThrow(/maxNameLength must be at least 16/);
});

test('C16 under a limit of 64 every tool of the catalogue has a name of its own', () => {
  const servers = catalogue();
  const input = { builtIns: [], servers, maxNameLength: 64 };
  const it = assemble(input);
  expectSound(input, it);
  const { namesOver64Prefixed, collisionsWhenCutTo64 } = anomalies();
  expect(it.diagnostics.map(({ fault }) => fault)).toEqual(
    Array.from({ length: namesOver64Prefixed.shortId.count }, () => 'name-too-long'),
  );
  for (const { from } of collisionsWhenCutTo64.items) {
    const told = it.diagnostics.filter(({ wanted: long }) => from.includes(long));
    expect(new Set(told.map(({ name: alias }) => alias)).size).toBe(from.length);
  }
});

test('C16 under a limit of 128 the catalogue keeps its names', () => {
  const it = assemble({ builtIns: [], servers: catalogue(), maxNameLength: 128 });
  expect(it.diagnostics).toEqual([]);
  expect(
    it.tools.every(
      ({ name: given, origin }) => origin.kind === 'mcp' && given === mcpToolName(origin.server, origin.tool),
    ),
  ).toBe(true);
});
