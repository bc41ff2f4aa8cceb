import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pool } from '../../src/pool/pool.ts';
import { mcpToolName, normalizeName } from '../../src/protocol/tool-name.ts';
import { names, pool } from './pool-of.ts';

describe('properties', () => {
  // Few letters, so that names often collide.
  const part = fc.stringMatching(/^[ab_.]{1,6}$/);
  const servers = fc.array(fc.tuple(part, fc.uniqueArray(part, { maxLength: 5 })), { maxLength: 5 });
  const builtIns = fc.uniqueArray(fc.oneof(part, fc.constant('mcp__a__b')), { maxLength: 4 });
  const limit = fc.constantFrom(16, 64);
  const of = (own: string[], all: [string, string[]][], maxNameLength: number) =>
    pool(own, Object.fromEntries(all), { maxNameLength });
  const bytes = (it: Pool) => JSON.stringify([it.tools, it.cacheAfter, it.diagnostics]);

  test('no tool is lost, names are unique and fit, and each leads back to its origin', () => {
    fc.assert(
      fc.property(builtIns, servers, limit, (own, all, max) => {
        const it = of(own, all, max);
        const tools = Object.entries(Object.fromEntries(all)).flatMap(([server, list]) =>
          list.map((tool) => ({ kind: 'mcp', server, tool })),
        );
        const origins = [...own.map((tool) => ({ kind: 'builtin', tool })), ...tools];
        const sorted = (list: unknown[]) => list.map((origin) => JSON.stringify(origin)).sort();
        expect(sorted(it.tools.map(({ origin }) => origin))).toEqual(sorted(origins));
        expect(new Set(names(it)).size).toBe(origins.length);
        expect(names(it).every((name) => name.length <= max)).toBe(true);
        expect(it.tools.every((tool) => it.byName.get(tool.name) === tool)).toBe(true);
        const renamed = it.tools.filter(
          ({ name, origin }) =>
            name !==
            (origin.kind === 'mcp' ? mcpToolName(origin.server, origin.tool) : normalizeName(origin.tool)),
        );
        expect(it.diagnostics.map(({ name }) => name).sort()).toEqual(renamed.map(({ name }) => name).sort());
      }),
    );
  });

  test('the order in which servers and tools came makes no difference to a single byte', () => {
    const shuffled = fc.tuple(
      builtIns,
      fc.uniqueArray(fc.tuple(part, fc.uniqueArray(part)), { selector: ([key]) => key, maxLength: 5 }),
      limit,
    );
    fc.assert(
      fc.property(shuffled, ([own, all, max]) => {
        const turned = all.toReversed().map(([key, tools]): [string, string[]] => [key, tools.toReversed()]);
        expect(bytes(of(own.toReversed(), turned, max))).toBe(bytes(of(own, all, max)));
      }),
    );
  });
});
