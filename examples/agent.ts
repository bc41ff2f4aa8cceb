// The agent of the examples. By default a real agent CLI with a scripted model on loopback: offline, no key.
// With TOOLPLANE_LIVE=1 and ANTHROPIC_API_KEY, the same CLI, or the one in TOOLPLANE_CLI, uses a real model.
import type { Options } from 'toolplane';
import type { Script } from '../test/support/model-api/messages-api.ts';
import { findCli, openCliSandbox } from '../test/support/real-cli.ts';

export { text, together, toolUse } from '../test/support/model-api/model-reply.ts';

/** Whether a real model answers; its text varies, so examples then assert only what tools did. */
export const isLive = process.env.TOOLPLANE_LIVE === '1';

export type Agent = AsyncDisposable & { readonly options: Options };

/** An agent for an example; `script` is the output of the scripted model. Spread `options` into those of a query. */
export async function openAgent(script: Script): Promise<Agent> {
  return isLive ? liveAgent() : scriptedAgent(script);
}

async function scriptedAgent(script: Script): Promise<Agent> {
  const world = await openCliSandbox(script);
  return {
    options: {
      ...ONLY_OUR_TOOLS,
      pathToClaudeCodeExecutable: world.cli,
      env: world.env,
      cwd: world.cwd,
      model: 'claude-sonnet-5',
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

function liveAgent(): Agent {
  if (!process.env.ANTHROPIC_API_KEY) throw new Error('TOOLPLANE_LIVE=1 needs ANTHROPIC_API_KEY');
  return {
    options: {
      ...ONLY_OUR_TOOLS,
      pathToClaudeCodeExecutable: process.env.TOOLPLANE_CLI ?? findCli(),
      maxTurns: 20,
      persistSession: false,
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** No built-in tools and no settings files, so that an example shows only its own tools. */
const ONLY_OUR_TOOLS: Options = { tools: [], settingSources: [], strictMcpConfig: true };
