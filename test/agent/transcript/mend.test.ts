import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelMessage } from '../../../src/agent/models/model.ts';
import { mend } from '../../../src/agent/transcript/mend.ts';
import { answered, called, conversations, faultsOf, replied, said } from '../loop/conversations.ts';

const lost = (id: string) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'The call was interrupted before it gave a result; it may have run.',
  is_error: true,
});
const gap = said('[What was said here is lost.]');
const user = (...content: unknown[]) => ({ role: 'user', content }) as ModelMessage;

test.each([
  ['a call at the end', [said('go'), called('a')], [said('go'), called('a'), user(lost('a'))]],
  [
    'one call of two',
    [said('go'), called('a', 'b'), answered({ b: 'B' })],
    [said('go'), called('a', 'b'), user(lost('a'), ...answered({ b: 'B' }).content)],
  ],
  [
    'a call before the next prompt',
    [said('go'), called('a'), said('well?')],
    [said('go'), called('a'), user(lost('a'), ...said('well?').content)],
  ],
  [
    'a call before another reply',
    [said('go'), called('a'), replied('done')],
    [said('go'), called('a'), user(lost('a')), replied('done')],
  ],
  [
    'results in two parts',
    [said('go'), called('a', 'b'), answered({ b: 'B' }), answered({ a: 'A' })],
    [said('go'), called('a', 'b'), answered({ a: 'A', b: 'B' })],
  ],
  ['a result without a call', [said('go'), answered({ x: 'X' }), replied('ok')], [said('go'), replied('ok')]],
  ['a lost start', [replied('ok')], [gap, replied('ok')]],
  ['a lost prompt', [said('a'), replied('b'), replied('c')], [said('a'), replied('b'), gap, replied('c')]],
  ['prompts in a row', [said('a'), said('b')], [user(...said('a').content, ...said('b').content)]],
  ['an empty turn', [said('a'), user(), replied('b')], [said('a'), replied('b')]],
  [
    'an empty reply between prompts',
    [said('a'), { role: 'assistant', content: [] }, said('b')],
    [user(...said('a').content, ...said('b').content)],
  ],
  ['nothing', [], []],
] as [string, ModelMessage[], ModelMessage[]][])('%s is mended', (_, messages, mended) => {
  expect(mend(messages).messages).toEqual(mended);
  expect(faultsOf(mended)).toEqual([]);
});

test('what was done is told', () => {
  expect(mend([said('go'), called('a'), answered({ x: 'X' })]).faults).toEqual([
    'the call a of Read has no result',
    'a result for x answers no call',
  ]);
  expect(mend([replied('ok')]).faults).toEqual(['a turn of the user is missing']);
});

test('a whole conversation is left as it is', () => {
  fc.assert(
    fc.property(conversations, (messages) => {
      expect(mend(messages)).toEqual({ messages, faults: [] });
    }),
  );
});

test('whatever is missing of a conversation, the rest becomes one that a model accepts', () => {
  fc.assert(
    fc.property(conversations, fc.infiniteStream(fc.boolean()), (messages, stays) => {
      const rest = messages.filter(() => stays.next().value);
      const { messages: mended } = mend(rest);
      expect(faultsOf(mended)).toEqual([]);
      const replies = ({ role }: ModelMessage) => role === 'assistant';
      expect(mended.filter(replies)).toEqual(rest.filter(replies));
    }),
  );
});
