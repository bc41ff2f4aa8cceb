import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { z } from 'zod';
import { text, toolUse } from '../../../test/support/model-api/model-reply.ts';
import { transcribe } from '../../observe.ts';
import type { Sdk } from '../../program.ts';
import type { Setup } from '../scenario.ts';

export const script = [
  toolUse('mcp__calc__add', { a: 2, b: 40 }),
  toolUse('mcp__calc__add', { a: 1, b: -1 }),
  text('It is 42.'),
];

type Instrumentation = { manuallyInstrument(module: Sdk): Sdk };
type Instrumentations = {
  ClaudeAgentSDKInstrumentation: new (options: { tracerProvider: BasicTracerProvider }) => Instrumentation;
};

/** The instrumentation wraps `query()`, adds its hooks and records a span for the query and for each tool call. */
export async function run({ load, options }: Setup): Promise<unknown> {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const { ClaudeAgentSDKInstrumentation } = await load<Instrumentations>(
    '@arizeai/openinference-instrumentation-claude-agent-sdk',
  );
  const instrumentation = new ClaudeAgentSDKInstrumentation({ tracerProvider });
  const sdk = instrumentation.manuallyInstrument(await load<Sdk>('@anthropic-ai/claude-agent-sdk'));
  const add = sdk.tool('add', 'Add two numbers', { a: z.number(), b: z.number() }, async ({ a, b }) => {
    if (b < 0) throw new Error('no negative numbers');
    return { content: [{ type: 'text', text: String(a + b) }] };
  });
  const calc = sdk.createSdkMcpServer({ name: 'calc', tools: [add] });
  const query = sdk.query({
    prompt: 'Add 2 and 40.',
    options: { ...options, mcpServers: { calc }, allowedTools: ['mcp__calc__add'] },
  });
  const seen = await transcribe(query);
  return { seen, spans: exporter.getFinishedSpans().map(outlineOfSpan) };
}

function outlineOfSpan({ name, attributes, status, events }: ReadableSpan): unknown {
  return { name, attributes, status, events: events.map((event) => event.name) };
}
