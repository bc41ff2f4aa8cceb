// A conversation with several turns: one turn, a turn that is interrupted during a tool call, and another turn.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { AgentClient, toolServer } from 'toolplane';
import { z } from 'zod';
import { openAgent, text, toolUse } from './agent.ts';

const notes: string[] = [];
const isWaiting = Promise.withResolvers<void>();
let wasAborted = false;

// #region server
const desk = toolServer('desk')
  .tool('write_note', 'Write a note', { note: z.string() }, ({ note }) => {
    notes.push(note);
    return `${notes.length} notes`;
  })
  .tool('wait_for_visitor', 'Waits for a visitor who never comes', {}, async (_, { signal }) => {
    isWaiting.resolve();
    if (!signal.aborted) await once(signal, 'abort');
    wasAborted = signal.aborted;
  });
// #endregion

await using agent = await openAgent([
  toolUse('mcp__desk__write_note', { note: 'tea at four' }),
  text('Noted.'),
  toolUse('mcp__desk__wait_for_visitor', {}),
  text('Your note says: tea at four.'),
]);

// #region turns
await using client = await AgentClient.open({
  ...agent.options,
  mcpServers: { desk },
  allowedTools: ['mcp__desk'],
});

const first = await client.ask('Write a note: tea at four.');
console.log(`1. ${first.subtype}; notes: ${notes}`);

for await (const message of client.turn('Wait for a visitor.')) {
  if (message.type !== 'assistant') continue;
  await isWaiting.promise;
  await client.interrupt(); // ends this turn; the conversation continues
}
// #endregion

console.log(`2. interrupted; the handler's signal was aborted: ${wasAborted}`);

// #region after
const third = await client.ask('What does my note say?');
if (third.subtype === 'success') console.log(`3. ${third.result}`);
// #endregion

assert.equal(first.subtype, 'success');
assert.deepEqual(notes, ['tea at four']);
assert.equal(wasAborted, true);
assert.equal(third.subtype, 'success');
