import type { Command } from 'commander';
import { addAgentFlags, agentOptions } from './agent-flags.ts';
import { ExitCode } from './exit-code.ts';

/** `toolplane chat`, and `toolplane` alone: a conversation in the terminal. */
export function addChat(program: Command): void {
  addAgentFlags(program.command('chat'))
    .description('Talk to an agent in the terminal; the same as no command.')
    .action(async (_values: unknown, command: Command) => {
      const { startChat } = await import('./chat/start.ts');
      const code = await startChat(agentOptions(command), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}
