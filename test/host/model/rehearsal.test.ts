import { expect, test } from 'vitest';
import { collectMessage } from '../../../src/host/model/collect.ts';
import type { ModelMessage } from '../../../src/host/model/model.ts';
import { rehearsalModel, rehearse } from '../../../src/host/model/rehearsal.ts';
import { text, toolUse } from '../../../src/host/model/scripted.ts';
import { collect } from '../../world/collect.ts';
import { modelRequest, modelTool } from './requests.ts';

const TOOLS = [
  modelTool('connect_mcp', { name: {} }),
  modelTool('ToolSearch', { query: {} }),
  modelTool('mcp__docs__search', { words: {} }),
];
const user = (said: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text: said }] });
const used = (id: string, content: string, is_error = false): ModelMessage[] => [
  { role: 'assistant', content: [{ type: 'tool_use', id, name: 'x', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, is_error }] },
];

test.each([
  ['Connect to docs.', toolUse('connect_mcp', { name: 'docs' })],
  ['please connect to the "deploy" server', toolUse('connect_mcp', { name: 'deploy' })],
  ['search for open issues', toolUse('mcp__docs__search', { words: 'open issues' })],
  ['call search with {"words":"a b"}', toolUse('mcp__docs__search', { words: 'a b' })],
  ['call mcp__docs__search', toolUse('mcp__docs__search', {})],
  ['call nothing with {}', text('There is no tool nothing. ', 'Say "list tools" to see them.')],
  ['call search with {oops}', text('The input for search is no JSON object: {oops}')],
])('"%s" is followed', (prompt, reply) => {
  expect(rehearse({ messages: [user(prompt)], tools: TOOLS })).toEqual(reply);
});

test('the tools it was given are listed by name', async () => {
  const request = modelRequest({ messages: [user('list tools')], tools: TOOLS });
  const [block] = collectMessage(await collect(rehearsalModel().stream(request))).content;
  expect(block).toMatchObject({ text: expect.stringContaining('3 tools:\n- connect_mcp\n- ToolSearch') });
});

test('results are quoted, failed ones as such, and those of an earlier prompt are not', () => {
  const messages = [
    user('call x'),
    ...used('t1', 'old'),
    user('call x'),
    ...used('t2', 'no such page', true),
  ];
  expect(rehearse({ messages, tools: TOOLS })).toEqual(
    text('Done. ', 'The tool said: (failed) no such page\n'),
  );
});

test('steps joined by "then" are taken one after the other', () => {
  const prompt = user('connect to docs, then search for pools');
  expect(rehearse({ messages: [prompt], tools: TOOLS })).toEqual(toolUse('connect_mcp', { name: 'docs' }));
  expect(rehearse({ messages: [prompt, ...used('t1', 'connected')], tools: TOOLS })).toEqual(
    toolUse('mcp__docs__search', { words: 'pools' }),
  );
});

test('anything else, or a tool that is missing, is answered with what can be said', () => {
  expect(rehearse({ messages: [user('sing')], tools: TOOLS }).blocks).toMatchObject([{ type: 'text' }]);
  expect(rehearse({ messages: [user('search x')], tools: [] }).blocks).toMatchObject([{ type: 'text' }]);
  expect(rehearse({ messages: [user('connect to x')], tools: [] }).blocks).toMatchObject([{ type: 'text' }]);
});
