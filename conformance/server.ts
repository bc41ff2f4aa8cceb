// The server under test: a tool server that `listen()` serves over HTTP, with the tools, resources and prompts that the
// suite's server scenarios name. Prints its URL and runs until stdin ends.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ToolContext, toolServer } from 'toolplane';
import { z } from 'zod';

/** A PNG of one red pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A WAV file without samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const text = (content: string) => ({ type: 'text', text: content });

const server = toolServer('conformance', {
  version: '1.0.0',
  logging: true,
  resources: [
    {
      uri: 'test://static-text',
      name: 'Static text',
      description: 'A text',
      mimeType: 'text/plain',
      read: () => 'This is the content of the static text resource.',
    },
    {
      uri: 'test://static-binary',
      name: 'Static binary',
      description: 'An image',
      mimeType: 'image/png',
      read: () => Buffer.from(PNG, 'base64'),
    },
    {
      uri: 'test://watched-resource',
      name: 'Watched resource',
      description: 'A text that changes every second',
      mimeType: 'text/plain',
      read: () => new Date().toISOString(),
      subscribe: (onUpdate) => {
        const timer = setInterval(onUpdate, 1000);
        return () => clearInterval(timer);
      },
    },
  ],
  resourceTemplates: [
    {
      uriTemplate: 'test://template/{id}/data',
      name: 'Template',
      description: 'Data by id',
      mimeType: 'application/json',
      read: ({ id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    },
  ],
  prompts: [
    {
      name: 'test_simple_prompt',
      description: 'A prompt without arguments',
      get: () => 'This is a simple prompt for testing.',
    },
    {
      name: 'test_prompt_with_arguments',
      description: 'A prompt with two arguments',
      arguments: [
        {
          name: 'arg1',
          description: 'First test argument',
          required: true,
          complete: (value) => ['test', 'testing', 'other'].filter((it) => it.startsWith(value)),
        },
        { name: 'arg2', description: 'Second test argument', required: true },
      ],
      get: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
    },
    {
      name: 'test_prompt_with_embedded_resource',
      description: 'A prompt with a resource',
      arguments: [{ name: 'resourceUri', description: 'URI of the resource', required: true }],
      get: ({ resourceUri }) => [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: {
              uri: resourceUri,
              mimeType: 'text/plain',
              text: 'Embedded resource content for testing.',
            },
          },
        },
        { role: 'user', content: text('Please process the embedded resource above.') },
      ],
    },
    {
      name: 'test_prompt_with_image',
      description: 'A prompt with an image',
      get: () => [
        { role: 'user', content: image },
        { role: 'user', content: text('Please analyze the image above.') },
      ],
    },
    {
      name: 'test_input_required_result_prompt',
      description: 'A prompt that asks for its context',
      get: async (_, { elicit }) => {
        const message = 'What context should the prompt use?';
        const { content } = await elicit({ message, requestedSchema: { context: z.string() } });
        return `The context is ${content?.context}`;
      },
    },
  ],
});

// Results.
server
  .tool('test_simple_text', 'Returns text', {}, () => 'This is a simple text response for testing.')
  .tool('test_image_content', 'Returns an image', {}, () => ({ content: [image] }))
  .tool('test_audio_content', 'Returns audio', {}, () => ({
    content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  }))
  .tool('test_embedded_resource', 'Returns a resource', {}, () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }))
  .tool('test_multiple_content_types', 'Returns text, an image and a resource', {}, () => ({
    content: [
      text('Multiple content types test:'),
      image,
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        },
      },
    ],
  }))
  .tool('test_error_handling', 'Fails', {}, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });

// Notifications.
server
  .tool('test_tool_with_logging', 'Sends three log messages', {}, async (_, { log }) => {
    log('info', 'Tool execution started');
    await sleep(50);
    log('info', 'Tool processing data');
    await sleep(50);
    log('info', 'Tool execution completed');
    return 'Tool with logging executed successfully';
  })
  .tool('test_logging_tool', 'Sends a log message', {}, (_, { log }) => {
    log('info', 'Logged');
    return 'Logged';
  })
  .tool('test_tool_with_progress', 'Reports progress', {}, async (_, { progress }) => {
    for (const done of [0, 50, 100]) {
      progress(done, { total: 100 });
      await sleep(50);
    }
    return 'Tool with progress executed successfully';
  })
  .tool('test_reconnection', 'Answers by a stream of events', {}, async (_, { log }) => {
    log('info', 'The stream has started');
    await sleep(100);
    return 'Reconnection test completed';
  })
  .tool('test_trigger_tool_change', 'Adds and removes a tool', {}, () => {
    server.tool('temporary', 'Exists for a moment', {}, () => 'ok');
    server.remove('temporary');
    return 'The list of tools changed';
  });

// Schemas.
server
  .tool(
    'json_schema_2020_12_tool',
    'Tool with JSON Schema 2020-12 features',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    (args) => args,
  )
  .tool(
    'test_header_parameter',
    'Has an argument that a header repeats',
    {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
      required: ['region'],
    },
    (args) => args,
  );

// Requests to the client.
const question = (content: string) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: content } }],
  maxTokens: 100,
});
const askName = ({ elicit }: ToolContext, key: string, message = 'What is your name?') =>
  elicit({ message, requestedSchema: { name: z.string() } }, { key });
const confirm = async ({ elicit }: ToolContext) => {
  const { content } = await elicit({ message: 'Please confirm', requestedSchema: { ok: z.boolean() } });
  return content?.ok === true ? 'state-ok' : 'not confirmed';
};

server
  .tool('test_sampling', 'Asks the model', { prompt: z.string() }, async ({ prompt }, { sample }) => {
    const { content } = await sample(question(prompt));
    return `LLM response: ${'text' in content ? content.text : content.type}`;
  })
  .tool('test_elicitation', 'Asks the user', { message: z.string() }, async ({ message }, { elicit }) => {
    const requestedSchema = {
      username: z.string().describe("User's response"),
      email: z.string().describe("User's email address"),
    };
    return `User response: ${JSON.stringify(await elicit({ message, requestedSchema }))}`;
  })
  .tool('test_elicitation_sep1034_defaults', 'Asks with defaults', {}, async (_, { elicit }) => {
    const requestedSchema = {
      name: z.string().default('John Doe'),
      age: z.int().default(30),
      score: z.number().default(95.5),
      status: z.enum(['active', 'inactive', 'pending']).default('active'),
      verified: z.boolean().default(true),
    };
    const answer = await elicit({ message: 'Check the values', requestedSchema });
    return `Elicitation completed: ${JSON.stringify(answer)}`;
  })
  .tool('test_elicitation_sep1330_enums', 'Asks with choices', {}, async (_, { elicit }) => {
    const options = ['option1', 'option2', 'option3'];
    const titled = [
      { const: 'value1', title: 'First' },
      { const: 'value2', title: 'Second' },
    ];
    const requestedSchema = {
      type: 'object',
      properties: {
        untitledSingle: { type: 'string', enum: options },
        titledSingle: { type: 'string', oneOf: titled },
        legacyEnum: {
          type: 'string',
          enum: ['opt1', 'opt2', 'opt3'],
          enumNames: ['Option One', 'Option Two', 'Option Three'],
        },
        untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
        titledMulti: { type: 'array', items: { anyOf: titled } },
      },
    };
    return `Elicitation completed: ${JSON.stringify(await elicit({ message: 'Choose', requestedSchema }))}`;
  })
  .tool('test_missing_capability', 'Requires sampling', {}, (_, { sample }) => sample(question('Hello')))
  .tool('test_streaming_elicitation', 'Asks the user', {}, (_, ctx) => confirm(ctx));

server
  .tool('test_input_required_result_elicitation', 'Asks for a name', {}, async (_, ctx) => {
    const { content } = await askName(ctx, 'user_name');
    return `Hello, ${content?.name}!`;
  })
  .tool('test_input_required_result_sampling', 'Asks the model', {}, async (_, { sample }) => {
    const { content } = await sample(question('What is the capital of France?'), { key: 'capital_question' });
    return 'text' in content ? content.text : content.type;
  })
  .tool('test_input_required_result_list_roots', 'Asks for roots', {}, (_, { listRoots }) =>
    listRoots({ key: 'client_roots' }),
  )
  .tool('test_input_required_result_request_state', 'Asks to confirm', {}, (_, ctx) => confirm(ctx))
  .tool('test_input_required_result_tampered_state', 'Asks to confirm', {}, (_, ctx) => confirm(ctx))
  .tool('test_input_required_result_multiple_inputs', 'Asks for three inputs', {}, (_, ctx) =>
    Promise.all([
      askName(ctx, 'user_name'),
      ctx.sample(question('Generate a greeting'), { key: 'greeting' }),
      ctx.listRoots({ key: 'client_roots' }),
    ]),
  )
  .tool('test_input_required_result_multi_round', 'Asks twice', {}, async (_, ctx) => {
    const { content: first } = await askName(ctx, 'step1', 'Step 1: What is your name?');
    const message = 'Step 2: What is your favorite color?';
    const { content } = await ctx.elicit(
      { message, requestedSchema: { color: z.string() } },
      { key: 'step2' },
    );
    return `${first?.name} likes ${content?.color}`;
  })
  .tool('test_input_required_result_capabilities', 'Asks what the client supports', {}, (_, ctx) =>
    Promise.all([
      ctx.clientCapabilities?.elicitation && confirm(ctx),
      ctx.clientCapabilities?.sampling && ctx.sample(question('Hello')),
    ]),
  );

await using http = await server.listen();
console.log(http.url);
process.stdin.resume();
await new Promise((resolve) => process.stdin.on('end', resolve));
