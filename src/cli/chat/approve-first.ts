import { readConfiguration } from '../../config/configuration.ts';
import type { Options } from '../../sdk/options/options.ts';
import { cliWorld } from '../host/config-world.ts';
import { allPending } from '../mcp/approve/pending.ts';
import { startApprove } from '../mcp/approve/start.ts';
import { processTerminal } from './terminal.ts';

/** Asks the person about what the project wants started, before anything of it counts; a number ends the chat with it. */
export async function approveFirst(options: Options, env: NodeJS.ProcessEnv): Promise<number | undefined> {
  // Another agent has files of its own.
  if (options.pathToClaudeCodeExecutable !== undefined || !processTerminal(env).isInteractive)
    return undefined;
  if (options.strictMcpConfig) return undefined;
  const { settingSources: scopes } = options;
  const configuration = await readConfiguration(cliWorld(env), scopes ? { scopes } : {});
  if (allPending(configuration).length === 0) return undefined;
  const code = await startApprove(
    { names: [], choice: 'approved', all: false, settings: false, trust: false },
    'text',
    env,
  );
  // Whoever only does not want to decide now wants to talk all the same.
  return code > 128 ? code : undefined;
}
