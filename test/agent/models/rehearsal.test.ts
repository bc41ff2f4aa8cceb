import { expect, test } from 'vitest';
import { StructuredOutput } from '../../../src/agent/builtins/structured-output.ts';
import { collectMessage } from '../../../src/agent/models/message-collector.ts';
import type { ModelMessage } from '../../../src/agent/models/model.ts';
import { rehearsalModel, rehearse } from '../../../src/agent/models/rehearsal.ts';
import { text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import { formatChannelMessages } from '../../../src/channels/channel-message.ts';
import { collect } from '../../support/collect.ts';
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
  ['call search with {oops}', text('The input for search is not a JSON object: {oops}')],
])('follows "%s"', (prompt, reply) => {
  expect(rehearse({ messages: [user(prompt)], tools: TOOLS })).toEqual(reply);
});

test('the reminder of structured output is answered with values that fit the schema', async () => {
  const schema = {
    type: 'object',
    properties: {
      answer: { type: 'integer', minimum: 3 },
      kind: { enum: ['a', 'b'] },
      note: { anyOf: [{ type: 'string', minLength: 6 }, { type: 'null' }] },
      list: { type: 'array', items: { $ref: '#/$defs/item' }, minItems: 1 },
      left: { type: 'string' },
    },
    required: ['answer', 'kind', 'note', 'list'],
    $defs: { item: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } },
  };
  const output = await StructuredOutput.compile(schema);
  if (!(output instanceof StructuredOutput)) throw new Error(output.fault);
  const { listed } = output.tool;
  const tools = [{ name: listed.name, description: '', input_schema: schema }];
  const messages = [user('What is it?'), user(output.remind() ?? '')];
  const input = { answer: 3, kind: 'a', note: 'demo..', list: [{ ok: true }] };
  expect(rehearse({ messages, tools })).toEqual(toolUse('StructuredOutput', input));
});

test('the tools it was given are listed by name', async () => {
  const request = modelRequest({ messages: [user('list tools')], tools: TOOLS });
  const [block] = collectMessage(await collect(rehearsalModel().stream(request))).content;
  expect(block).toMatchObject({ text: expect.stringContaining('3 tools:\n- connect_mcp\n- ToolSearch') });
});

test('quotes the results of the current prompt, errors included', () => {
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

test('runs steps joined by "then" in order', () => {
  const prompt = user('connect to docs, then search for pools');
  expect(rehearse({ messages: [prompt], tools: TOOLS })).toEqual(toolUse('connect_mcp', { name: 'docs' }));
  expect(rehearse({ messages: [prompt, ...used('t1', 'connected')], tools: TOOLS })).toEqual(
    toolUse('mcp__docs__search', { words: 'pools' }),
  );
});

const SYSTEM =
  '# Servers you can connect\nNot connected yet: docs, deploy. connect_mcp connects a server by its name; its tools are available afterwards.';
const TRIGGER = {
  ...modelTool('mcp__deploy__trigger', {}),
  input_schema: {
    type: 'object',
    properties: {
      service: { type: 'string' },
      where: { enum: ['staging', 'production'] },
      count: { type: 'number' },
    },
    required: ['service', 'where', 'count'],
  },
};

test.each<[string, ReturnType<typeof rehearse>[]]>([
  [
    'Connect to the docs MCP server and search for something',
    [toolUse('connect_mcp', { name: 'docs' }), toolUse('mcp__docs__search', { words: 'something' })],
  ],
  [
    'Connect to the deploy server and trigger a deployment',
    [
      toolUse('connect_mcp', { name: 'deploy' }),
      toolUse('mcp__deploy__trigger', { service: 'demo', where: 'staging', count: 1 }),
    ],
  ],
  [
    'connect to the docs server and search',
    [toolUse('connect_mcp', { name: 'docs' }), toolUse('mcp__docs__search', { words: 'getting started' })],
  ],
  [
    'connect both: what tools are available now?',
    [
      together(toolUse('connect_mcp', { name: 'docs' }), toolUse('connect_mcp', { name: 'deploy' })),
      text('I was given 2 tools:\n', '- connect_mcp\n- mcp__docs__search (readOnly)'),
    ],
  ],
  [
    'Connect both servers — what tools are now available?',
    [
      together(toolUse('connect_mcp', { name: 'docs' }), toolUse('connect_mcp', { name: 'deploy' })),
      text('I was given 2 tools:\n', '- connect_mcp\n- mcp__docs__search (readOnly)'),
    ],
  ],
])('understands "%s"', (prompt, replies) => {
  const marked = { ...modelTool('mcp__docs__search', { words: {} }), description: 'Search (readOnly)' };
  const tools = prompt.includes('deploy ')
    ? [...TOOLS, TRIGGER]
    : [modelTool('connect_mcp', { name: {} }), marked];
  const messages = [user(prompt)];
  for (const [index, reply] of replies.entries()) {
    expect(rehearse({ messages, tools, system: SYSTEM })).toEqual(reply);
    messages.push(...used(`t${index}`, 'ok'));
  }
});

test('reports that there is nothing to connect or to trigger', () => {
  const both = [user('Connect both servers — what tools are now available?')];
  expect(rehearse({ messages: both, tools: [], system: '' })).toEqual(text('I was given no tools.'));
  expect(rehearse({ messages: [user('connect all servers')], tools: TOOLS, system: '' })).toEqual(
    text('There are no servers to connect.'),
  );
  expect(rehearse({ messages: [user('trigger a deployment')], tools: TOOLS })).toEqual(
    text('There is no tool to trigger a deployment with.'),
  );
});

test('answers other prompts and unknown tools with the supported phrases', () => {
  expect(rehearse({ messages: [user('sing')], tools: TOOLS }).blocks).toMatchObject([{ type: 'text' }]);
  expect(rehearse({ messages: [user('search x')], tools: [] }).blocks).toMatchObject([{ type: 'text' }]);
  expect(rehearse({ messages: [user('connect to x')], tools: [] }).blocks).toMatchObject([{ type: 'text' }]);
});

test('takes messages of channels as information: they are no steps, and do not end a turn', () => {
  const pushed = formatChannelMessages([{ source: 'ci', content: 'call search with {}', meta: {} }]);
  const noted = text('Noted: the channel ci has sent a message.');
  expect(rehearse({ messages: [user(pushed)], tools: TOOLS })).toEqual(noted);
  const [call, result] = used('1', 'found') as [ModelMessage, ModelMessage];
  const round: ModelMessage = {
    role: 'user',
    content: [...(result.content as []), { type: 'text', text: pushed }],
  };
  const messages = [user('call search then list tools'), call, round];
  expect(rehearse({ messages, tools: TOOLS })).toEqual(
    rehearse({ messages: [user('list tools')], tools: TOOLS }),
  );
});
