import { expect, test } from 'vitest';
import {
  collectMessage,
  invalidInput,
  MessageCollector,
} from '../../../src/agent/models/message-collector.ts';
import type { ModelEvent } from '../../../src/agent/models/model.ts';
import { replyEvents, text, thinking, together, toolUse } from '../../../src/agent/models/scripted.ts';

test('assembles text, signed thinking blocks and tool uses in order', () => {
  const reply = together(thinking('hm', 'sig'), text('a', 'b'), toolUse('add', { a: 1 }), toolUse('now'));
  expect(collectMessage(replyEvents(reply, 1, 'm'))).toEqual({
    id: 'msg_0001',
    model: 'm',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'text', text: 'ab' },
      { type: 'tool_use', id: 'toolu_0001_2', name: 'add', input: { a: 1 } },
      { type: 'tool_use', id: 'toolu_0001_3', name: 'now', input: {} },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
    isComplete: true,
  });
});

test.each(['{"a":', '[1]', '"text"', 'null'])(
  'the input %s is kept as written and reported, not thrown',
  (json) => {
    const [block] = collectMessage(replyEvents(toolUse('add', json), 1, 'm')).content;
    expect(block).toMatchObject({ type: 'tool_use', name: 'add' });
    expect(invalidInput(block?.type === 'tool_use' && block.input)).toBe(json);
  },
);

test('a valid input is never reported as invalid', () => {
  expect(invalidInput({ a: 1 })).toBeUndefined();
  expect(invalidInput({ $invalid_json: 'x', more: 1 })).toBeUndefined();
  expect(invalidInput(undefined)).toBeUndefined();
});

test('returns each block when it is finished', () => {
  const collector = new MessageCollector();
  const blocks = replyEvents(together(text('a'), toolUse('t')), 1, 'm').flatMap(
    (e) => collector.add(e) ?? [],
  );
  expect(blocks.map(({ type }) => type)).toEqual(['text', 'tool_use']);
});

test('an interrupted reply keeps partial text and drops unfinished calls and thinking', () => {
  const events = (reply: Parameters<typeof replyEvents>[0]) => {
    const all = replyEvents(reply, 1, 'm');
    return collectMessage(
      all.slice(
        0,
        all.findLastIndex((e) => e.type === 'content_block_stop'),
      ),
    );
  };
  expect(events(text('half'))).toMatchObject({
    content: [{ type: 'text', text: 'half' }],
    stop_reason: null,
    isComplete: false,
  });
  expect(events(together(text('a'), toolUse('t', { a: 1 }))).content).toEqual([{ type: 'text', text: 'a' }]);
  expect(events(thinking('hm')).content).toEqual([]);
});

test('interleaved blocks are assembled separately', () => {
  const use = (index: number): ModelEvent => ({
    type: 'content_block_start',
    index,
    content_block: { type: 'tool_use', id: `t${index}`, name: 'x', input: {} },
  });
  const json = (index: number, partial_json: string): ModelEvent => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json },
  });
  const stop = (index: number): ModelEvent => ({ type: 'content_block_stop', index });
  const events = [use(0), use(1), json(1, '{"b"'), json(0, '{"a":1}'), json(1, ':2}'), stop(1), stop(0)];
  expect(collectMessage(events).content).toMatchObject([{ input: { a: 1 } }, { input: { b: 2 } }]);
});

test('later token counts replace earlier ones, except null', () => {
  const events = replyEvents({ ...text('a'), usage: { cache_read_input_tokens: 7 } }, 1, 'm');
  events.push({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 9, cache_read_input_tokens: null },
  });
  expect(collectMessage(events).usage).toEqual({
    input_tokens: 10,
    output_tokens: 9,
    cache_read_input_tokens: 7,
  });
});
