import type { Prompt } from '../../mcp/discovery/prompt.ts';
import type { PromptMessage } from '../../mcp/features/feature-results.ts';
import type { Server } from '../../mcp/servers/server-status.ts';
import { aliasOf } from '../../pool/alias.ts';
import { compareUnits } from '../../pool/assemble.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { mcpToolName } from '../../protocol/tool-name.ts';
import type { SessionContext } from '../calls/call-context.ts';
import { resultSource } from '../results/result-store.ts';
import { toModel } from '../results/to-model.ts';
import type { Session } from '../session/session.ts';

/** A slash command that stands for a prompt of a server. */
type PromptCommand = {
  readonly name: string;
  /** The name it would have if no other had it. */
  readonly preferredName: string;
  readonly description: string;
  readonly argumentHint: string;
  readonly server: string;
  readonly prompt: Prompt;
};

/** A command for every prompt there is, by name: `mcp__server__prompt`, or an alias where another prompt has that name. */
export function promptCommands(servers: ReadonlyMap<string, Server>): ReadonlyMap<string, PromptCommand> {
  const all = [...servers].flatMap(([server, { state }]) =>
    (state.kind === 'connected' ? state.prompts : []).map((prompt) => ({
      preferredName: mcpToolName(server, prompt.name),
      server,
      prompt,
    })),
  );
  const names = namesOf(all);
  return new Map(
    all.map((it) => {
      const name = names.get(it) ?? it.preferredName;
      const { description } = it.prompt;
      return [name, { ...it, name, description, argumentHint: hintOf(it.prompt) }];
    }),
  );
}

type NamedPrompt = Pick<PromptCommand, 'preferredName' | 'server' | 'prompt'>;

/** Names are given as the pool gives them to tools: the first by the key of its server, then by its own name, has it. */
function namesOf(all: readonly NamedPrompt[]): Map<NamedPrompt, string> {
  const names = new Map<NamedPrompt, string>();
  const taken = new Map<string, NamedPrompt>();
  const give = (it: NamedPrompt, name: string) => {
    names.set(it, name);
    taken.set(name, it);
  };
  const sorted = all.toSorted(
    (a, b) => compareUnits(a.server, b.server) || compareUnits(a.prompt.name, b.prompt.name),
  );
  // Natural names are all given before any alias, so that an alias never takes one.
  for (const it of sorted) if (!taken.has(it.preferredName)) give(it, it.preferredName);
  for (const it of sorted) {
    const origin = { kind: 'mcp', server: it.server, tool: it.prompt.name } as const;
    if (!names.has(it)) give(it, aliasOf(it.preferredName, origin, Number.POSITIVE_INFINITY, taken));
  }
  return names;
}

function hintOf(prompt: Prompt): string {
  return prompt.arguments.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(' ');
}

/** What a command became: a prompt for the model, or a word to the user about what is wrong with it. */
type Expanded = { readonly blocks: readonly UserBlock[] } | { readonly fault: string };

/** What commands are made of. */
type CommandWorld = Pick<SessionContext, 'results'> & {
  readonly servers: { readonly all: ReadonlyMap<string, Server> };
  readonly features: Pick<SessionContext['features'], 'getPrompt'>;
  readonly builtIns: readonly { readonly listed: { readonly name: string } }[];
};

/** The words of `/mcp__server__prompt one "two words"` filled into the prompt; undefined if it is no such command. */
export async function expandCommand(
  text: string,
  world: CommandWorld,
  signal: AbortSignal,
): Promise<Expanded | undefined> {
  const [, name, rest = ''] = /^\/(\S+)\s*(.*)$/s.exec(text.trim()) ?? [];
  const command = name === undefined ? undefined : promptCommands(world.servers.all).get(name);
  if (!command) return undefined;
  const words = [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const names = command.prompt.arguments.map((it) => it.name);
  // What is over belongs to the last argument, so that a sentence needs no quotes.
  const values = names.map((_, at) => (at === names.length - 1 ? words.slice(at).join(' ') : words[at]));
  const given = names.flatMap((it, at) => (values[at] ? [[it, values[at]] as const] : []));
  const missing = command.prompt.arguments.find(({ required }, at) => required && !values[at]);
  if (missing) {
    return { fault: `/${command.name} needs <${missing.name}>: /${command.name} ${command.argumentHint}` };
  }
  const { server, prompt } = command;
  try {
    const { messages } = await world.features.getPrompt(server, prompt.name, Object.fromEntries(given), {
      signal,
    });
    return { blocks: await promptBlocks(messages, command, world, signal) };
  } catch (cause) {
    return { fault: `The prompt ${prompt.name} of ${server} could not be had: ${messageOf(cause)}` };
  }
}

/** All a prompt says as one message of the user's; pictures are shown, other data goes to files, as of results. */
async function promptBlocks(
  messages: readonly PromptMessage[],
  { name, server }: PromptCommand,
  { results, builtIns }: CommandWorld,
  signal: AbortSignal,
): Promise<UserBlock[]> {
  if (messages.length === 0) return [{ type: 'text', text: `(/${name} gave nothing)` }];
  const canUse = (tool: string) => builtIns.some(({ listed }) => listed.name === tool);
  const source = resultSource({ ...results, canUse }, { name: `/${name}`, server });
  const { content } = await toModel({ content: withSpeakers(messages) }, source, signal);
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** Who says what is written between the messages, unless it is all the user. */
function withSpeakers(messages: readonly PromptMessage[]): unknown[] {
  let speaker: PromptMessage['role'] = 'user';
  return messages.flatMap(({ role, content }) => {
    const hasChanged = role !== speaker;
    speaker = role;
    return hasChanged ? [{ type: 'text', text: `[The ${role} says:]` }, content] : [content];
  });
}

type Command = Pick<PromptCommand, 'name' | 'description' | 'argumentHint'>;

/** What commands are gathered from. */
type CommandSource = {
  readonly servers: { readonly all: ReadonlyMap<string, Server> };
  readonly options: Pick<Session['options'], 'note'>;
};

/** Every slash command there is now: the host's own and the prompts of servers. One that has another name than its own is noted once. */
export function listCommands(session: CommandSource): Command[] {
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
  for (const { name, preferredName: wanted, server, prompt } of commands.values()) {
    const holder = commands.get(wanted);
    if (name === wanted || !holder || known.has(name)) continue;
    known.add(name);
    const has = `/${wanted} is the prompt "${holder.prompt.name}" of "${holder.server}"`;
    session.options.note?.(
      `MCP server "${server}": its prompt "${prompt.name}" is the command /${name}, since ${has}`,
    );
  }
}
