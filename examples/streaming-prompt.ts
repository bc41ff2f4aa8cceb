// query() with a stream of user messages: a server is added between turns, text is streamed.
import assert from 'node:assert/strict';
import { query, type SDKUserMessage, toolServer } from 'toolplane';
import { openAgent, text, toolUse } from './agent.ts';

const clock = toolServer('clock').tool('hour', 'The hour in the office', {}, () => 16);

await using agent = await openAgent([
  text('I have ', 'no clock.'),
  toolUse('mcp__clock__hour', {}),
  text('It is ', '16:00.'),
]);

// #region stream
const firstTurnIsOver = Promise.withResolvers<void>();

async function* prompts(): AsyncGenerator<SDKUserMessage> {
  yield userMessage('What time is it in the office? Answer immediately if you have no tool for that.');
  await firstTurnIsOver.promise;
  console.log(await conversation.setMcpServers({ clock }));
  yield userMessage('You have a tool for it now: what time is it in the office?');
}

const conversation = query({
  prompt: prompts(),
  options: { ...agent.options, allowedTools: ['mcp__clock'], includePartialMessages: true },
});

const pieces: string[] = [];
const results: string[] = [];
for await (const message of conversation) {
  if (message.type === 'stream_event' && message.event.type === 'content_block_delta') {
    const { text } = message.event.delta as { text?: string };
    if (text) pieces.push(text);
  }
  if (message.type === 'result') {
    results.push(message.subtype);
    firstTurnIsOver.resolve();
  }
}
console.log({ pieces, results });
// #endregion

assert.deepEqual(results, ['success', 'success']);
assert.ok(pieces.join('').includes('16'));

function userMessage(content: string): SDKUserMessage {
  return { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
}
