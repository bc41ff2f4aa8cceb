import { pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  AgentClient,
  attach,
  createSdkMcpServer,
  moduleServer,
  query,
  startup,
  type ToolUse,
  tool,
  toolServer,
} from '../../../src/entry/index.ts';
import { fixture } from '../../cli/support/run-cli.ts';
import { collect } from '../../support/collect.ts';
import { FOREIGN_VERSIONS } from '../../support/foreign-servers.ts';
import { text, together, toolUse } from '../../support/model-api/model-reply.ts';
import { offeredTools, toolResults } from '../../support/model-api/model-view.ts';
import { openCliSandbox } from '../../support/real-cli.ts';
import { EVERYTHING, realAgent, results } from './real-agent.ts';

// Every test starts a real agent, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

test('a tool of this process is listed to the model, executed with the right arguments, and its result is read (R124, R125, R128)', async () => {
  await using world = await openCliSandbox([toolUse('mcp__calc__echo', { text: 'test123' }), text('Done.')]);
  const calls: unknown[] = [];
  const askedAt = world.api.request(1).then(() => performance.now());
  const calledAt = Promise.withResolvers<number>();
  const echo = tool('echo', 'Echoes', { text: z.string(), times: z.number().default(2) }, (args, ctx) => {
    calledAt.resolve(performance.now());
    calls.push({ args, assigns: ctx.assigns, server: ctx.server, toolUseId: ctx.toolUseId });
    return args.text.repeat(args.times);
  });
  const calc = attach(createSdkMcpServer({ name: 'own name', tools: [echo] }), { assigns: { user: 'Ada' } });
  const messages = await collect(
    query({
      prompt: 'Echo test123.',
      options: realAgent(world, { mcpServers: { calc }, allowedTools: ['mcp__calc'] }),
    }),
  );
  expect((await calledAt.promise) - (await askedAt)).toBeLessThan(5000);
  expect(calls).toEqual([
    {
      args: { text: 'test123', times: 2 },
      assigns: { user: 'Ada' },
      server: 'calc',
      toolUseId: 'toolu_0001_0',
    },
  ]);
  expect(offeredTools(world.api.requests[0])).toEqual([
    {
      name: 'mcp__calc__echo',
      description: 'Echoes',
      input_schema: {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { text: { type: 'string' }, times: { default: 2, type: 'number' } },
        required: ['text'],
      },
    },
  ]);
  expect(toolResults(world.api.requests[1])).toEqual([
    { id: 'toolu_0001_0', isError: false, content: [{ type: 'text', text: 'test123test123' }] },
  ]);
  expect(messages.find((it) => it.type === 'system' && it.subtype === 'init')).toMatchObject({
    mcp_servers: [{ name: 'calc', status: 'connected' }],
  });
  expect(results(messages)).toEqual(['Done.']);
});

test('tools of this process, of a module in its own process and of an external server in one query (R37, R38, R42, R59)', async () => {
  await using world = await openCliSandbox([
    together(
      toolUse('mcp__here__who', {}),
      toolUse('mcp__module__add', { a: 2, b: 40 }),
      toolUse('mcp__everything__echo', { message: 'hi' }),
    ),
    text('All called.'),
  ]);
  const here = toolServer('here').tool('who', 'Tells the process', {}, () => 'this process');
  const uses: ToolUse[] = [];
  const messages = await collect(
    query({
      prompt: 'Call all.',
      options: realAgent(world, {
        mcpServers: {
          here,
          module: moduleServer(pathToFileURL(fixture('calc.ts')), { export: 'calc' }),
          everything: EVERYTHING,
        },
        allowedTools: ['mcp__here', 'mcp__module', 'mcp__everything'],
        onToolUse: (use) => void uses.push(use),
      }),
    }),
  );
  expect(results(messages)).toEqual(['All called.']);
  expect(toolResults(world.api.requests[1])).toEqual([
    { id: 'toolu_0001_0', isError: false, content: [{ type: 'text', text: 'this process' }] },
    { id: 'toolu_0001_1', isError: false, content: [{ type: 'text', text: '42' }] },
    { id: 'toolu_0001_2', isError: false, content: [{ type: 'text', text: 'Echo: hi' }] },
  ]);
  expect(
    uses.map(({ name, isError }) => ({ name, isError })).sort((a, b) => (a.name < b.name ? -1 : 1)),
  ).toEqual([
    { name: 'mcp__everything__echo', isError: false },
    { name: 'mcp__here__who', isError: false },
    { name: 'mcp__module__add', isError: false },
  ]);
});

