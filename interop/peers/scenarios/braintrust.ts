import { z } from 'zod';
import { text, toolUse } from '../../../test/support/model-api/model-reply.ts';
import { transcribe } from '../../observe.ts';
import type { Sdk } from '../../program.ts';
import type { Setup } from '../scenario.ts';

export const script = [toolUse('mcp__calc__add', { a: 2, b: 40 }), text('It is 42.')];

/** A span as Braintrust stores it. */
type Span = {
  span_id: string;
  span_parents?: string[];
  span_attributes?: { name?: string; type?: string };
  input?: unknown;
  output?: unknown;
  error?: unknown;
  metadata?: unknown;
  metrics?: object;
};
type Braintrust = {
  wrapClaudeAgentSDK(sdk: Sdk): Sdk;
  initLogger(options: { projectName: string; projectId: string }): unknown;
  _exportsForTestingOnly: {
    setInitialTestState(): void;
    simulateLoginForTests(): Promise<unknown>;
    useTestBackgroundLogger(): { drain(): Promise<Span[]> };
  };
};

/** The wrapper proxies the module, the tools and the query, and records a span for each model reply and tool call. */
export async function run({ load, options }: Setup): Promise<unknown> {
  const {
    wrapClaudeAgentSDK,
    initLogger,
    _exportsForTestingOnly: local,
  } = await load<Braintrust>('braintrust');
  local.setInitialTestState();
  await local.simulateLoginForTests();
  const logger = local.useTestBackgroundLogger();
  initLogger({ projectName: 'interop', projectId: 'interop' });
  const sdk = wrapClaudeAgentSDK(await load<Sdk>('@anthropic-ai/claude-agent-sdk'));
  const add = sdk.tool('add', 'Add two numbers', { a: z.number(), b: z.number() }, async ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }));
  const calc = sdk.createSdkMcpServer({ name: 'calc', tools: [add] });
  const query = sdk.query({
    prompt: 'Add 2 and 40.',
    options: { ...options, mcpServers: { calc }, allowedTools: ['mcp__calc__add'] },
  });
  const seen = await transcribe(query);
  return { seen, spans: outlines(await logger.drain()) };
}

/** The spans in the order of their content, with the name of their parent. */
function outlines(spans: readonly Span[]): unknown[] {
  const nameOf = (id: string | undefined) => spans.find((it) => it.span_id === id)?.span_attributes?.name;
  return spans
    .map(({ span_attributes, span_parents, input, output, error, metadata, metrics }) => ({
      span: span_attributes,
      parent: nameOf(span_parents?.[0]),
      input,
      output,
      error,
      metadata,
      metrics: Object.keys(metrics ?? {}).toSorted(),
    }))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
