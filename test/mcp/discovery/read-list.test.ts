import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  parsePrompt,
  parseResource,
  parseResourceTemplate,
  parseTool,
} from '../../../src/mcp/discovery/list-entries.ts';
import { type ListLimits, readList } from '../../../src/mcp/discovery/read-list.ts';

import { HostError, ServerFault } from '../../../src/mcp/errors/host-error.ts';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

/** Reads the pages that a server returns; the last page is repeated. */
async function readTools(answers: readonly unknown[], limits: Partial<ListLimits> = {}) {
  let page = 0;
  const ask = async () => {
    const answer = answers[Math.min(page++, answers.length - 1)];
    if (answer instanceof Error) throw answer;
    return typeof answer === 'function' ? (answer as (page: number) => unknown)(page) : answer;
  };
  const found = await readList({ server: 's', list: 'tools', requestPage: ask, read: parseTool }, limits);
  return { ...found, names: found.items.map(({ name }) => name), pages: page };
}

describe('an endless list is cut off with a diagnostic', () => {
  const more = (page: number) => ({ tools: [tool(`t${page}`)], nextCursor: `c${page}` });

  test.each<[string, unknown, Partial<ListLimits>, number, string]>([
    ['pages', more, { pages: 7 }, 7, 'has more than 7 pages; the rest was not read'],
    ['pages without a limit of its own', more, {}, 100, 'has more than 100 pages; the rest was not read'],
    [
      'cursors',
      { tools: [tool('a')], nextCursor: 'x' },
      {},
      2,
      'repeats the cursor "x"; the rest was not read',
    ],
    [
      'empty pages',
      (page: number) => ({ tools: [], nextCursor: `c${page}` }),
      {},
      10,
      'has 10 empty pages in a row; the rest was not read',
    ],
    [
      'pages without a list',
      (page: number) => ({ nextCursor: `c${page}` }),
      { emptyPages: 3 },
      3,
      'has 3 empty pages in a row; the rest was not read',
    ],
    ['time', more, { totalMs: 0 }, 1, 'took longer than 0 ms; the rest was not read'],
  ])('%s', async (_, answer, limits, pages, fault) => {
    const found = await readTools([answer], limits);
    expect(found.pages).toBe(pages);
    expect(found.diagnostics.at(-1)).toEqual({
      server: 's',
      list: 'tools',
      outcome: 'list',
      fault: `its list of tools ${fault}`,
    });
  });

  test('entries', async () => {
    const tools = Array.from({ length: 20_003 }, (_, at) => tool(`t${at}`));
    const found = await readTools([{ tools, nextCursor: 'x' }]);
    expect([found.items.length, found.pages]).toEqual([20_000, 1]);
    expect(found.diagnostics).toMatchObject([{ fault: expect.stringContaining('more than 20000 entries') }]);
  });
});

describe('the size of a list is limited, however its pages are split', () => {
  const heavy = (values: number) => ({ ...tool('t'), enum: Array.from({ length: values }, () => 0) });
  const told = (fault: string) => [
    { server: 's', list: 'tools', outcome: 'list', fault: `its list of tools ${fault}` },
  ];

  test.each<[string, (page: number) => object, Partial<ListLimits>, number, string]>([
    [
      'values',
      (page) => ({ ...heavy(96), name: `t${page}` }),
      { values: 350 },
      3,
      'contains more than 350 JSON values; the rest is not offered',
    ],
    [
      'text of members',
      (page) => ({ ...tool(`t${page}`), description: 'x'.repeat(90) }),
      { text: 450 },
      3,
      'contains more than 450 characters; the rest is not offered',
    ],
    [
      'names of members',
      (page) => ({ ...tool(`t${page}`), ['x'.repeat(90)]: 0 }),
      { text: 450 },
      3,
      'contains more than 450 characters; the rest is not offered',
    ],
  ])('%s', async (_, entryAt, limits, kept, fault) => {
    const answer = (page: number) => ({ tools: [entryAt(page)], nextCursor: `${page}` });
    const found = await readTools([answer], limits);
    expect([found.names.length, found.pages]).toEqual([kept, kept + 1]);
    expect(found.diagnostics).toEqual(told(fault));
    const tools = Array.from({ length: 10 }, (_, at) => entryAt(at));
    const inOne = await readTools([{ tools, nextCursor: 'x' }], limits);
    expect([inOne.names.length, inOne.pages]).toEqual([kept, 1]);
    expect(inOne.diagnostics).toEqual(told(fault));
  });

  test('cursors', async () => {
    const answer = (page: number) => ({
      tools: [tool(`t${page}`)],
      nextCursor: `${page}`.padEnd(1_000, 'x'),
    });
    const found = await readTools([answer], { text: 3_500 });
    expect([found.names.length, found.pages]).toEqual([4, 4]);
    expect(found.diagnostics).toEqual(told('contains more than 3500 characters; the rest was not read'));
  });

  test('without limits of its own', async () => {
    const { enum: values } = heavy(90_000);
    const answer = (page: number) => ({ tools: [{ ...tool(`t${page}`), values }], nextCursor: `${page}` });
    const found = await readTools([answer]);
    expect(found.names).toHaveLength(22);
    expect(found.diagnostics).toEqual(
      told('contains more than 2000000 JSON values; the rest is not offered'),
    );
  });

  test('a single oversized entry is left out without affecting the others', async () => {
    const found = await readTools([{ tools: [heavy(100_000), tool('a')] }]);
    expect(found.names).toEqual(['a']);
    expect(found.diagnostics).toMatchObject([
      { entry: 't', fault: 'contains more than 100000 values', outcome: 'set-aside' },
    ]);
  });
});

