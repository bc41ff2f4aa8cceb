// Causes every error once. docs/errors.md shows the messages.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  AgentClient,
  createSdkMcpServer,
  moduleServer,
  type Options,
  query,
  renameSession,
  SdkError,
  type SdkErrorCode,
  type ToolContext,
  tool,
  toolServer,
} from 'toolplane';
import { type AgentScript, scriptAgent } from 'toolplane/testing';
import { z } from 'zod';

/** Throws what a request of a handler to the client throws. */
async function inHandler(
  request: (ctx: ToolContext) => Promise<unknown>,
  options?: { onRequest: () => Record<string, unknown> },
): Promise<void> {
  let failure: unknown;
  const server = toolServer('shop').tool('look', '', {}, (_, ctx) =>
    request(ctx).catch((thrown: unknown) => {
      failure = thrown;
    }),
  );
  await server.call('look', {}, options);
  throw failure;
}

/** One way to cause each error. */
const CAUSES: Record<SdkErrorCode, () => unknown> = {
  'bad-option': () => ask({ canUseTool: 'yes' } as never),
  'unsupported-option': () => ask({ sessionStore: {} } as Options),
  'unsupported-method': async () => {
    const { importSessionToStore } = await import('toolplane');
    (importSessionToStore as unknown as () => void)();
  },
  'unknown-session': () => renameSession('11111111-2222-4333-8444-555555555555', 'A title'),
  'bad-tool': () => tool('', 'A tool without a name', {}, () => 'never'),
  'duplicate-tool': () =>
    toolServer('shop')
      .tool('a b', '', {}, () => 1)
      .tool('a_b', '', {}, () => 2),
  'bad-schema': () => createSdkMcpServer({ name: 'shop', tools: [tool('price', '', z.string(), () => 1)] }),
  'bad-server': () => ask({ mcpServers: { files: { command: '' } } }),
  'missing-capability': () => inHandler((ctx) => ctx.listRoots()),
  'client-request-failed': () => inHandler((ctx) => ctx.listRoots(), { onRequest: () => ({}) }),
  'not-connected': () => toolServer('shop', { channel: true }).channel.send('A parcel has arrived'),
  'unknown-tool': () =>
    toolServer('shop')
      .tool('price', '', {}, () => 1)
      .call('prize'),
  'spawn-failed': () => ask({ pathToClaudeCodeExecutable: '/no/such/claude' }),
  'process-exited': () => ask(nodeAgent("console.error('no license found'); process.exit(3)")),
  'control-failed': () =>
    withClient(
      (agent) => agent.answer('set_model', { error: 'there is no such model' }),
      (client) => client.setModel('no-such-model'),
    ),
  timeout: () =>
    withClient(
      (agent) => agent.agent.take(),
      (client) => client.setModel('slow'),
      { controlTimeoutMs: 20 },
    ),
  closed: () =>
    withClient(
      () => {},
      async (client) => {
        await client.close();
        await client.ask('Are you there?');
      },
    ),
  busy: () =>
    withClient(
      async (agent) => {
        await agent.prompt();
        agent.assistant('Let me think.');
      },
      async (client) => {
        for await (const _ of client.turn('What is the answer?')) await client.ask('And the question?');
      },
    ),
  'line-too-long': () => ask({ ...nodeAgent("console.log('x'.repeat(5000))"), maxLineLength: 1024 }),
  unsendable: () =>
    withClient(
      () => {},
      (client) =>
        client.send({
          type: 'user',
          message: { role: 'user', content: 7n as never },
          parent_tool_use_id: null,
        }),
    ),
  'serve-failed': () => {
    const { command, args = [] } = moduleServer(new URL('./agent.ts', import.meta.url));
    const { stderr } = spawnSync(command, [...process.execArgv, ...args], { encoding: 'utf8' });
    throw new SdkError('serve-failed', stderr.replace(/^toolplane: |\n$/g, ''));
  },
  'script-mismatch': async () => {
    const { link, played } = scriptAgent(async (agent) => {
      await agent.start();
      await agent.answer('interrupt');
    });
    await Promise.allSettled([ask({ link })]);
    await played;
  },
};

for (const [code, run] of Object.entries(CAUSES)) {
  const message = await messageOf(code, run);
  const plain = message.replaceAll(/\S*\/(?=examples\/)/g, '').replaceAll(/"request_id":"[^"]*",/g, '');
  console.log(`${code}: ${plain.replaceAll('\n', ' ')}`);
}

async function messageOf(code: string, run: () => unknown): Promise<string> {
  // #region branch
  try {
    await run();
  } catch (error) {
    if (error instanceof SdkError && error.code === code) return error.message; // never match on the message
    throw error;
  }
  // #endregion
  assert.fail(`nothing failed with ${code}`);
}

async function ask(options: Options): Promise<void> {
  for await (const _ of query({ prompt: 'Hello', options }));
}

/** A process instead of the agent. */
function nodeAgent(code: string): Options {
  return { pathToClaudeCodeExecutable: process.execPath, executableArgs: ['-e', code, '--'] };
}

/** A client of a scripted agent that plays `script` after its start. */
async function withClient(
  script: (agent: AgentScript) => unknown,
  use: (client: AgentClient) => Promise<unknown>,
  options: Options = {},
): Promise<void> {
  const { link } = scriptAgent(async (agent) => {
    await agent.start();
    await script(agent);
  });
  await using client = await AgentClient.open({ ...options, link });
  await use(client);
}
