// The reply of the model as data that matches a schema.
import assert from 'node:assert/strict';
import { query } from 'toolplane';
import { z } from 'zod';
import { openLoopbackModel } from './loopback-model.ts';

// A model that first forgets a member of the schema.
await using endpoint = await openLoopbackModel(({ messages }) => {
  const isCorrection = messages.some(({ role }) => role === 'tool');
  return { call: 'StructuredOutput', input: { city: 'Oslo', ...(isCorrection && { degrees: 7 }) } };
});
const env = { ...process.env, OPENAI_BASE_URL: endpoint.baseUrl };

// #region query
const Weather = z.object({ city: z.string(), degrees: z.number() });

const answers = query({
  prompt: 'How warm is it in Oslo?',
  options: {
    model: 'openai:little-model', // every model that can call tools
    env,
    outputFormat: { type: 'json_schema', schema: z.toJSONSchema(Weather) },
    tools: [],
    persistSession: false,
  },
});
for await (const message of answers) {
  if (message.type === 'user') console.log(message.tool_use_result);
  if (message.type !== 'result') continue;
  assert.equal(message.subtype, 'success');
  const weather = Weather.parse(message.structured_output);
  console.log(`${weather.city}: ${weather.degrees} degrees`);
}
// #endregion
