import type { Options, SDKMessage, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import type { Script } from '../test/support/model-api/messages-api.ts';
import type { CliSandbox } from '../test/support/real-cli.ts';

/** The package under test, seen through the official types: the official one, or ours in its place. */
export type Sdk = Pick<
  typeof import('@anthropic-ai/claude-agent-sdk'),
  'query' | 'tool' | 'createSdkMcpServer' | 'AbortError' | 'SYSTEM_PROMPT_DYNAMIC_BOUNDARY'
>;

/** Where a program runs: the path of an agent CLI, a directory, environment variables and a scripted model. */
export type Sandbox = CliSandbox;

/** A module of `programs/` or `mechanisms/`: a user program and the script of its model. */
export interface Program {
  readonly script: Script;
  /** Returns the observations of program and model as plain JSON. */
  run(sdk: Sdk, sandbox: Sandbox): Promise<unknown>;
}

export type Message = SDKMessage;
export type UserMessage = SDKUserMessage;

/** The common options of all programs; without built-in tools, so that only the program's own are listed. */
export function options(sandbox: Sandbox): Options {
  return {
    pathToClaudeCodeExecutable: sandbox.cli,
    env: sandbox.env,
    cwd: sandbox.cwd,
    model: 'claude-sonnet-5',
    settingSources: [],
    tools: [],
  };
}
