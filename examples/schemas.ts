// The three kinds of schemas. Arguments are validated and defaults applied before the handler runs.
import assert from 'node:assert/strict';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { createSdkMcpServer, tool } from 'toolplane';
import * as v from 'valibot';
import { z } from 'zod';

// #region zod
const zodShape = tool(
  'greet',
  'Greet a person',
  { name: z.string().describe('whom'), times: z.number().int().default(1) },
  ({ name, times }) => `Hello, ${name}! `.repeat(times).trim(), // name: string, times: number
);
// #endregion

// #region standard
const valibot = tool(
  'greet_valibot',
  'Greet a person',
  toStandardJsonSchema(v.object({ name: v.string() })),
  ({ name }) => `Hello, ${name}!`,
);
const arktype = tool(
  'greet_arktype',
  'Greet a person',
  type({ name: 'string' }),
  ({ name }) => `Hello, ${name}!`,
);
// #endregion

// #region json
const jsonSchema = tool(
  'greet_json',
  'Greet a person',
  {
    type: 'object',
    properties: { name: { type: 'string' }, mood: { enum: ['glad', 'grumpy'], default: 'glad' } },
    required: ['name'],
  },
  ({ name, mood }: { name: string; mood: 'glad' | 'grumpy' }) => `A ${mood} hello, ${name}.`,
);
// #endregion

const server = createSdkMcpServer({ name: 'schemas', tools: [zodShape, valibot, arktype, jsonSchema] });

const calls: [string, object][] = [
  ['greet', { name: 'Ada' }],
  ['greet', { name: 'Ada', times: 2 }],
  ['greet_valibot', { name: 'Ada' }],
  ['greet_arktype', { name: 'Ada' }],
  ['greet_json', { name: 'Ada' }],
  ['greet_json', { name: 'Ada', mood: 'sad' }],
  ['greet_arktype', { name: 7 }],
];
const answers: string[] = [];
for (const [name, args] of calls) {
  const { content, isError } = await server.call(name, args);
  const [block] = content;
  answers.push(
    `${name}(${JSON.stringify(args)}) ${isError ? '✗' : '→'} ${block?.type === 'text' && block.text}`,
  );
}
console.log(answers.join('\n'));
assert.deepEqual(
  answers.map((answer) => answer.includes('→')),
  [true, true, true, true, true, false, false],
);
