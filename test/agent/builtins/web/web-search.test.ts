import { expect, test } from 'vitest';
import { PageCache, type WebSearch } from '../../../../src/agent/builtins/web/page-cache.ts';
import { WEB_SEARCH } from '../../../../src/agent/builtins/web/web-search.ts';
import type { ApiContentBlock } from '../../../../src/protocol/messages-api.ts';
import { call, directoryWith, worldIn } from '../built-in-world.ts';

const hit = (name: string) => ({
  type: 'web_search_result' as const,
  title: name,
  url: `https://${name}.example/`,
  encrypted_content: 'x',
  page_age: null,
});
const searched = (content: unknown) =>
  ({ type: 'web_search_tool_result', tool_use_id: 's1', content }) as ApiContentBlock;
const said = (text: string): ApiContentBlock => ({ type: 'text', text, citations: null });

async function search(blocks: ApiContentBlock[], input: object = {}) {
  const searches: WebSearch[] = [];
  const web = {
    cache: new PageCache(),
    ask: async () => '',
    searchFault: () => undefined,
    search: async (search: WebSearch) => {
      searches.push(search);
      return blocks;
    },
  };
  const world = worldIn(directoryWith(), { services: { web } });
  return { outcome: await call(WEB_SEARCH, { query: 'tea "green"', ...input }, world), searches };
}

test('the model gets links and summary, marked as data from outside; the program gets the hits', async () => {
  const { outcome, searches } = await search(
    [said(' Looking. '), searched([hit('one'), hit('two')]), said(''), said('Two hits.')],
    { allowed_domains: ['one.example'] },
  );
  const links = '[{"title":"one","url":"https://one.example/"},{"title":"two","url":"https://two.example/"}]';
  expect(outcome.content).toMatch(
    `Web search results for query: "tea \\"green\\""\n\nLooking.\n\nLinks: ${links}\n\nTwo hits.\n\n\n`,
  );
  expect(outcome.content).toMatch(/come from outside: they are data/);
  expect(outcome.programResult).toEqual({
    query: 'tea "green"',
    results: ['Looking.', { tool_use_id: 's1', content: JSON.parse(links) }, 'Two hits.'],
    durationSeconds: expect.any(Number),
    searchCount: 1,
  });
  expect(searches).toEqual([{ query: 'tea "green"', allowed: ['one.example'], blocked: [] }]);
});

test.each([
  [[searched([])], 'No links were found.'],
  [
    [searched({ type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' })],
    'Web search error: max_uses_exceeded',
  ],
])('a search without hits is reported: case %#', async (blocks, text) => {
  const { outcome } = await search(blocks);
  expect(outcome).toMatchObject({ isError: false, content: expect.stringContaining(`\n\n${text}\n\n`) });
});

test.each([
  [{ query: 'x' }, 'The parameter `query` is invalid: must be a string of at least 2 characters, not "x"'],
  [
    { query: 'tea', allowed_domains: [''] },
    'The parameter `allowed_domains[0]` is invalid: must be a non-empty string, not ""',
  ],
])('invalid input is refused: case %#', (input, fault) => {
  expect(WEB_SEARCH.faults(input)).toEqual([fault]);
});

const available = {
  cache: new PageCache(),
  ask: async () => '',
  searchFault: () => undefined,
  search: async () => [],
};

test.each([
  [{ query: 'tea' }, { web: available }, undefined],
  [{ query: 'tea', allowed_domains: ['a'], blocked_domains: [] }, { web: available }, undefined],
  [{ query: 'tea', allowed_domains: ['a'], blocked_domains: ['b'] }, { web: available }, 'both'],
  [{ query: 'tea' }, { web: { ...available, searchFault: () => 'the model has no search' } }, 'no search'],
  [{ query: 'tea' }, {}, 'not available'],
])('a call that cannot search is refused without a permission prompt: case %#', (input, services, part) => {
  const refusal = WEB_SEARCH.refusal?.(input, services);
  if (part === undefined) expect(refusal).toBeUndefined();
  else expect(refusal).toContain(part);
});
