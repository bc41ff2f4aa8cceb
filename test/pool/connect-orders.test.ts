import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Assembler, assemble } from '../../src/pool/assemble.ts';
import type { Pool } from '../../src/pool/pool.ts';
import type { ListedTool } from '../../src/protocol/mcp.ts';
import { catalogue } from './catalogue.ts';
import { listed } from './pool-of.ts';

const OWN = ['Read', 'Bash', 'connect_mcp'].map((name) => listed(name));
const input = (servers: ReadonlyMap<string, readonly ListedTool[]>) => ({
  builtIns: OWN,
  servers,
  maxNameLength: 64,
});

/** The tool definitions as they are sent to a model, and the position of the cache breakpoint. */
const bytes = ({ tools, cacheAfter }: Pool) =>
  JSON.stringify([
    tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    cacheAfter,
  ]);

test('R160 C15 one thousand orders of connecting give the same bytes, at once and step by step', () => {
  const real = [...catalogue()].filter(([, tools]) => tools.length >= 2 && tools.length <= 3).slice(0, 9);
  const [first, second] = real.map(([, tools]) => tools) as [ListedTool[], ListedTool[]];
  // Servers that want the same names, and one whose names are too long.
  const all: [string, readonly ListedTool[]][] = [
    ...real,
    ['twin.a', first],
    ['twin_a', second],
    ['twin a', first],
    ['long'.repeat(15), second],
  ];
  const expected = bytes(assemble(input(new Map(all))));
  expect(JSON.parse(expected)[0].length).toBeGreaterThan(25);
  fc.assert(
    fc.property(
      fc.shuffledSubarray(all, { minLength: all.length }),
      fc.array(fc.nat(all.length - 1), { maxLength: 3 }),
      (order, lost) => {
        expect(bytes(assemble(input(new Map(order))))).toBe(expected);
        const assembler = new Assembler();
        const there = new Map<string, readonly ListedTool[]>();
        for (const [server, tools] of order) assembler.assemble(input(there.set(server, tools)));
        // Some servers disconnect and reconnect last.
        for (const [server, tools] of lost.map((at) => order[at] as (typeof all)[number])) {
          there.delete(server);
          assembler.assemble(input(there));
          assembler.assemble(input(there.set(server, tools)));
        }
        expect(bytes(assembler.assemble(input(there)))).toBe(expected);
      },
    ),
    { numRuns: 1_000, seed: 160 },
  );
});

test('R160 the whole catalogue gives the same bytes in any order', () => {
  const all = [...catalogue()];
  const expected = bytes(assemble(input(new Map(all))));
  fc.assert(
    fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (order) => {
      expect(bytes(assemble(input(new Map(order))))).toBe(expected);
    }),
    { numRuns: 3, seed: 161 },
  );
});
