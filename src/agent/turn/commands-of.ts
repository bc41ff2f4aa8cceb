import type { Server } from '../../mcp/servers/server.ts';
import type { Session } from '../session/session.ts';
import { type PromptCommand, promptCommands } from './prompt-commands.ts';

type Command = Pick<PromptCommand, 'name' | 'description' | 'argumentHint'>;

/** What commands are gathered from. */
type CommandSource = {
  readonly servers: { readonly all: ReadonlyMap<string, Server> };
  readonly options: Pick<Session['options'], 'note'>;
};

/** Every slash command there is now: the host's own and the prompts of servers. One that has another name than its own is noted once. */
export function commandsOf(session: CommandSource): Command[] {
  const own = [
    { name: 'clear', description: 'Forget the conversation', argumentHint: '' },
    { name: 'compact', description: 'Make the conversation shorter', argumentHint: '[what to keep in mind]' },
  ];
  const commands = promptCommands(session.servers.all);
  noteAliases(session, commands);
  const prompts = Array.from(commands.values(), ({ name, description, argumentHint }) => ({
    name,
    description,
    argumentHint,
  }));
  return [...own, ...prompts];
}

/** Commands are listed again and again. */
const noted = new WeakMap<CommandSource, Set<string>>();

function noteAliases(session: CommandSource, commands: ReadonlyMap<string, PromptCommand>): void {
  const known = noted.get(session) ?? new Set();
  noted.set(session, known);
  for (const { name, wanted, server, prompt } of commands.values()) {
    const holder = commands.get(wanted);
    if (name === wanted || !holder || known.has(name)) continue;
    known.add(name);
    const has = `/${wanted} is the prompt "${holder.prompt.name}" of "${holder.server}"`;
    session.options.note?.(
      `MCP server "${server}": its prompt "${prompt.name}" is the command /${name}, since ${has}`,
    );
  }
}
