import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PooledTool } from '../../../src/pool/pool.ts';
import { type SearchQuery, ToolIndex } from '../../../src/pool/search/tool-index.ts';
import { pooled } from './pooled.ts';

const TOOLS = [
  pooled('github', 'create_issue', { description: 'Creates an issue in a repository.' }),
  pooled('github', 'list_issues', {
    description: 'Lists the issues of a repository.',
    annotations: { readOnlyHint: true },
  }),
  pooled('gmail', 'send_email', { description: 'Sends an email.', annotations: { destructiveHint: false } }),
  pooled('slack', 'post_message', { description: 'Posts a message to a channel.' }),
  pooled('files', 'delete_file', { description: 'Deletes a file.', annotations: { destructiveHint: true } }),
];

function indexOf(tools: readonly PooledTool[]): ToolIndex {
  const index = new ToolIndex();
  index.sync(tools);
  return index;
}

async function names(index: ToolIndex, query: SearchQuery): Promise<string[]> {
  return (await index.search(query)).map(({ tool }) => tool.origin.tool);
}

test.each([
  ['the word itself', 'delete a file', 'delete_file'],
  ['another word for it', 'get rid of this document', 'delete_file'],
  ['another language', 'Schicke eine Nachricht in den Kanal', 'post_message'],
  ['a server', 'something on Slack', 'post_message'],
  ['an inflected form', 'emails sent', 'send_email'],
])('a tool is found by %s', async (_, text, tool) => {
  expect((await names(indexOf(TOOLS), { text }))[0]).toBe(tool);
});

test.each([
  'list_issues',
  'List-Issues',
  'listIssues',
  'mcp__github__list_issues',
  'MCP__GitHub__List_Issues',
])('the tool whose very name is asked for comes first: %s', async (text) => {
  expect((await names(indexOf(TOOLS), { text }))[0]).toBe('list_issues');
});

test.each<[string, Omit<SearchQuery, 'text'>, string[]]>([
  ['a server', { server: 'GitHub' }, ['create_issue', 'list_issues']],
  ['tools that only read', { readOnly: true }, ['list_issues']],
  ['tools that say they destroy nothing', { destructive: false }, ['list_issues', 'send_email']],
  ['tools that may destroy', { destructive: true }, ['create_issue', 'delete_file', 'post_message']],
  ['required words', { required: ['Repository', 'lists'] }, ['list_issues']],
  ['an unknown server', { server: 'unknown' }, []],
])('a search can be kept to %s', async (_, filter, found) => {
  const text = 'issue email message file delete list send post create';
  expect((await names(indexOf(TOOLS), { text, limit: 10, ...filter })).sort()).toEqual(found);
});

test('who asks wants to read, and who tells wants it done', async () => {
  const index = indexOf([
    pooled('a', 'create_gadget', { description: 'A gadget.' }),
    pooled('a', 'get_gadget', { description: 'A gadget.' }),
    pooled('a', 'delete_gadget', { description: 'A gadget.' }),
  ]);
  expect((await names(index, { text: 'which gadget is it?' }))[0]).toBe('get_gadget');
  expect((await names(index, { text: 'make a gadget' }))[0]).toBe('create_gadget');
  expect((await names(index, { text: 'could you throw away the gadget?' }))[0]).toBe('delete_gadget');
});

test('all words of a server name it, however common each is', async () => {
  const servers = ['run-tests', 'cloud-files', 'run-jobs', 'cloud-run', 'cloud-mail', 'run-logs'];
  const index = indexOf(
    servers.map((server) => pooled(server, 'status', { description: 'Cloud run status.' })),
  );
  const [first, second] = await index.search({ text: 'status on Cloud Run' });
  expect(first?.tool.name).toBe('mcp__cloud-run__status');
  expect(first?.score).toBeGreaterThan(1.1 * (second?.score ?? 0));
});

test('a tool that has several words for a thing comes before one that has one of them', async () => {
  const index = indexOf([
    pooled('a', 'x', { description: 'Email.' }),
    pooled('b', 'y', { description: 'Email message.' }),
    pooled('c', 'z', { description: 'Email table.' }),
  ]);
  expect((await names(index, { text: 'mail' }))[0]).toBe('y');
});

