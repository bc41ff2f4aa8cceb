import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Assembler, assemble } from '../../src/pool/assemble.ts';
import type { Pool, PoolInput } from '../../src/pool/pool.ts';
import type { ListedTool } from '../../src/protocol/mcp.ts';
import { listed, names } from './pool-of.ts';

const BASE = { builtIns: [listed('Bash')], maxNameLength: 64 };
const servers = (all: Record<string, ListedTool[]>) => new Map(Object.entries(all));

/** A pool with its maps as lists, since JSON omits the content of maps. */
const whole = (it: Pool) => ({
  ...it,
  byName: [...it.byName],
  byServer: [...it.byServer].map(([, its]) => [...its]),
});

describe('the same pool again', () => {
  const tools = [listed('a'), listed('b')];
  const other = [listed('c')];

  test.each<[string, Partial<PoolInput>]>([
    ['nothing changed', {}],
    [
      'the servers came in another order',
      {
        servers: new Map([
          ['t', other],
          ['s', tools],
        ]),
      },
    ],
    ['a list is another array of the same tools', { servers: servers({ s: [...tools], t: other }) }],
    ['the rules changed without effect', { rulesKey: 'other' }],
    ['the rules have no key', { rulesKey: undefined }],
  ])('%s', (_, change) => {
    const assembler = new Assembler();
    const input = { ...BASE, servers: servers({ s: tools, t: other }), isDenied: () => false, rulesKey: 1 };
    expect(assembler.assemble({ ...input, ...change })).toBe(assembler.assemble(input));
  });

  test('a tool that stays is the same object in the next pool, also under an alias', () => {
    const long = [listed('x'.repeat(90))];
    const assembler = new Assembler();
    const before = assembler.assemble({ ...BASE, servers: servers({ s: tools, long }) });
    const after = assembler.assemble({ ...BASE, servers: servers({ s: tools, long, t: other }) });
    expect(after).not.toBe(before);
    for (const name of names(before)) expect(after.byName.get(name)).toBe(before.byName.get(name));
  });
});

describe('another pool', () => {
  const tools = [listed('a', { annotations: { readOnlyHint: true } })];

  test.each<[string, Partial<PoolInput>, (it: Pool) => unknown, unknown]>([
    ['marks', { marks: true }, (it) => it.tools[1]?.description, 'about a (readOnly)'],
    [
      'a shorter limit',
      { maxNameLength: 16, builtIns: [listed('B'.repeat(20))] },
      (it) => it.tools[0]?.name.length,
      16,
    ],
    ['servers always loaded', { alwaysLoadServers: new Set(['s']) }, (it) => it.tools[1]?.alwaysLoad, true],
    ['rules', { isDenied: (name) => name === 'Bash' }, names, ['mcp__s__a']],
    ['another tool', { servers: servers({ s: [listed('b')] }) }, names, ['Bash', 'mcp__s__b']],
    ['a server that is gone', { servers: new Map() }, names, ['Bash']],
    ['no built-ins', { builtIns: [] }, (it) => it.cacheAfter, -1],
  ])('after a change of %s', (_, change, of, expected) => {
    const assembler = new Assembler();
    const input = { ...BASE, servers: servers({ s: tools }) };
    expect(of(assembler.assemble(input))).not.toEqual(expected);
    expect(of(assembler.assemble({ ...input, ...change }))).toEqual(expected);
    expect(whole(assembler.assemble(input))).toEqual(whole(assemble(input)));
  });

  test('rules are asked again only when their key is another, or there is none', () => {
    const asked: string[] = [];
    const isDenied = (name: string) => asked.push(name) < 0;
    const assembler = new Assembler();
    const ask = (input: Partial<PoolInput>) => {
      asked.length = 0;
      assembler.assemble({ ...BASE, servers: servers({ s: tools }), isDenied, ...input });
      return [...asked];
    };
    expect(ask({ rulesKey: 1 })).toEqual(['Bash', 'mcp__s__a']);
    expect(ask({ rulesKey: 1 })).toEqual([]);
    expect(ask({ rulesKey: 1, servers: servers({ s: tools, t: [listed('b')] }) })).toEqual(['mcp__t__b']);
    expect(ask({ rulesKey: 2 })).toEqual(['Bash', 'mcp__s__a']);
    expect(ask({})).toEqual(['Bash', 'mcp__s__a']);
    expect(ask({})).toEqual(['Bash', 'mcp__s__a']);
  });
});

test('incremental assembly gives the same pool as assembly from scratch', () => {
  const part = fc.stringMatching(/^[ab_.]{1,4}$/);
  const tool = fc.record({ name: part, hint: fc.boolean() });
  const change = fc.oneof(
    fc.record({ kind: fc.constant('list' as const), server: part, tools: fc.array(tool, { maxLength: 5 }) }),
    fc.record({ kind: fc.constant('gone' as const), server: part }),
    fc.record({ kind: fc.constant('own' as const), tools: fc.uniqueArray(part, { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('deny' as const), sign: fc.constantFrom('a', 'b', '__a', 'none') }),
    fc.record({ kind: fc.constant('marks' as const) }),
    fc.record({ kind: fc.constant('limit' as const), to: fc.constantFrom(16, 18, 64) }),
    fc.record({ kind: fc.constant('always' as const), servers: fc.array(part, { maxLength: 2 }) }),
    fc.record({ kind: fc.constant('nothing' as const) }),
  );
  const next = (input: PoolInput, it: typeof change extends fc.Arbitrary<infer C> ? C : never): PoolInput => {
    const all = new Map(input.servers);
    switch (it.kind) {
      case 'list':
        all.set(
          it.server,
          it.tools.map(({ name, hint }) => listed(name, { annotations: { readOnlyHint: hint } })),
        );
        return { ...input, servers: all };
      case 'gone':
        all.delete(it.server);
        return { ...input, servers: all };
      case 'own':
        return { ...input, builtIns: it.tools.map((name) => listed(name)) };
      case 'deny':
        return { ...input, isDenied: (name) => name.endsWith(it.sign), rulesKey: {} };
      case 'marks':
        return { ...input, marks: !input.marks };
      case 'limit':
        return { ...input, maxNameLength: it.to };
      case 'always':
        return { ...input, alwaysLoadServers: new Set(it.servers) };
      case 'nothing':
        return { ...input };
    }
  };
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 20 }), (changes) => {
      const assembler = new Assembler();
      let input: PoolInput = { builtIns: [], servers: new Map(), maxNameLength: 64 };
      for (const it of changes) {
        const before = assembler.assemble(input);
        input = next(input, it);
        const step = assembler.assemble(input);
        const fresh = assemble(input);
        expect(whole(step)).toEqual(whole(fresh));
        expect(JSON.stringify(step)).toBe(JSON.stringify(fresh));
        if (it.kind === 'nothing') expect(step).toBe(before);
      }
    }),
    { numRuns: 300 },
  );
});
