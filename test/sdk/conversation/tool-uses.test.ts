import { expect, test } from 'vitest';
import type { Frame } from '../../../src/protocol/control-frame.ts';
import { ToolUses } from '../../../src/sdk/conversation/tool-uses.ts';

const assistant = (content: unknown, parent: string | null = null): Frame => ({
  type: 'assistant',
  message: { content },
  parent_tool_use_id: parent,
});
const user = (content: unknown): Frame => ({ type: 'user', message: { content } });
const use = (id: string, name = 'mcp__calc__add', input: unknown = { a: 1 }) => ({
  type: 'tool_use',
  id,
  name,
  input,
});
const result = (id: string, content: unknown, isError?: boolean) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...(isError !== undefined && { is_error: isError }),
});

function follow(...messages: Frame[]): unknown[] {
  const told: unknown[] = [];
  const uses = new ToolUses([
    { started: (it) => void told.push(['started', it]), finished: (it) => void told.push(['finished', it]) },
    {},
  ]);
  for (const message of messages) uses.note(message);
  return told;
}

test('a tool use is reported at its start and with its result (R59)', () => {
  expect(
    follow(
      assistant([{ type: 'text', text: 'x' }, use('1')], 'toolu_0'),
      user([result('1', 'three', false)]),
    ),
  ).toEqual([
    ['started', { toolUseId: '1', name: 'mcp__calc__add' }],
    [
      'finished',
      {
        toolUseId: '1',
        name: 'mcp__calc__add',
        input: { a: 1 },
        result: 'three',
        isError: false,
        parentToolUseId: 'toolu_0',
      },
    ],
  ]);
});

test('concurrent tool uses are reported in the order of their results', () => {
  const told = follow(
    assistant([use('1', 'A'), use('2', 'B')]),
    user([result('2', 'b', true)]),
    user([result('1', [])]),
  );
  expect(told).toEqual([
    ['started', { toolUseId: '1', name: 'A' }],
    ['started', { toolUseId: '2', name: 'B' }],
    [
      'finished',
      { toolUseId: '2', name: 'B', input: { a: 1 }, result: 'b', isError: true, parentToolUseId: null },
    ],
    [
      'finished',
      { toolUseId: '1', name: 'A', input: { a: 1 }, result: [], isError: false, parentToolUseId: null },
    ],
  ]);
});

test.each<[string, Frame[]]>([
  ['a result without a call', [user([result('9', 'x')])]],
  ['a text prompt', [user('hello')]],
  ['a message without content', [{ type: 'assistant' }, { type: 'user', message: null }]],
  ['blocks that are none', [assistant([null, 'x', 1])]],
  ['another type of message', [{ type: 'system', message: { content: [use('1')] } }]],
])('%s reports nothing', (_, messages) => {
  expect(follow(...messages)).toEqual([]);
});

test('a message repeated starts nothing twice, and a result repeated ends nothing twice', () => {
  const told = follow(
    assistant([use('1')]),
    assistant([use('1')]),
    user([result('1', 'x')]),
    user([result('1', 'x')]),
  );
  expect(told.map((it) => (it as unknown[])[0])).toEqual(['started', 'finished']);
});
