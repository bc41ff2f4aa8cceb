import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assemble } from '../../src/pool/assemble.ts';
import { listed, names, pool } from './pool-of.ts';

describe('order', () => {
  test('R161 built-ins come first, each part sorted by name, and the cache breaks after the last built-in', () => {
    const it = pool(['Write', 'Bash', 'connect_mcp'], { zoo: ['b', 'a'], ant: ['c'] });
    expect(names(it)).toEqual(['Bash', 'connect_mcp', 'Write', 'mcp__ant__c', 'mcp__zoo__a', 'mcp__zoo__b']);
    expect(it.cacheAfter).toBe(2);
    expect(it.diagnostics).toEqual([]);
  });

  test('without built-ins there is nothing to cache before the tools of servers', () => {
    expect(pool([], { s: ['a'] }).cacheAfter).toBe(-1);
  });

  test('names are sorted as English collation sorts them', () => {
    const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 12 }), (tools) => {
        expect(names(pool(tools, {}))).toEqual(tools.toSorted((a, b) => a.localeCompare(b, 'en')));
      }),
    );
  });

  test('R160 the tools of all servers are sorted together, aliases too', () => {
    // Few characters, so that one key is often the beginning of another, and names are often taken.
    const name = fc.stringMatching(/^[aA_.-]{1,4}$/);
    const own = fc.uniqueArray(fc.oneof(name, fc.constant('a'.repeat(20)), fc.constant('A'.repeat(20))));
    const lists = fc.dictionary(name, fc.uniqueArray(name, { maxLength: 4 }), { maxKeys: 5 });
    const sorted = (all: string[]) => all.toSorted((a, b) => a.localeCompare(b, 'en'));
    fc.assert(
      fc.property(own, lists, (tools, servers) => {
        const all = names(pool(tools, servers, { maxNameLength: 16 }));
        expect(all).toEqual([...sorted(all.slice(0, tools.length)), ...sorted(all.slice(tools.length))]);
      }),
    );
  });
});

describe('names', () => {
  test('C15 a built-in keeps its name, and the tool of a server gets a stable alias', () => {
    const it = pool(['mcp__s__a'], { s: ['a'] });
    expect(names(it)[0]).toBe('mcp__s__a');
    expect(it.byName.get('mcp__s__a')?.origin).toEqual({ kind: 'builtin', tool: 'mcp__s__a' });
    const alias = names(it)[1] as string;
    expect(alias).toMatch(/^mcp__s__a_[0-9a-f]{8}$/);
    const origin = { kind: 'mcp', server: 's', tool: 'a' };
    expect(it.byName.get(alias)?.origin).toEqual(origin);
    expect(it.diagnostics).toEqual([{ fault: 'name-taken', origin, wanted: 'mcp__s__a', name: alias }]);
  });

  test('C15 of servers whose keys become the same, the earlier by key keeps the names', () => {
    const it = pool([], { my_server: ['x'], 'my.server': ['x'] });
    expect(it.byName.get('mcp__my_server__x')?.origin).toMatchObject({ server: 'my.server' });
    expect(it.diagnostics).toMatchObject([{ fault: 'name-taken', origin: { server: 'my_server' } }]);
    expect(it.tools).toHaveLength(2);
  });

  test('R143 R144 C15 the way back is a map, also where a split would go wrong', () => {
    const it = pool([], { a__b: ['c'], a: ['b__c'] });
    expect(it.byName.get('mcp__a__b__c')?.origin).toEqual({ kind: 'mcp', server: 'a', tool: 'b__c' });
    expect(it.diagnostics).toMatchObject([{ origin: { server: 'a__b', tool: 'c' } }]);
  });

  test.each([64, 128])('C16 a name over %i characters gets an alias of that length', (maxNameLength) => {
    const fits = 'x'.repeat(maxNameLength - 'mcp__s__'.length);
    const it = pool([], { s: [fits, `${fits}y`, `${fits}z`] }, { maxNameLength });
    expect(it.byName.get(`mcp__s__${fits}`)?.origin).toMatchObject({ tool: fits });
    expect(it.diagnostics.map(({ fault }) => fault)).toEqual(['name-too-long', 'name-too-long']);
    expect(names(it).every((name) => name.length === maxNameLength)).toBe(true);
    expect(it.byName.size).toBe(3);
  });

  test('an alias never takes the name of another tool', () => {
    const name = pool(['mcp__s__a'], { s: ['a'] }).diagnostics[0]?.name ?? '';
    const alias = name.slice('mcp__s__'.length);
    const it = pool(['mcp__s__a'], { s: ['a', alias] });
    expect(it.byName.get(`mcp__s__${alias}`)?.origin).toMatchObject({ tool: alias });
    expect(it.tools).toHaveLength(3);
  });

  test('a tool listed twice by one server is one tool', () => {
    const it = pool([], { s: ['a', 'a'] });
    expect(names(it)).toEqual(['mcp__s__a']);
    expect(it.diagnostics).toMatchObject([{ fault: 'listed-twice', name: 'mcp__s__a' }]);
  });

  test('R162 a denied tool does not reserve a name', () => {
    const it = pool(
      ['Bash'],
      { 'a.b': ['x'], a_b: ['x'] },
      {
        isDenied: (name, origin) => name === 'Bash' || (origin.kind === 'mcp' && origin.server === 'a.b'),
      },
    );
    expect(names(it)).toEqual(['mcp__a_b__x']);
    expect(it.tools[0]?.origin).toMatchObject({ server: 'a_b' });
    expect(it.diagnostics).toEqual([]);
  });
});

test('R145 with marks, descriptions include the server’s annotations', () => {
  const tools = [
    listed('get', { annotations: { readOnlyHint: true } }),
    listed('drop', { description: '', annotations: { destructiveHint: true } }),
    listed('plain'),
  ];
  const input = { builtIns: [], servers: new Map([['s', tools]]), maxNameLength: 128 };
  const said = (marks: boolean) => assemble({ ...input, marks }).tools.map(({ description }) => description);
  expect(said(true)).toEqual(['(destructive)', 'about get (readOnly)', 'about plain']);
  expect(said(false)).toEqual(['', 'about get', 'about plain']);
});
