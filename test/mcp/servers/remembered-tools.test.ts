import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import { fileToolCache } from '../../../src/mcp/discovery/tool-cache.ts';
import { reuseUnchanged } from '../../../src/mcp/servers/offered-tools.ts';
import { Servers } from '../../../src/mcp/servers/servers.ts';
import { everything, testWorld } from '../support/servers.ts';

describe('tools from the cache', () => {
  test('the tools of a real server are offered before it is connected, the second time', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'known-'));
    try {
      const entry = { ...everything, env: { TOKEN: 'hunter2' } } as ServerEntry;
      const world = () => testWorld({ toolCache: fileToolCache(directory) });
      const first = new Servers(world());
      first.add({ all: entry }, 'dynamic');
      await first.listed();
      expect(first.tools.get('all')).toBeUndefined();
      await first.settled();
      const listed = first.tools.get('all') ?? [];
      expect(listed.length).toBeGreaterThan(5);
      await first[Symbol.asyncDispose]();
      const [name = ''] = await readdir(directory);
      expect(await readFile(join(directory, name), 'utf8')).not.toContain('hunter2');

      await using second = new Servers(world());
      second.add({ all: entry }, 'dynamic');
      await second.listed();
      expect(second.all.get('all')).toMatchObject({ isVerified: false, state: { kind: 'pending' } });
      expect(second.tools.get('all')).toEqual(listed.map(({ annotations: _, ...tool }) => tool));
      const connection = await second.target('all')?.connect();
      expect(await connection?.callTool('echo', { message: 'hi' })).toMatchObject({
        content: [{ text: expect.stringContaining('hi') }],
      });
      expect(second.isVerified('all')).toBe(true);
      expect(second.tools.get('all')).toEqual(listed);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe('keep same', () => {
  const tool = (name: string, description = 'x') => ({ name, description, inputSchema: { type: 'object' } });

  test('a list of equal objects is the same list', () => {
    const before = [tool('a'), tool('b')];
    expect(reuseUnchanged(before, [tool('a'), tool('b')])).toBe(before);
    const turned = { inputSchema: { type: 'object' }, description: 'x', name: 'a' };
    expect(reuseUnchanged(before, [turned, tool('b')])).toBe(before);
  });

  test.each([
    ['changed', [tool('a', 'y'), tool('b')], [false, true]],
    ['new', [tool('a'), tool('b'), tool('c')], [true, true, false]],
    ['gone', [tool('b')], [true]],
    ['in another order', [tool('b'), tool('a')], [true, true]],
  ])('a list with an object %s reuses the other objects', (_, after, same) => {
    const before = [tool('a'), tool('b')];
    const kept = reuseUnchanged(before, after);
    expect(kept).not.toBe(before);
    expect(kept).toEqual(after);
    expect(kept.map((it) => before.includes(it))).toEqual(same);
  });

  test('names of prototype members are ordinary names', () => {
    const before = [tool('__proto__'), tool('constructor')];
    expect(reuseUnchanged(before, [tool('__proto__'), tool('constructor')])).toBe(before);
  });

  test('equal is what JSON calls equal, whatever the values are', () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom(null, {}, [], { a: 1 }, { a: 2 }, [1], 0),
    );
    fc.assert(
      fc.property(value, value, (a, b) => {
        const before = [{ name: 'x', value: a }];
        const isSame = reuseUnchanged(before, [{ name: 'x', value: b }]) === before;
        expect(isSame).toBe(isDeepStrictEqual(a, b));
        expect(reuseUnchanged(before, structuredClone(before))).toBe(before);
      }),
      { numRuns: 500 },
    );
  });
});
