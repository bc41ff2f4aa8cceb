import type { Command } from 'commander';
import { addAgentFlags, agentOptions } from './agent-flags.ts';
import { startChat } from './chat/start.ts';
import { ExitCode } from './exit-code.ts';

/** `toolplane chat`, and `toolplane` alone: a conversation in the terminal. */
export function defineChat(command: Command): void {
  addAgentFlags(command).action(async (_values: unknown, command: Command) => {
    const code = await startChat(agentOptions(command), process.env);
    if (code !== 0) throw new ExitCode(code);
  });
}
