import type { Script } from '../../test/support/model-api/messages-api.ts';
import { error, text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { converse } from '../conversation.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

/** The first model is overloaded in the first turn and fails in the second; the fallback answers. */
export const script: Script = ({ model }, n) => {
  if (model === 'claude-haiku-4-5') return n === 4 ? toolUse('mcp__desk__note', {}) : text('hello');
  return n < 5 ? error(529, 'busy', 'overloaded_error') : error(500, 'broken', 'api_error');
};

/** The fallback is used after three attempts, or at once after an error of the endpoint, for the rest of the turn. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const note = sdk.tool('note', 'Note', {}, async () => ({ content: [{ type: 'text', text: 'noted' }] }));
  const desk = sdk.createSdkMcpServer({ name: 'desk', tools: [note] });
  const chat = converse();
  const query = sdk.query({
    prompt: chat,
    options: {
      ...options(sandbox),
      fallbackModel: 'claude-haiku-4-5',
      mcpServers: { desk },
      allowedTools: ['mcp__desk'],
    },
  });
  const seen: unknown[] = [];
  chat.say('one');
  let turns = 0;
  for await (const message of query) {
    const { type, subtype } = message as { type: string; subtype?: string };
    const fields = message as unknown as Record<string, unknown>;
    if (type === 'system' && subtype === 'init') seen.push({ init: fields.model });
    if (subtype === 'api_retry') seen.push([subtype, fields.attempt, fields.error_status, fields.error]);
    if (subtype === 'model_fallback')
      seen.push([subtype, fields.trigger, fields.original_model, fields.fallback_model]);
    if (message.type !== 'result') continue;
    seen.push({ subtype, models: Object.keys(message.modelUsage) });
    turns += 1;
    if (turns === 1) chat.say('two');
    else chat.end();
  }
  return { seen, asked: sandbox.api.requests.map(({ model }) => model) };
}
