import { z } from 'zod';
import { text, toolUse } from '../../../test/support/model-api/model-reply.ts';
import type { Sdk } from '../../program.ts';
import type { Setup } from '../scenario.ts';

export const script = [
  toolUse('mcp__weather__temperature', { location: 'Oslo' }),
  text('It is 7 degrees.'),
  text('It is ', 'still 7 degrees.'),
  toolUse('StructuredOutput', { city: 'Oslo', degrees: 7 }),
  text('A later answer.'),
];

type Output = { text: string; object?: unknown; usage: unknown; finishReason: unknown };
type Stream = {
  fullStream: AsyncIterable<{ type: string; payload?: { text?: string } }>;
  text: Promise<string>;
};
type Agent = {
  generate(prompt: string, options?: object): Promise<Output>;
  stream(prompt: string): Promise<Stream>;
  resumeGenerate(data: object): Promise<Output>;
};
type Mastra = { ClaudeSDKAgent: new (options: object) => Agent };

/** The agent answers by `generate()` with a tool, by `stream()`, with structured output, and continues its session. */
export async function run({ load, options }: Setup): Promise<unknown> {
  const sdk = await load<Sdk>('@anthropic-ai/claude-agent-sdk');
  const { ClaudeSDKAgent } = await load<Mastra>('@mastra/claude');
  const temperature = sdk.tool('temperature', 'The temperature', { location: z.string() }, async () => ({
    content: [{ type: 'text', text: '7 degrees' }],
  }));
  const agent = new ClaudeSDKAgent({
    id: 'weather',
    description: 'Reports the weather.',
    sdkOptions: {
      ...options,
      includePartialMessages: true,
      mcpServers: { weather: sdk.createSdkMcpServer({ name: 'weather', tools: [temperature] }) },
      allowedTools: ['mcp__weather__temperature'],
    },
  });
  const answered = outline(await agent.generate('How warm is it in Oslo?'));
  const streamed = await agent.stream('And now?');
  const chunks: unknown[] = [];
  for await (const { type, payload } of streamed.fullStream) chunks.push([type, payload?.text]);
  const schema = z.object({ city: z.string(), degrees: z.number() });
  const structured = await attempt(agent.generate('As data.', { structuredOutput: { schema } }));
  const resumed = await attempt(agent.resumeGenerate({ message: 'Once more.', continue: true }));
  return { answered, chunks, streamed: await streamed.text, structured, resumed };
}

async function attempt(output: Promise<Output>): Promise<unknown> {
  try {
    return outline(await output);
  } catch (error) {
    return { threw: String(error) };
  }
}

function outline({ text, object, usage, finishReason }: Output): unknown {
  return { text, object, usage, finishReason };
}
