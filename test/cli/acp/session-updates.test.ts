import type { SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import { expect, test } from 'vitest';
import { promptResponse } from '../../../src/cli/acp/acp-session.ts';
import { promptMessage, sessionOptions } from '../../../src/cli/acp/session-params.ts';
import { SessionUpdates } from '../../../src/cli/acp/session-updates.ts';
import { describeToolCall, describeToolResult } from '../../../src/cli/acp/tool-call.ts';
import type { SDKMessage, SDKResultMessage } from '../../../src/protocol/agent-message.ts';

const PLACE = { cwd: '/w', fileText: (path: string) => (path === '/w/old' ? 'before' : null) };

test.each([
  ['Bash', { command: 'ls\n  -l' }, { kind: 'execute', title: 'ls -l' }],
  [
    'Read',
    { file_path: 'a', offset: 7 },
    { kind: 'read', title: 'Read /w/a', locations: [{ path: '/w/a', line: 7 }] },
  ],
  ['Glob', { pattern: '*.ts', path: 'src' }, { kind: 'search', title: 'Find *.ts in /w/src' }],
  ['Grep', { pattern: 'x' }, { kind: 'search', title: 'Search x', locations: [] }],
  ['Task', { description: 'Look', prompt: 'p' }, { kind: 'think', title: 'Look' }],
  ['WebFetch', { url: 'http://a' }, { kind: 'fetch', title: 'Fetch http://a' }],
  ['mcp__docs__search', {}, { kind: 'other', title: 'docs: search' }],
  ['constructor', {}, { kind: 'other', title: 'constructor' }],
  [
    'Write',
    { file_path: 'old', content: 'after' },
    { content: [{ type: 'diff', path: '/w/old', oldText: 'before', newText: 'after' }] },
  ],
  ['Write', null, { kind: 'edit', title: 'Write a file', content: [], locations: [] }],
  ['Bash', { command: 'a\u202eb' }, { title: 'a\\u202eb' }],
])('%s with %j', (name, input, view) => {
  expect(describeToolCall(name, input, PLACE)).toMatchObject(view);
});

test('output is fenced by more backticks than it contains', () => {
  const { content } = describeToolResult('Bash', 'a ```` b', false, { cwd: '/w' });
  expect(content?.[0]).toEqual({
    type: 'content',
    content: { type: 'text', text: '`````\na ```` b\n`````' },
  });
});

test('the text of an MCP tool is Markdown, an image stays an image, an error is fenced', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aa' } };
  expect(
    describeToolResult('mcp__a__b', [{ type: 'text', text: '**b**' }, image], false, { cwd: '/w' }).content,
  ).toEqual([
    { type: 'content', content: { type: 'text', text: '**b**' } },
    { type: 'content', content: { type: 'image', data: 'aa', mimeType: 'image/png' } },
  ]);
  expect(describeToolResult('Edit', 'no', true, { cwd: '/w' }).content).toEqual([
    { type: 'content', content: { type: 'text', text: '```\nno\n```' } },
  ]);
  expect(describeToolResult('Edit', 'Updated', false, { cwd: '/w' })).toEqual({});
});

test.each(['/w/a', 'a', 'b/../a'])(
  'a successful edit of %s shows the changed parts with their lines',
  (filePath) => {
    const structuredPatch = [{ oldStart: 3, newStart: 3, lines: [' same', '-old', '+new', '+more'] }];
    const output = { filePath, structuredPatch };
    expect(describeToolResult('Edit', 'Updated', false, { output, cwd: '/w' })).toEqual({
      content: [{ type: 'diff', path: '/w/a', oldText: 'same\nold', newText: 'same\nnew\nmore' }],
      locations: [{ path: '/w/a', line: 3 }],
    });
  },
);

/** The updates for messages of an agent, without the members that tests do not need. */
function updatesFor(...messages: object[]): SessionUpdate[] {
  const updates = new SessionUpdates({ ...PLACE, showsTerminals: false, showsNotices: true });
  return messages.flatMap((message) =>
    updates.receive({ parent_tool_use_id: null, ...message } as SDKMessage),
  );
}

const assistant = (...content: object[]) => ({ type: 'assistant', message: { id: 'm', content } });