test('an entry with many invalid members is kept, and some of them are reported', async () => {
  const args = Array.from({ length: 90_000 }, () => 0);
  const prompts = [{ name: 'good' }, { name: 'bad', arguments: args }, { name: 'last' }];
  const ask = async () => ({ prompts });
  const found = await readList({ server: 's', list: 'prompts', requestPage: ask, read: parsePrompt });
  expect(found.items.map(({ name }) => name)).toEqual(['good', 'bad', 'last']);
  expect(found.diagnostics).toHaveLength(11);
  expect(found.diagnostics.every(({ entry, outcome }) => entry === 'bad' && outcome === 'kept')).toBe(true);
  expect(found.diagnostics[9]?.fault).toBe('"arguments[9]" has no name and was removed');
  expect(found.diagnostics[10]?.fault).toBe('89,990 more invalid members');
});

test('any number of invalid members in one entry is handled', async () => {
  const repairs = Array.from({ length: 500_000 }, (_, at) => `fault ${at}`);
  const read = () => ({ item: {}, name: 'a', repairs });
  const ask = async () => ({ tools: [{}] });
  const found = await readList<object>({ server: 's', list: 'tools', requestPage: ask, read });
  expect([found.items.length, found.diagnostics.length]).toEqual([1, 11]);
});

test('empty pages between full ones do not end the list', async () => {
  const answers = ['a', '', 'b', '', 'c'].map((name, at) => ({
    tools: name === '' ? [] : [tool(name)],
    ...(at < 4 && { nextCursor: `${at}` }),
  }));
  expect(await readTools(answers, { emptyPages: 2 })).toMatchObject({
    names: ['a', 'b', 'c'],
    diagnostics: [],
  });
});

test('a page that the server refuses ends the list; a lost connection rejects it', async () => {
  const first = { tools: [tool('a')], nextCursor: '2' };
  const refusal = new ServerFault('s', -32602, 'Invalid cursor');
  const found = await readTools([first, refusal]);
  expect(found).toMatchObject({ names: ['a'], failure: refusal });
  expect(found.diagnostics).toMatchObject([
    { outcome: 'list', fault: 'page 2 of its tools could not be listed: Invalid cursor' },
  ]);
  await expect(readTools([refusal])).rejects.toBe(refusal);
  const lost = new HostError('closed', 's', 'gone');
  await expect(readTools([first, lost])).rejects.toBe(lost);
});

test.each<[string, unknown[], number | undefined]>([
  ['the shortest of all pages', [{ ttlMs: 50 }, { ttlMs: 20 }, { ttlMs: 90 }], 20],
  ['nothing at all', [{ ttlMs: 0 }], 0],
  ['no ttl', [{}], undefined],
  ['no time at all', [{ ttlMs: '5' }, { ttlMs: -1 }, { ttlMs: null }], undefined],
])('the TTL of a list is %s', async (_, pages, ttlMs) => {
  const answers = pages.map((page, at) => ({
    tools: [],
    ...(page as object),
    ...(at < pages.length - 1 && { nextCursor: `${at}` }),
  }));
  expect((await readTools(answers)).ttlMs).toBe(ttlMs);
});

const READERS = [
  ['tools', parseTool],
  ['prompts', parsePrompt],
  ['resources', parseResource],
  ['resourceTemplates', parseResourceTemplate],
] as const;

/** Entries as servers might send them: arbitrary values, or nearly valid ones. */
const entry = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      name: fc.oneof(fc.constantFrom('a', '__proto__', 'constructor', ''), fc.jsonValue()),
      uri: fc.oneof(fc.constantFrom('x:1', '__proto__'), fc.jsonValue()),
      uriTemplate: fc.oneof(fc.constantFrom('x:{a}'), fc.jsonValue()),
      inputSchema: fc.oneof(
        fc.record({ type: fc.oneof(fc.constant('object'), fc.jsonValue()), properties: fc.jsonValue() }),
        fc.jsonValue(),
      ),
      annotations: fc.oneof(fc.record({ readOnlyHint: fc.jsonValue() }), fc.jsonValue()),
      arguments: fc.oneof(fc.array(fc.record({ name: fc.jsonValue() })), fc.jsonValue()),
      title: fc.jsonValue(),
      icons: fc.jsonValue(),
      _meta: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
);

describe.each(READERS)('whatever a server lists as its %s', (list, read) => {
  test('every entry is an item or has one diagnostic, and nothing throws', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(entry, { maxLength: 6 }), { minLength: 1, maxLength: 4 }),
        async (pages) => {
          let at = 0;
          const ask = async () => {
            const page: unknown = JSON.parse(JSON.stringify(pages[at++] ?? []));
            return { [list]: page, ...(at < pages.length && { nextCursor: `${at}` }) };
          };
          const found = await readList<object>({ server: 's', list, requestPage: ask, read });
          const aside = found.diagnostics.filter(({ outcome }) => outcome === 'set-aside');
          expect(found.items.length + aside.length).toBe(pages.flat().length);
          expect(found.diagnostics.every(({ server, entry: name }) => server === 's' && name !== '')).toBe(
            true,
          );
          // Kept entries are valid: parsing them again repairs nothing.
          for (const item of found.items) expect(read(item)).toMatchObject({ repairs: [] });
          for (const item of found.items) expect(Object.getPrototypeOf(item)).toBe(Object.prototype);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('any response is handled', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (answer) => {
        const ask = async () => answer;
        const found = await readList<object>({ server: 's', list, requestPage: ask, read });
        const entries = (answer as Record<string, unknown> | null)?.[list];
        if (!Array.isArray(entries)) expect(found).toMatchObject({ items: [], diagnostics: [{ list }] });
      }),
      { numRuns: 200 },
    );
  });
});
