import { z } from 'zod';
import { text, toolUse } from '../../../test/support/model-api/model-reply.ts';
import { converse } from '../../conversation.ts';
import { transcribe } from '../../observe.ts';
import type { Sdk } from '../../program.ts';
import type { Setup } from '../scenario.ts';

export const script = [
  toolUse('mcp__calc__add', { a: 2, b: 40 }),
  text('It is 42.'),
  text('Now with another model.'),
];

type Config = { client: object; tracingEnabled: boolean };
type ClientOptions = {
  apiUrl: string;
  apiKey: string;
  autoBatchTracing: boolean;
  fetchImplementation: typeof fetch;
};
type Langsmith = { Client: new (options: ClientOptions) => { awaitPendingTraceBatches(): Promise<unknown> } };
type Wrapper = { wrapClaudeAgentSDK(sdk: Sdk, config: Config): Sdk };

/** A run as LangSmith stores it. */
type Run = {
  id: string;
  name?: string;
  run_type?: string;
  parent_run_id?: string;
  inputs?: unknown;
  outputs?: unknown;
  error?: string;
};

/** The wrapped `query()` records runs, and keeps the control methods of the query. */
export async function run({ load, options }: Setup): Promise<unknown> {
  const runs = new Map<string, Run>();
  const { Client } = await load<Langsmith>('langsmith');
  const client = new Client({
    apiUrl: 'http://127.0.0.1:9',
    apiKey: 'none',
    autoBatchTracing: false,
    fetchImplementation: async (url, init) => {
      const body = JSON.parse(await new Response(init?.body).text()) as Run;
      const id = body.id ?? String(url).split('/').at(-1);
      runs.set(id, { ...runs.get(id), ...body });
      return Response.json({});
    },
  });
  const { wrapClaudeAgentSDK } = await load<Wrapper>('langsmith/experimental/anthropic');
  const official = await load<Sdk>('@anthropic-ai/claude-agent-sdk');
  const sdk = wrapClaudeAgentSDK(official, { client, tracingEnabled: true });
  const add = sdk.tool('add', 'Add two numbers', { a: z.number(), b: z.number() }, async ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }));
  const calc = sdk.createSdkMcpServer({ name: 'calc', tools: [add] });
  const conversation = converse();
  conversation.say('Add 2 and 40.');
  const query = sdk.query({
    prompt: conversation,
    options: { ...options, mcpServers: { calc }, allowedTools: ['mcp__calc__add'] },
  });
  let turns = 0;
  const servers: unknown[] = [];
  const seen = await transcribe(query, async (message) => {
    if (message.type !== 'result') return;
    turns += 1;
    if (turns === 2) return conversation.end();
    servers.push(...(await query.mcpServerStatus()).map(({ name, status }) => ({ name, status })));
    await query.setModel('claude-opus-5');
    conversation.say('Again.');
  });
  await client.awaitPendingTraceBatches();
  return { seen, servers, runs: outlines([...runs.values()]) };
}

/** The runs in the order of their names, with the name of their parent. */
function outlines(runs: readonly Run[]): unknown[] {
  const nameOf = (id: string | undefined) => runs.find((it) => it.id === id)?.name;
  return runs
    .map(({ name, run_type, parent_run_id, inputs, outputs, error }) => ({
      name,
      type: run_type,
      parent: nameOf(parent_run_id),
      inputs: withoutPath(inputs),
      outputs,
      error,
    }))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** The inputs of a query contain its options. */
function withoutPath(inputs: unknown): unknown {
  return JSON.parse(
    JSON.stringify(inputs ?? null, (key, value) =>
      key === 'pathToClaudeCodeExecutable' ? undefined : value,
    ),
  );
}
