import type { Options, SDKMessage, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import type { Script } from '../test/support/model-api/messages-api.ts';
import type { CliSandbox } from '../test/support/real-cli.ts';

/** The package under test, seen through the official types: the official one, or ours in its place. */
export type Sdk = Pick<
  typeof import('@anthropic-ai/claude-agent-sdk'),
  'query' | 'tool' | 'createSdkMcpServer' | 'AbortError'
>;

/** Where a program runs: a real agent CLI with a scripted model. */
export type World = CliSandbox;

/** A module of `programs/`: what a user would write, and what the model says to it. */
export interface Program {
  readonly script: Script;
  /** Returns what can be seen from both ends, as plain JSON. */
  run(sdk: Sdk, world: World): Promise<unknown>;
}

export type Message = SDKMessage;
export type UserMessage = SDKUserMessage;

/** What every program passes to `query()`; no built-in tools, so that only the program's own are seen. */
export function options(world: World): Options {
  return {
    pathToClaudeCodeExecutable: world.cli,
    env: world.env,
    cwd: world.cwd,
    model: 'claude-sonnet-5',
    settingSources: [],
    tools: [],
  };
}
