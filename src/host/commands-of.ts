import { promptCommands } from './prompt-commands.ts';
import type { Session } from './session.ts';

/** Every slash command there is now: the host's own and the prompts of servers. */
export function commandsOf(session: Session): { name: string; description: string; argumentHint: string }[] {
  const own = [
    { name: 'clear', description: 'Forget the conversation', argumentHint: '' },
    { name: 'compact', description: 'Make the conversation shorter', argumentHint: '[what to keep in mind]' },
  ];
  const prompts = promptCommands(session.servers.all).map(({ name, description, argumentHint }) => ({
    name,
    description,
    argumentHint,
  }));
  return [...own, ...prompts];
}
