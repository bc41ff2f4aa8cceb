import { expect, test } from 'vitest';
import { StructuredOutput } from '../../../src/agent/builtins/structured-output.ts';
import { ModelError } from '../../../src/agent/models/model.ts';
import { fails, type ModelScript, text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import type { JsonSchema } from '../../../src/protocol/mcp.ts';
import type { Options } from '../../../src/sdk/options/options.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { drive, resultOf, results, said, texts, untilResult } from '../../support/drive.ts';

const COUNT = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] };
const output = (input: object | string, id?: string) => toolUse('StructuredOutput', input, id);

function ask(script: ModelScript, schema: JsonSchema = COUNT, more: Options = {}) {
  const driven = drive(script, { outputFormat: { type: 'json_schema', schema }, ...more });
  return { ...driven, result: async () => resultOf(await untilResult(driven.query)) };
}

test('valid output ends the turn and is the result', async () => {
  const { result, model } = ask([output({ count: 3, more: 'is allowed' }), text('never sent')]);
  expect(await result()).toMatchObject({
    subtype: 'success',
    is_error: false,
    result: '{"count":3,"more":"is allowed"}',
    structured_output: { count: 3, more: 'is allowed' },
    terminal_reason: 'completed',
    stop_reason: 'tool_use',
  });
  expect(model.requests).toHaveLength(1);
  expect(model.requests[0]?.tools).toMatchObject([{ name: 'StructuredOutput', input_schema: COUNT }]);
});

test('invalid output is answered with every error, and the model tries again', async () => {
  const schema = { ...COUNT, properties: { ...COUNT.properties, unit: { type: 'string' } } };
  const { result, model } = ask(
    [output({ unit: 1 }, 't1'), output('[1]', 't2'), output({ count: 3 }, 't3')],
    schema,
  );
  expect(await result()).toMatchObject({ structured_output: { count: 3 } });
  expect(results(model.requests[1]).t1).toBe(
    "!Output does not match required schema: root: must have required property 'count', /unit: must be string",
  );
  expect(results(model.requests[2]).t2).toMatch(/^!The arguments of StructuredOutput are not a JSON object/);
});

test('five invalid attempts end the turn with an error', async () => {
  const { result, model } = ask(() => output({}));
  expect(await result()).toMatchObject({
    subtype: 'error_max_structured_output_retries',
    is_error: true,
    terminal_reason: 'structured_output_retry_exhausted',
    errors: [
      "Failed to provide valid structured output after 5 attempts — last StructuredOutput error: Output does not match required schema: root: must have required property 'count'",
    ],
  });
  expect(model.requests).toHaveLength(5);
});

test('a model that replies with text is reminded once', async () => {
  const { result, model } = ask([text('three'), text('three, really'), text('never sent')]);
  const { structured_output, ...rest } = (await result()) as { structured_output?: unknown };
  expect(structured_output).toBeUndefined();
  expect(rest).toMatchObject({ subtype: 'success', result: 'three, really' });
  expect(texts(model.requests[1])).toEqual([
    expect.stringContaining('Return the reply with the StructuredOutput tool'),
  ]);
  expect(model.requests).toHaveLength(2);
});

test('each turn needs its own output', async () => {
  async function* prompts() {
    yield said('one');
    yield said('two');
  }
  const script = [output({ count: 1 }), text('no'), fails(new ModelError('bad-request', 'enough'))];
  const { query } = ask(script, COUNT, { prompt: prompts() } as Options);
  const [first, second] = (await untilResult(query, 2)).filter(({ type }) => type === 'result');
  expect(first).toMatchObject({ structured_output: { count: 1 } });
  expect(second).not.toHaveProperty('structured_output');
});

test('other calls of the same message run too; Stop hooks run, but cannot make the agent continue', async () => {
  const ran: string[] = [];
  const desk = toolServer('desk').tool('note', 'Note', {}, () => void ran.push('note'));
  const { result, model } = ask(
    [together(output({ count: 1 }), toolUse('mcp__desk__note', {})), text('never sent')],
    COUNT,
    {
      mcpServers: { desk },
      allowedTools: ['mcp__desk'],
      hooks: {
        Stop: [
          {
            hooks: [
              async () => {
                ran.push('stop');
                return { decision: 'block', reason: 'go on' };
              },
            ],
          },
        ],
      },
      canUseTool: async (name) => {
        ran.push(`asked about ${name}`);
        return { behavior: 'allow' };
      },
    },
  );
  expect(await result()).toMatchObject({ structured_output: { count: 1 } });
  expect(ran).toEqual(['asked about mcp__desk__note', 'note', 'stop']);
  expect(model.requests).toHaveLength(1);
});

test.each<[string, JsonSchema, object, unknown]>([
  ['a list', { type: 'array', items: { type: 'integer' } }, { output: [1, 2] }, [1, 2]],
  [
    'a list with definitions',
    { type: 'array', items: { $ref: '#/$defs/n' }, $defs: { n: { type: 'integer' } } },
    { output: [1] },
    [1],
  ],
  [
    'a list of itself',
    { type: 'array', items: { anyOf: [{ type: 'integer' }, { $ref: '#' }] } },
    { output: [1, [2]] },
    [1, [2]],
  ],
  ['a string', { type: 'string' }, { output: 'x' }, 'x'],
  [
    'alternatives',
    {
      oneOf: [COUNT, { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }],
    },
    { name: 'x' },
    { name: 'x' },
  ],
  [
    'draft 2020-12',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { pair: { type: 'array', prefixItems: [{ type: 'integer' }], items: false } },
    },
    { pair: [1] },
    { pair: [1] },
  ],
  [
    'a name that model APIs reject',
    { type: 'object', properties: { 'the count': { type: 'integer' } }, required: ['the count'] },
    { the_count: 3 },
    { 'the count': 3 },
  ],
])('any schema becomes a tool that every model API accepts: %s', async (_, schema, input, value) => {
  const { result, model } = ask([output(input), text('no'), text('no')], schema);
  expect(await result()).toMatchObject({ structured_output: value });
  expect(model.requests[0]?.tools[0]?.input_schema).toMatchObject({ type: 'object' });
});

test.each<[JsonSchema, RegExp]>([
  [{ type: 'nonsense' }, /^data\/type must be equal to one of the allowed values/],
  [{ $ref: '#/$defs/missing' }, /can't resolve reference/],
])('an invalid schema is a fault: %j', async (schema, fault) => {
  expect(await StructuredOutput.compile(schema)).toEqual({ fault: expect.stringMatching(fault) });
});