test('text that was streamed is not sent again', () => {
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } };
  const sent = updatesFor(
    { type: 'stream_event', event: { type: 'message_start', message: { id: 'm' } } },
    { type: 'stream_event', event: delta },
    assistant({ type: 'text', text: 'Hi' }),
    { type: 'result', subtype: 'success', is_error: false, result: 'Hi' },
  );
  expect(sent).toEqual([{ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Hi' } }]);
});

test('a result text without a message is sent, a thought is a thought', () => {
  const result = { type: 'result', subtype: 'success', is_error: false, result: 'Compacted' };
  expect(updatesFor(assistant({ type: 'thinking', thinking: 'Hm' }), result)).toEqual([
    { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hm' } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Compacted' } },
  ]);
});

test('a retry is a notice', () => {
  const retry = { attempt: 1, max_retries: 5, retry_delay_ms: 4000, error_status: 529, error: 'overloaded' };
  expect(updatesFor({ type: 'system', subtype: 'api_retry', ...retry })).toEqual([
    {
      sessionUpdate: 'notice',
      severity: 'warning',
      title: 'Model request failed',
      description: 'Model request failed (529 overloaded); retry 1 of 5 in 4.0 s',
    },
  ]);
});

test('a sub-agent shows its calls, with the call that started it, and not its text', () => {
  const [text, call] = [
    { type: 'text', text: 'x' },
    { type: 'tool_use', id: 'b', name: 'Read', input: {} },
  ];
  expect(updatesFor({ ...assistant(text, call), parent_tool_use_id: 'a' })).toMatchObject([
    { sessionUpdate: 'tool_call', toolCallId: 'b', _meta: { toolplane: { parentToolCallId: 'a' } } },
  ]);
});

test('the todo list of another agent is a plan', () => {
  const todos = [
    { content: 'One', status: 'completed' },
    { content: 'Two', status: 'odd' },
  ];
  expect(updatesFor(assistant({ type: 'tool_use', id: 'a', name: 'TodoWrite', input: { todos } }))).toEqual([
    {
      sessionUpdate: 'plan',
      entries: [
        { content: 'One', priority: 'medium', status: 'completed' },
        { content: 'Two', priority: 'medium', status: 'pending' },
      ],
    },
  ]);
});

test('results of unknown calls and unknown messages are ignored', () => {
  const results = {
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: 'x', content: 'y' }] },
  };
  expect(updatesFor(results, { type: 'novel' }, { type: 'stream_event', event: null })).toEqual([]);
});

test('binary resources: a PDF file is a document, other files are named', () => {
  const resource = (mimeType: string) => ({
    type: 'resource' as const,
    resource: { uri: 'file:///a', blob: 'aa', mimeType },
  });
  expect(
    promptMessage([resource('application/pdf'), resource('application/zip')]).message.content,
  ).toMatchObject([
    { type: 'text', text: '[@a](file:///a)' },
    { type: 'document', source: { media_type: 'application/pdf' } },
    { type: 'text', text: '[@a](file:///a)' },
    { type: 'text', text: '(application/zip content of file:///a is not shown)' },
  ]);
});

test('servers and directories of the request are added to those of the flags', () => {
  const base = { additionalDirectories: ['/x'], mcpServers: { a: { command: 'a' } } };
  const env = [{ name: 'K', value: 'v' }];
  const params = {
    cwd: '/w',
    additionalDirectories: ['/y'],
    mcpServers: [{ name: 'b', command: 'b', args: [], env }],
  };
  expect(sessionOptions(base, params)).toEqual({
    cwd: '/w',
    additionalDirectories: ['/x', '/y'],
    mcpServers: { a: { command: 'a' }, b: { type: 'stdio', command: 'b', args: [], env: { K: 'v' } } },
  });
});

const RESULT = {
  type: 'result',
  usage: { input_tokens: 1, output_tokens: 2 },
  is_error: false,
  subtype: 'success',
};

test.each([
  ['end_turn', { stop_reason: 'end_turn' }],
  ['max_tokens', { stop_reason: 'max_tokens' }],
  ['refusal', { stop_reason: 'refusal' }],
  ['max_turn_requests', { subtype: 'error_max_turns', is_error: true }],
  ['cancelled', { subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_tools' }],
])('stop reason %s', (stopReason, result) => {
  const message = { ...RESULT, ...result } as unknown as SDKResultMessage;
  expect(promptResponse(message, false)).toMatchObject({ stopReason, usage: { totalTokens: 3 } });
});
