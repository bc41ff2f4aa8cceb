import { expect, test } from 'vitest';
import type { FoundTools } from '../../../src/agent/builtins/built-in.ts';
import { TOOL_SEARCH } from '../../../src/agent/builtins/tool-search.ts';
import { call, directoryWith, failed, worldIn } from './built-in-world.ts';

const NONE: FoundTools = { tools: [], unknown: [], searchable: 40, servers: ['a', 'b'], waiting: [] };

function search(found: FoundTools, input: Record<string, unknown> = { query: 'send mail' }) {
  const asked: unknown[] = [];
  const world = worldIn(directoryWith(), {
    findTools: async (query, limit) => {
      asked.push(query, limit);
      return found;
    },
  });
  return { outcome: call(TOOL_SEARCH, input, world), asked };
}

test('found tools are listed with a short description, best match first', async () => {
  const description = `Sends\n  a mail ${'x'.repeat(1_000)}`;
  const tools = [
    { name: 'mcp__a__send', description, isDisclosed: false },
    { name: 'mcp__b__mail', description: 'Mails', isDisclosed: true },
  ];
  const { outcome, asked } = search({ ...NONE, tools });
  const { content, isError, programResult: told } = await outcome;
  expect({ asked, isError, told }).toEqual({
    asked: ['send mail', 5],
    isError: false,
    told: { matches: ['mcp__a__send', 'mcp__b__mail'], query: 'send mail', total_deferred_tools: 40 },
  });
  expect(content).toMatch(
    /^These tools can be called .*:\n- mcp__a__send: Sends a mail x{140,}…\n- mcp__b__mail \(already loaded\): Mails$/,
  );
});

test('an empty result names the servers, and similar names of tools', async () => {
  const unknown = [{ name: 'sned', suggestion: 'send' }, { name: 'q' }];
  expect(await search({ ...NONE, unknown }).outcome).toMatchObject(
    failed(
      'No tool was found. Try other words. Available servers: a, b.\nThere is no tool sned; did you mean send?\nThere is no tool q.',
    ),
  );
});

test('an unknown server, and servers that could be connected, are reported', async () => {
  const found = { ...NONE, waiting: ['c'], unknownServer: { name: 'aa', suggestion: 'a' } };
  expect(await search(found).outcome).toMatchObject(
    failed(
      'No tool was found. There is no server aa; did you mean a? Available servers: a, b. Not connected yet (use connect_mcp): c.',
    ),
  );
});

test.each([
  [{ query: 'x', max_results: 3 }, 3],
  [{ query: 'x', max_results: 20 }, 20],
])('%j', async (input, limit) => {
  const { outcome, asked } = search(NONE, input);
  await outcome;
  expect(asked).toEqual(['x', limit]);
});

test.each([{ query: '' }, { query: 'x', max_results: 0 }, { query: 'x', max_results: 21 }, {}])(
  '%j is refused',
  async (input) => {
    const { outcome, asked } = search(NONE, input);
    expect(await outcome).toEqual(failed(expect.stringMatching(/InputValidationError: ToolSearch failed/)));
    expect(asked).toEqual([]);
  },
);
