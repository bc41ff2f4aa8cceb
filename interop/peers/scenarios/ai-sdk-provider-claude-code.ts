import { z } from 'zod';
import { text, toolUse } from '../../../test/support/model-api/model-reply.ts';
import type { Sdk } from '../../program.ts';
import type { Setup } from '../scenario.ts';

export const script = [
  toolUse('mcp__calc__add', { a: 2, b: 40 }),
  text('It is 42.'),
  toolUse('mcp__calc__add', { a: 3, b: 4 }),
  text('It ', 'is ', '7.'),
  toolUse('StructuredOutput', { sum: 42 }),
];

type Provider = { createClaudeCode(options: object): (model: string, settings?: object) => unknown };
type Generated = { text: string; finishReason: string; usage: unknown; steps: { content: unknown[] }[] };
type Ai = {
  generateText(options: object): Promise<Generated & { output?: unknown }>;
  streamText(options: object): {
    fullStream: AsyncIterable<{ type: string; performance?: unknown; id?: unknown }>;
    text: PromiseLike<string>;
  };
  Output: { object(options: { schema: unknown }): unknown };
};

/** Texts, a stream with a tool call and a permission request, and an object, through the AI SDK. */
export async function run({ load, options, agent, cwd }: Setup): Promise<unknown> {
  const sdk = await load<Sdk>('@anthropic-ai/claude-agent-sdk');
  const { generateText, streamText, Output } = await load<Ai>('ai');
  const { createClaudeCode } = await load<Provider>('ai-sdk-provider-claude-code');
  const add = sdk.tool('add', 'Add two numbers', { a: z.number(), b: z.number() }, async ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }));
  const asked: unknown[] = [];
  const claudeCode = createClaudeCode({
    defaultSettings: {
      ...(agent && { pathToClaudeCodeExecutable: agent }),
      cwd,
      settingSources: options.settingSources,
      tools: options.tools,
      mcpServers: { calc: sdk.createSdkMcpServer({ name: 'calc', tools: [add] }) },
    },
  });
  const allowing = claudeCode('claude-sonnet-5', { allowedTools: ['mcp__calc__add'] });
  const asking = claudeCode('claude-sonnet-5', {
    streamingInput: 'always',
    canUseTool: async (tool: string, input: unknown) => {
      asked.push({ tool, input });
      return { behavior: 'allow', updatedInput: input };
    },
  });
  const generated = await generateText({ model: allowing, prompt: 'Add 2 and 40.' });
  const stream = streamText({ model: asking, prompt: 'Add 3 and 4.' });
  const parts: unknown[] = [];
  for await (const { performance: _, id, ...part } of stream.fullStream) {
    // The ids of texts are random.
    parts.push(part.type.startsWith('text-') ? part : { id, ...part });
  }
  const schema = z.object({ sum: z.number() });
  const object = await generateText({
    model: allowing,
    prompt: 'Add 2 and 40, as data.',
    output: Output.object({ schema }),
  }).catch((error: unknown) => ({ threw: String(error) }));
  return {
    generated: outline(generated),
    asked,
    parts,
    streamed: await stream.text,
    object: 'threw' in object ? object : { ...outline(object), output: object.output },
  };
}

function outline({ text, finishReason, usage, steps }: Generated) {
  return { text, finishReason, usage, content: steps.map(({ content }) => content) };
}