test('a tool that fails, in each way, is told to the model, and the query goes on (R87, R88, R90, C34)', async () => {
  const shapes = { throws: 'thrown', returns: 'returned', flags: 'flagged' };
  await using world = await openCliSandbox([
    together(
      ...Object.keys(shapes).map((name) => toolUse(`mcp__f__${name}`, {})),
      toolUse('mcp__f__typed', { n: 'x' }),
    ),
    text('All failed.'),
  ]);
  const server = toolServer('f')
    .tool('throws', 'T', {}, () => {
      throw new Error('thrown');
    })
    .tool('returns', 'R', {}, () => new Error('returned'))
    .tool('flags', 'F', {}, () => ({ content: [{ type: 'text', text: 'flagged' }], is_error: true }))
    .tool('typed', 'N', { n: z.number() }, () => 'never');
  const options = realAgent(world, { mcpServers: { f: server }, allowedTools: ['mcp__f'] });
  expect(results(await collect(query({ prompt: 'Fail.', options })))).toEqual(['All failed.']);
  expect(toolResults(world.api.requests[1])).toEqual([
    ...Object.values(shapes).map((content, n) => ({ id: `toolu_0001_${n}`, isError: true, content })),
    {
      id: 'toolu_0001_3',
      isError: true,
      content: expect.stringContaining('Invalid arguments for tool typed'),
    },
  ]);
});

test('ten tools at once in one message: every call has its own arguments and its own result (R109, R124)', async () => {
  const numbers = Array.from({ length: 10 }, (_, n) => n);
  await using world = await openCliSandbox([
    together(...numbers.map((n) => toolUse('mcp__calc__square', { n }))),
    text('Squared.'),
  ]);
  const both = Promise.withResolvers<void>();
  let running = 0;
  const square = tool(
    'square',
    'Squares',
    { n: z.number() },
    async ({ n }) => {
      running += 1;
      if (running === 2) both.resolve();
      await both.promise;
      return n * n;
    },
    { annotations: { readOnlyHint: true } },
  );
  const calc = createSdkMcpServer({ name: 'calc', tools: [square] });
  const options = realAgent(world, { mcpServers: { calc }, allowedTools: ['mcp__calc'] });
  await collect(query({ prompt: 'Square.', options }));
  // They come in the order they were done.
  const sorted = toolResults(world.api.requests[1]).sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
  expect(sorted).toEqual(
    numbers.map((n) => ({
      id: `toolu_0001_${n}`,
      isError: false,
      content: [{ type: 'text', text: String(n * n) }],
    })),
  );
});

test('a result of 300,000 characters arrives whole where the tool allows it; without that the agent keeps it from the model', async () => {
  await using world = await openCliSandbox([
    together(toolUse('mcp__big__whole', {}), toolUse('mcp__big__limited', {})),
    text('Read.'),
  ]);
  const long = `${'0123456789'.repeat(30_000)}`;
  const server = toolServer('big')
    .tool('whole', 'W', {}, () => long, { maxResultSizeChars: 400_000 })
    .tool('limited', 'L', {}, () => long);
  const options = realAgent(world, { mcpServers: { big: server }, allowedTools: ['mcp__big'] });
  expect(results(await collect(query({ prompt: 'Read.', options })))).toEqual(['Read.']);
  const [whole, limited] = toolResults(world.api.requests[1]);
  expect(whole).toEqual({ id: 'toolu_0001_0', isError: false, content: [{ type: 'text', text: long }] });
  expect(JSON.stringify(limited).length).toBeLessThan(10_000);
});

test.each(FOREIGN_VERSIONS)(
  'a server of the MCP SDK %s is served as it is, to two agents at once',
  async (_, make) => {
    const script = [toolUse('mcp__hand__add', { a: 2, b: 40 }), text('Done.')];
    await using one = await openCliSandbox(script);
    await using two = await openCliSandbox(script);
    const { server } = make();
    const mcpServers = { hand: { type: 'sdk' as const, name: 'hand', instance: server } };
    const worlds = [one, two];
    const ends = await Promise.all(
      worlds.map(async (world) => {
        const options = realAgent(world, { mcpServers, allowedTools: ['mcp__hand'] });
        return results(await collect(query({ prompt: 'Add.', options })));
      }),
    );
    expect(ends).toEqual([['Done.'], ['Done.']]);
    const [seen, again] = worlds.map((world) => toolResults(world.api.requests[1]));
    expect(seen).toMatchObject([{ isError: false, content: [{ text: '42' }] }]);
    expect(again).toEqual(seen);
  },
);

test('a client keeps the agent over turns, and its tools keep their state (R26)', async () => {
  await using world = await openCliSandbox([
    toolUse('mcp__n__next', {}),
    text('One.'),
    toolUse('mcp__n__next', {}),
    text('Two.'),
  ]);
  let count = 0;
  const n = toolServer('n').tool('next', 'Counts', {}, () => ++count);
  await using client = await AgentClient.open(
    realAgent(world, { mcpServers: { n }, allowedTools: ['mcp__n'] }),
  );
  expect(await client.ask('Count.')).toMatchObject({ subtype: 'success', result: 'One.' });
  expect(await client.ask('Again.')).toMatchObject({ subtype: 'success', result: 'Two.' });
  expect(toolResults(world.api.requests[3])).toMatchObject([{ content: [{ text: '2' }] }]);
});

test('a warm agent takes its prompt at once', async () => {
  await using world = await openCliSandbox([toolUse('mcp__n__next', {}), text('Done.')]);
  const n = toolServer('n').tool('next', 'Counts', {}, () => 1);
  await using warm = await startup({
    options: realAgent(world, { mcpServers: { n }, allowedTools: ['mcp__n'] }),
  });
  expect(results(await collect(warm.query('Count.')))).toEqual(['Done.']);
});
