import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { ModelMessage } from '../../../src/agent/models/model.ts';
import { scriptedModel, text } from '../../../src/agent/models/scripted.ts';
import { Conversation, type ConversationOptions } from '../../../src/agent/session/conversation.ts';
import { Transcript } from '../../../src/agent/transcript/transcript.ts';
import { SessionHooks } from '../../../src/hooks/session-hooks.ts';
import { options, temporaryRoot } from '../transcript/sessions.ts';

const never = new AbortController().signal;
const LONG = 'word '.repeat(1_000);
const PAST: readonly ModelMessage[] = [1, 2, 3].flatMap((n): ModelMessage[] => [
  { role: 'user', content: [{ type: 'text', text: `${n} ${LONG}` }] },
  { role: 'assistant', content: [{ type: 'text', text: 'ok' }] },
]);

function conversation(messages: readonly ModelMessage[] = PAST, more: Partial<ConversationOptions> = {}) {
  const said: object[] = [];
  const spent: unknown[] = [];
  const hooks = new SessionHooks({
    hooks: [],
    base: () => ({ session_id: 's', transcript_path: '', cwd: '/' }),
    context: { callback: () => expect.unreachable(), spawn: () => expect.unreachable() },
    onFailure: () => {},
    onMessage: () => {},
  });
  const model = scriptedModel(() => text('in short'), {
    limits: { contextTokens: 3_000, outputTokens: 300 },
  });
  const it = new Conversation({
    model,
    modelName: () => 'm',
    hooks,
    transcript: undefined,
    messages,
    emit: (message) => said.push(message),
    onUsage: (name, usage) => spent.push([name, usage.output_tokens]),
    ...more,
  });
  return { it, said, model, spent };
}

const replied = (input_tokens: number, isComplete: boolean) => ({
  kind: 'replied' as const,
  model: 'm',
  message: {
    id: 'x',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens, output_tokens: 1 },
    isComplete,
  },
});

const ROUND = { system: '', tools: [] };

test.each([
  ['an estimate says it is full', undefined, true],
  ['the model counted less than the estimate', replied(10, true), false],
  ['the model counted as much', replied(2_900, true), true],
  ['a reply that was cut off counts for nothing', replied(0, false), true],
  ['an endpoint that reports no usage counts for nothing', replied(0, true), true],
])('before a request: %s', async (_, event, expected) => {
  const { it } = conversation();
  if (event) it.observe(event, 'u');
  expect(await it.compactIfNeeded(it.messages, ROUND, 'filling', never)).toBe(expected);
});

test('reports a compaction, and leaves a conversation that cannot be compacted', async () => {
  const { it, said, spent } = conversation();
  expect(await it.compact('manual', '', never)).toBe(true);
  expect(spent).toEqual([['m', 5]]);
  expect(it.messages.length).toBeLessThan(PAST.length);
  expect(said).toMatchObject([
    { status: 'compacting' },
    { status: null, compact_result: 'success' },
    { subtype: 'compact_boundary', compact_metadata: { trigger: 'manual' } },
    { type: 'user', isSynthetic: true, isReplay: false },
  ]);
  const short = conversation([]);
  expect(await short.it.compact('manual', '', never)).toBe(false);
  expect({ requests: short.model.requests, spent: short.spent }).toEqual({ requests: [], spent: [] });
});

test('the end of an interrupted compaction is reported too', async () => {
  const { it, said } = conversation();
  const abort = new AbortController();
  abort.abort();
  await expect(it.compact('manual', '', abort.signal)).rejects.toThrow();
  expect(said).toMatchObject([{ status: 'compacting' }, { status: null }]);
  expect(it.messages).toEqual(PAST);
});

test('a compaction stores the usage of the replies before it', async () => {
  const { given } = options(await temporaryRoot());
  await using transcript = new Transcript(given);
  const earlierReplies = [{ model: 'm', usage: { input_tokens: 100, output_tokens: 9 } }];
  const { it } = conversation(PAST, { transcript, earlierReplies, channelMessages: ['c'] });
  const content = [{ type: 'text' as const, text: 'ok' }];
  const { message, ...event } = replied(10, true);
  it.observe({ ...event, message: { ...message, content } }, 'r');
  expect(await it.compact('auto', '', never)).toBe(true);
  await it.saved();
  const lines = (await readFile(transcript.path, 'utf8')).trimEnd().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
    type: 'compaction',
    earlier: {
      replies: [{ model: 'm', usage: { input_tokens: 110, output_tokens: 10 } }],
      channelMessages: ['c'],
    },
  });
});