test('five at most unless said otherwise, best first, equals by name', async () => {
  const index = indexOf(
    Array.from({ length: 8 }, (_, at) => pooled(`s${7 - at}`, 'ping', { description: 'Pings.' })),
  );
  const hits = await index.search({ text: 'pings a host' });
  expect(hits.map(({ tool }) => tool.name)).toEqual([0, 1, 2, 3, 4].map((at) => `mcp__s${at}__ping`));
  expect(await names(index, { text: 'pings', limit: 0 })).toEqual([]);
});

test('nothing is found where nothing is meant, and no text breaks a search', async () => {
  const index = indexOf(TOOLS);
  expect(await names(index, { text: '' })).toEqual([]);
  expect(await names(new ToolIndex(), { text: 'file' })).toEqual([]);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 3000 }), async (text) => {
      for (const { score } of await index.search({ text })) expect(score).toBeGreaterThan(0);
    }),
    { numRuns: 40 },
  );
});

test('a tool of any shape can be indexed', async () => {
  const schema = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.anything(),
      fc.record(
        {
          type: fc.anything(),
          properties: fc.oneof(fc.dictionary(fc.string(), tie('any')), fc.anything()),
          items: tie('any'),
          enum: fc.anything(),
          description: fc.anything(),
          anyOf: fc.oneof(fc.array(tie('any')), fc.anything()),
        },
        { requiredKeys: [] },
      ),
    ),
  })).any;
  const odd = fc.record({
    server: fc.string({ unit: 'binary' }),
    tool: fc.string({ unit: 'binary' }),
    about: fc.record(
      {
        title: fc.anything(),
        description: fc.anything(),
        inputSchema: schema,
        annotations: fc.anything(),
        _meta: fc.anything(),
      },
      { requiredKeys: [] },
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(odd, { maxLength: 5 }), async (list) => {
      const tools = list.map(({ server, tool, about }) => pooled(server, tool, about as never));
      const hits = await indexOf([...tools, ...TOOLS]).search({ text: 'delete a file', readOnly: false });
      expect(hits.length).toBeGreaterThan(0);
    }),
    { numRuns: 40 },
  );
});

test('an index that followed changes finds what a fresh one finds, with the same scores', async () => {
  const words = ['file', 'mail', 'issue', 'branch', 'chart', 'user', 'list', 'send', 'delete', 'merge'];
  const tool = fc
    .record({
      server: fc.constantFrom('a', 'b', 'c'),
      name: fc.constantFrom(...words),
      text: fc.subarray(words),
    })
    .map(({ server, name, text }) => pooled(server, name, { description: text.join(' ') }));
  const pool = fc.uniqueArray(tool, { selector: (it) => it.name, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(pool, { minLength: 1, maxLength: 4 }),
      fc.subarray(words),
      async (pools, asked) => {
        const followed = new ToolIndex();
        const text = asked.join(' ');
        for (const [at, tools] of pools.entries()) {
          followed.sync(tools);
          // Some changes arrive before the previous one is indexed.
          if (at % 2 === 0) await followed.search({ text });
        }
        const found = await followed.search({ text, limit: 20 });
        expect(found).toEqual(await indexOf(pools.at(-1) ?? []).search({ text, limit: 20 }));
      },
    ),
    { numRuns: 40 },
  );
});

test('indexing is no part of the call that asks for it, and lets others work', async () => {
  const many = Array.from({ length: 3000 }, (_, at) =>
    pooled(`server${at % 50}`, `tool_${at}`, {
      description: `Does thing ${at} with files, mails and issues of users.`,
    }),
  );
  const index = new ToolIndex();
  index.sync(many);
  let turns = 0;
  let isDone = false;
  const search = index.search({ text: 'tool 2999' }).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  expect((await search)[0]?.tool.origin.tool).toBe('tool_2999');
  expect(turns).toBeGreaterThan(3);
});
