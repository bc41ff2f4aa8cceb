import fc from 'fast-check';
import type { ModelMessage } from '../../../src/agent/models/model.ts';
import type { ModelBlock, UserBlock } from '../../../src/protocol/agent-message.ts';

export const said = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });
export const replied = (text: string): ModelMessage => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
});
export const called = (...ids: string[]): ModelMessage => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_use', id, name: 'Read', input: { path: id } })),
});
export const answered = (answers: Record<string, string>): ModelMessage => ({
  role: 'user',
  content: Object.entries(answers).map(([id, content]) => ({
    type: 'tool_result',
    tool_use_id: id,
    content,
  })),
});

const words = fc.oneof(
  fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
  fc.nat({ max: 6000 }).map((length) => 'word '.repeat(1 + length / 5)),
);
const text = words.map((it) => ({ type: 'text' as const, text: it }));
const image = fc.constant<UserBlock>({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
});
const prompt = fc.array(fc.oneof({ weight: 4, arbitrary: text as fc.Arbitrary<UserBlock> }, image), {
  minLength: 1,
  maxLength: 3,
});
const thought = fc.record({ type: fc.constant('thinking' as const), thinking: words, signature: words });
const result = fc.oneof<fc.Arbitrary<string | UserBlock[]>[]>(words, fc.array(fc.oneof(text, image)));
/** Inputs as parsed from JSON, in which a model cannot send -0. */
const input = fc.dictionary(fc.string(), fc.jsonValue()).map((it): unknown => JSON.parse(JSON.stringify(it)));
const call = fc.record({ input, result, isError: fc.boolean() });
const round = fc.record({
  before: fc.array(fc.oneof<fc.Arbitrary<ModelBlock>[]>(text, thought), { maxLength: 2 }),
  calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  added: fc.constantFrom<UserBlock[][]>([], [], [{ type: 'text', text: '<hook>noted</hook>' }]),
});
const turn = fc.record({ prompt, rounds: fc.array(round, { maxLength: 4 }), end: text });

/** Conversations that a model accepts, ending where a session may stand: at a prompt, at results, or at a reply. */
export const conversations: fc.Arbitrary<ModelMessage[]> = fc
  .record({
    turns: fc.array(turn, { minLength: 1, maxLength: 5 }),
    isOpen: fc.boolean(),
  })
  .map(({ turns, isOpen }) => {
    let calls = 0;
    const messages = turns.flatMap(({ prompt: content, rounds, end }): ModelMessage[] => [
      { role: 'user', content },
      ...rounds.flatMap(({ before, calls: made, added }): ModelMessage[] => {
        const ids = made.map(() => `toolu_${calls++}`);
        const uses = made.map(({ input: given }, n): ModelBlock => {
          return { type: 'tool_use', id: ids[n] as string, name: `t${n}`, input: given };
        });
        const results = made.map(({ result: given, isError }, n): UserBlock => {
          const common = { type: 'tool_result', tool_use_id: ids[n] as string, content: given } as const;
          return isError ? { ...common, is_error: true } : common;
        });
        return [
          { role: 'assistant', content: [...before, ...uses] },
          { role: 'user', content: [...results, ...added] },
        ];
      }),
      { role: 'assistant', content: [end] },
    ]);
    return isOpen ? messages.slice(0, -1) : messages;
  });

/** What a model would refuse in a conversation. */
export function faultsOf(messages: readonly ModelMessage[]): string[] {
  const faults: string[] = [];
  if (messages.length > 0 && messages[0]?.role !== 'user') faults.push('begins with a reply');
  messages.forEach(({ role, content }, at) => {
    if (content.length === 0) faults.push(`${at} is empty`);
    if (messages[at - 1]?.role === role) faults.push(`${at} does not alternate`);
    const uses = idsOf(messages[at - 1], 'tool_use');
    const results = idsOf(messages[at], 'tool_result');
    if (uses.join() !== results.join()) faults.push(`${at} answers [${results}] where [${uses}] was asked`);
  });
  if (idsOf(messages.at(-1), 'tool_use').length > 0) faults.push('ends with an open call');
  return faults;
}

function idsOf(message: ModelMessage | undefined, type: 'tool_use' | 'tool_result'): string[] {
  const blocks: readonly (ModelBlock | UserBlock)[] = message?.content ?? [];
  return blocks.flatMap((block) => {
    if (block.type !== type) return [];
    return [block.type === 'tool_use' ? block.id : (block as { tool_use_id: string }).tool_use_id];
  });
}
