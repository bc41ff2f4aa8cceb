import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Disclosure, disclose, parseToolSearch, toolBudget } from '../../src/pool/disclosure.ts';
import { tokenCost } from '../../src/pool/token-cost.ts';
import { listed, pool } from './pool-of.ts';

describe('divide', () => {
  const NOTHING = { names: new Set<string>(), loaded: new Set<string>() };
  const shown = ({ disclosed: told, searchable }: Disclosure) => ({
    told: told.map(({ name }) => name),
    searchable: searchable.map(({ name }) => name),
  });

  const TWO = pool(['Read', 'ToolSearch'], { a: ['x', 'y'], b: ['z'] });
  const ALL = ['Read', 'ToolSearch', 'mcp__a__x', 'mcp__a__y', 'mcp__b__z'];

  test('all tools are disclosed while they fit the budget', () => {
    expect(shown(disclose(TWO, 1_000, NOTHING))).toEqual({ told: ALL, searchable: [] });
    expect(disclose(TWO, Infinity, NOTHING).disclosed).toBe(TWO.tools);
  });

  test('above the budget all tools of servers are deferred', () => {
    expect(shown(disclose(TWO, 1, NOTHING))).toEqual({
      told: ['Read', 'ToolSearch'],
      searchable: ['mcp__a__x', 'mcp__a__y', 'mcp__b__z'],
    });
  });

  test('exactly the budget fits', () => {
    const sum = TWO.tools
      .filter(({ origin }) => origin.kind === 'mcp')
      .reduce((all, it) => all + tokenCost(it), 0);
    expect(disclose(TWO, sum, NOTHING).searchable).toEqual([]);
    expect(disclose(TWO, sum - 1, NOTHING).searchable).toHaveLength(3);
  });

  test('alwaysLoad tools are always disclosed', () => {
    const meta = { _meta: { 'anthropic/alwaysLoad': true } };
    const servers = new Map([['a', [listed('x'), listed('y', meta)]]]);
    const some = pool(['ToolSearch'], {}, { servers });
    expect(shown(disclose(some, 0, NOTHING))).toEqual({
      told: ['ToolSearch', 'mcp__a__y'],
      searchable: ['mcp__a__x'],
    });
  });

  test('disclosed tools stay, loaded tools are appended in order and stay searchable', () => {
    const names = new Set(['mcp__b__z']);
    const loaded = new Set(['mcp__gone__q', 'mcp__a__y', 'mcp__a__x']);
    expect(shown(disclose(TWO, 0, { names, loaded }))).toEqual({
      told: ['Read', 'ToolSearch', 'mcp__b__z', 'mcp__a__y', 'mcp__a__x'],
      searchable: ['mcp__a__x', 'mcp__a__y'],
    });
  });

  test('alwaysLoad tools cannot exceed the allowance', () => {
    const meta = { _meta: { 'anthropic/alwaysLoad': true }, description: 'x '.repeat(5_000) };
    const servers = new Map([['a', Array.from({ length: 100 }, (_, at) => listed(`t${at}`, meta))]]);
    const { disclosed: told } = disclose(pool([], {}, { servers }), 1_000, NOTHING);
    const tokens = told.reduce((sum, tool) => sum + tokenCost(tool), 0);
    expect(told.length).toBeGreaterThan(0);
    expect(tokens).toBeLessThanOrEqual(20_000);
  });

  test('a disclosed tool that exceeds the allowance is deferred', () => {
    const grown = new Map([['a', [listed('x', { description: 'word '.repeat(50_000) }), listed('y')]]]);
    const told = { names: new Set(['mcp__a__x', 'mcp__a__y']), loaded: new Set<string>() };
    expect(shown(disclose(pool([], {}, { servers: grown }), 1_000, told))).toEqual({
      told: ['mcp__a__y'],
      searchable: ['mcp__a__x'],
    });
  });

  test('property: no tool is lost or disclosed twice, and loading only appends', () => {
    const all = TWO.tools.map(({ name }) => name);
    fc.assert(
      fc.property(
        fc.subarray(all),
        fc.shuffledSubarray(all),
        fc.constantFrom(0, 10, 40, 1_000),
        fc.constantFrom(...all),
        (names, loaded, budget, more) => {
          const before = disclose(TWO, budget, { names: new Set(names), loaded: new Set(loaded) });
          const after = disclose(TWO, budget, { names: new Set(names), loaded: new Set([...loaded, more]) });
          const told = before.disclosed.map(({ name }) => name);
          expect(new Set(told).size).toBe(told.length);
          expect(new Set([...before.disclosed, ...before.searchable])).toEqual(new Set(TWO.tools));
          expect(after.disclosed.slice(0, told.length)).toEqual(before.disclosed);
          expect(after.searchable).toEqual(before.searchable);
        },
      ),
    );
  });
});

describe('tool budget', () => {
  test.each([
    ['on', 0],
    ['true', 0],
    [' TRUE ', 0],
    ['off', Infinity],
    ['false', Infinity],
    ['auto', 20_000],
    ['auto:15', 30_000],
    ['auto:0', 0],
    ['12000', 12_000],
  ])('%s', (text, budget) => {
    expect(toolBudget(parseToolSearch(text), 200_000)).toBe(budget);
  });

  test.each(['', 'yes', 'auto:', 'auto:101', '-1', '1.5', 'auto:x', '99999999999'])(
    '%j says nothing',
    (text) => {
      expect(parseToolSearch(text)).toBeUndefined();
    },
  );

  test('the default budget is a tenth of the context window', () => {
    expect(toolBudget(undefined, 64_000)).toBe(6_400);
  });
});
