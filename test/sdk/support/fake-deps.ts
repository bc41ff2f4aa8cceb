import type { SDKMessage } from '../../../src/protocol/agent-message.ts';
import { SdkError } from '../../../src/protocol/sdk-error.ts';
import { type AgentClient, createAgentClient } from '../../../src/sdk/agent-client.ts';
import type { SdkDeps } from '../../../src/sdk/conversation/conversation.ts';
import type { Environment } from '../../../src/sdk/options/launch-flags.ts';
import { splitServers } from '../../../src/sdk/options/mcp-servers.ts';
import type { McpServerConfig, Options } from '../../../src/sdk/options/options.ts';
import { createQuery } from '../../../src/sdk/query.ts';
import type { Prompt, Query } from '../../../src/sdk/query-interface.ts';
import { type AgentScript, scriptAgent } from '../../../src/sdk/testing/agent-script.ts';
import type { SdkServerEntry } from '../../../src/tool-server/sdk-server.ts';
import { collect } from '../../support/collect.ts';

/** Dependencies with an empty environment that record warnings and frames. */
export type FakeWorld = SdkDeps & {
  readonly warnings: { code: string; message: string }[];
  readonly printed: string[];
};

export function fakeDeps(environment: Environment = {}, more: Partial<SdkDeps> = {}): FakeWorld {
  const warnings: { code: string; message: string }[] = [];
  const printed: string[] = [];
  return {
    version: '9.9.9',
    debug: false,
    environment: () => ({ ...environment }),
    openDefault: () => {
      throw new SdkError('spawn-failed', 'there is no default agent in tests');
    },
    warn: (warning) => void warnings.push(warning),
    print: (line) => void printed.push(line),
    ...more,
    warnings,
    printed,
  };
}

/** A query with a scripted agent at its other end. */
export type Played = {
  readonly query: Query;
  readonly script: AgentScript;
  readonly world: FakeWorld;
  /** Settles when the script has ended; rejects with its first failure. */
  readonly played: Promise<void>;
};

export function playQuery(
  play: (agent: AgentScript) => Promise<void>,
  options: Options = {},
  prompt: Prompt = 'hello',
  deps: FakeWorld = fakeDeps(),
): Played {
  const agent = scriptAgent(play);
  const query = createQuery(deps).query({ prompt, options: { link: agent.link, ...options } });
  return { query, script: agent.script, world: deps, played: agent.played };
}

/** Runs a query to its end; returns its messages, the script and the dependencies. */
export async function playThrough(
  play: (agent: AgentScript) => Promise<void>,
  options: Options = {},
  prompt: Prompt = 'hello',
): Promise<{ messages: SDKMessage[]; script: AgentScript; world: FakeWorld }> {
  const { query, script, world: deps, played } = playQuery(play, options, prompt);
  const messages = await collect(query);
  await played;
  return { messages, script, world: deps };
}

/** The entry of an in-process server after the options were parsed. */
export function entryOf(server: McpServerConfig): SdkServerEntry {
  return splitServers({ server }).sdk.get('server') as SdkServerEntry;
}

/** A script for one turn: answers `initialize`, receives the prompt, runs `during` and sends the result. */
export function turn(during: (agent: AgentScript) => Promise<void> = async () => {}) {
  return async (agent: AgentScript): Promise<void> => {
    await agent.start();
    await agent.prompt();
    await during(agent);
    agent.result('done');
  };
}

/** A client with a scripted agent at its other end. */
export async function playClient(
  play: (agent: AgentScript) => Promise<void>,
  options: Options = {},
): Promise<{ client: AgentClient; script: AgentScript; played: Promise<void> }> {
  const agent = scriptAgent(play);
  const client = await createAgentClient(fakeDeps())({ link: agent.link, ...options });
  return { client, script: agent.script, played: agent.played };
}
