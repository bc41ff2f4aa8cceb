import { expect, test } from 'vitest';
import type { ModelMessage } from '../../../src/agent/models/model.ts';
import { openAiParams } from '../../../src/agent/models/openai-request.ts';
import { modelRequest } from './requests.ts';

const sent = (...messages: ModelMessage[]) =>
  openAiParams(modelRequest({ system: '', messages }), 'max_tokens').messages;

const PNG = { type: 'base64', media_type: 'image/png', data: 'AAAA' };

test('a call and its results become tool calls and tool messages, results first', () => {
  const messages = sent(
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'Adding.' },
        { type: 'tool_use', id: 't1', name: 'add', input: { a: 1 } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'And go on.' },
        { type: 'tool_result', tool_use_id: 't1', content: 'overflow', is_error: true },
        { type: 'tool_result', tool_use_id: 't2' },
      ],
    },
  );
  const call = { id: 't1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
  expect(messages).toEqual([
    { role: 'assistant', content: 'Adding.', tool_calls: [call] },
    { role: 'tool', tool_call_id: 't1', content: 'Error: overflow' },
    { role: 'tool', tool_call_id: 't2', content: '(no output)' },
    { role: 'user', content: 'And go on.' },
  ]);
});

test('images travel as data URLs, those of a tool in a user message after its result', () => {
  const url = 'data:image/png;base64,AAAA';
  expect(sent({ role: 'user', content: [{ type: 'image', source: PNG }] })).toEqual([
    { role: 'user', content: [{ type: 'image_url', image_url: { url } }] },
  ]);
  const content = [
    { type: 'text' as const, text: 'a chart' },
    { type: 'image' as const, source: PNG },
  ];
  expect(sent({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content }] })).toEqual([
    { role: 'tool', tool_call_id: 't1', content: 'a chart\n[image]' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Attached to the result of tool call t1:' },
        { type: 'image_url', image_url: { url } },
      ],
    },
  ]);
});

test.each([
  [{ type: 'text', media_type: 'text/plain', data: 'the text' }, 'the text'],
  [{ type: 'file', file_id: 'f' }, '[document that this model cannot be sent]'],
])('the document %o is sent as the text %s', (source, content) => {
  expect(sent({ role: 'user', content: [{ type: 'document', source }] })).toEqual([
    { role: 'user', content },
  ]);
});

test('a PDF is sent as a file', () => {
  const source = { type: 'base64', media_type: 'application/pdf', data: 'AAAA' };
  const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' };
  expect(sent({ role: 'user', content: [{ type: 'document', source, title: 'a.pdf' }] })).toEqual([
    { role: 'user', content: [{ type: 'file', file }] },
  ]);
});

test('a turn that only had thoughts is not sent', () => {
  expect(sent({ role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: '' }] })).toEqual(
    [],
  );
});
