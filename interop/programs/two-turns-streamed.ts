import { z } from 'zod';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { converse } from '../conversation.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('mcp__memory__store', { value: 'blue' }),
  text('Stored.'),
  toolUse('mcp__memory__store', { value: 'red' }),
  text('Stored again.'),
];

/** Two turns of one conversation; the second message is sent after the first result. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const stored: string[] = [];
  const store = sdk.tool('store', 'Store a value', { value: z.string() }, async ({ value }) => {
    stored.push(value);
    return { content: [{ type: 'text', text: `${stored.length} stored` }] };
  });
  const memory = sdk.createSdkMcpServer({ name: 'memory', tools: [store] });
  const conversation = converse();
  const query = sdk.query({
    prompt: conversation,
    options: { ...options(sandbox), mcpServers: { memory }, allowedTools: ['mcp__memory'] },
  });
  let turns = 0;
  conversation.say('Store blue.');
  const seen = await transcribe(query, (message) => {
    if (message.type !== 'result') return;
    turns += 1;
    if (turns === 1) conversation.say('Store red.');
    else conversation.end();
  });
  return { stored, turns, seen, model: modelSide(sandbox) };
}
