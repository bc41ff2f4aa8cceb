import type { Prompt } from '../../mcp/discovery/list-entries.ts';
import type { PromptMessage } from '../../mcp/features/feature-results.ts';
import type { Server } from '../../mcp/servers/server-status.ts';
import { aliasOf, compareUnits } from '../../pool/unique-names.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { mcpToolName } from '../../protocol/tool-name.ts';
import type { SessionContext } from '../calls/call-context.ts';
import { resultSource } from '../results/result-files.ts';
import { toModel } from '../results/to-model.ts';
import type { Session } from '../session/session.ts';
import type { SlashCommand } from '../skills/skills.ts';

/** A slash command for a prompt of a server. */
type PromptCommand = {
  readonly name: string;
  /** The name of the command if no other command has the same name. */
  readonly preferredName: string;
  readonly description: string;
  readonly argumentHint: string;
  readonly server: string;
  readonly prompt: Prompt;
};

/** The commands for all prompts, by name: `mcp__server__prompt`, or an alias if another prompt has that name. */
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

/** On a collision the first prompt, by server key and then by prompt name, keeps the name, as for tools in the pool. */
function namesOf(all: readonly NamedPrompt[]): Map<NamedPrompt, string> {
  const names = new Map<NamedPrompt, string>();
  const taken = new Map<string, NamedPrompt>();
  const assign = (it: NamedPrompt, name: string) => {
    names.set(it, name);
    taken.set(name, it);
  };
  const sorted = all.toSorted(
    (a, b) => compareUnits(a.server, b.server) || compareUnits(a.prompt.name, b.prompt.name),
  );
  // All preferred names are assigned before any alias, so that an alias never takes one.
  for (const it of sorted) if (!taken.has(it.preferredName)) assign(it, it.preferredName);
  for (const it of sorted) {
    const origin = { kind: 'mcp', server: it.server, tool: it.prompt.name } as const;
    if (!names.has(it)) assign(it, aliasOf(it.preferredName, origin, Number.POSITIVE_INFINITY, taken));
  }
  return names;
}

function hintOf(prompt: Prompt): string {
  return prompt.arguments.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(' ');
}

/** The prompt for the model, or why the command cannot be used. */
type Expanded = { readonly blocks: readonly UserBlock[] } | { readonly fault: string };

type CommandDeps = Pick<SessionContext, 'results'> & {
  readonly servers: { readonly all: ReadonlyMap<string, Server> };
  readonly features: Pick<SessionContext['features'], 'getPrompt'>;
  readonly builtIns: readonly { readonly listed: { readonly name: string } }[];
};

/** Expands `/mcp__server__prompt one "two parts"` to its prompt; undefined if the text is not such a command. */
export async function expandCommand(
  text: string,
  deps: CommandDeps,
  signal: AbortSignal,
): Promise<Expanded | undefined> {
  const [, name, rest = ''] = /^\/(\S+)\s*(.*)$/s.exec(text.trim()) ?? [];
  const command = name === undefined ? undefined : promptCommands(deps.servers.all).get(name);
  if (!command) return undefined;
  const parts = [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const names = command.prompt.arguments.map((it) => it.name);
  // The last argument takes all remaining parts, so that a sentence needs no quotes.
  const values = names.map((_, at) => (at === names.length - 1 ? parts.slice(at).join(' ') : parts[at]));
  const given = names.flatMap((it, at) => (values[at] ? [[it, values[at]] as const] : []));
  const missing = command.prompt.arguments.find(({ required }, at) => required && !values[at]);
  if (missing) {
    return {
      fault: `/${command.name} requires the argument <${missing.name}>; usage: /${command.name} ${command.argumentHint}`,
    };
  }
  const { server, prompt } = command;
  try {
    const { messages } = await deps.features.getPrompt(server, prompt.name, Object.fromEntries(given), {
      signal,
    });
    return { blocks: await promptBlocks(messages, command, deps, signal) };
  } catch (cause) {
    return { fault: `The prompt ${prompt.name} of ${server} could not be read: ${messageOf(cause)}` };
  }
}

/** All messages of a prompt as one user message; images and binary data are handled like those of tool results. */
async function promptBlocks(
  messages: readonly PromptMessage[],
  { name, server }: PromptCommand,
  { results, builtIns }: CommandDeps,
  signal: AbortSignal,
): Promise<UserBlock[]> {
  if (messages.length === 0) return [{ type: 'text', text: `(/${name} returned no messages)` }];
  const canUse = (tool: string) => builtIns.some(({ listed }) => listed.name === tool);
  const source = resultSource({ ...results, canUse }, { name: `/${name}`, server });
  const { content } = await toModel({ content: withSpeakers(messages) }, source, signal);
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** Adds a line before each change of the speaker. */
function withSpeakers(messages: readonly PromptMessage[]): unknown[] {
  let speaker: PromptMessage['role'] = 'user';
  return messages.flatMap(({ role, content }) => {
    const hasChanged = role !== speaker;
    speaker = role;
    return hasChanged ? [{ type: 'text', text: `[${role}:]` }, content] : [content];
  });
}

type CommandSource = {
  readonly skills?: { readonly commands: readonly SlashCommand[] };
  readonly servers: { readonly all: ReadonlyMap<string, Server> };
  readonly options: Pick<Session['options'], 'note'>;
};

/** All slash commands: those of the host, of files, and the prompts of servers. Reports each alias once. */
export function listCommands(session: CommandSource): SlashCommand[] {
  const hostCommands = [
    { name: 'clear', description: 'Clear the conversation', argumentHint: '' },
    { name: 'compact', description: 'Compact the conversation', argumentHint: '[what to keep]' },
  ];
  const commands = promptCommands(session.servers.all);
  reportAliases(session, commands);
  const prompts = Array.from(commands.values(), ({ name, description, argumentHint }) => ({
    name,
    description,
    argumentHint,
  }));
  return [...hostCommands, ...(session.skills?.commands ?? []), ...prompts];
}

/** Identifies a list of commands. */
export function commandNames(commands: readonly Pick<SlashCommand, 'name'>[]): string {
  return commands.map(({ name }) => name).join();
}

const reportedAliases = new WeakMap<CommandSource, Set<string>>();

function reportAliases(session: CommandSource, commands: ReadonlyMap<string, PromptCommand>): void {
  const known = reportedAliases.get(session) ?? new Set();
  reportedAliases.set(session, known);
  for (const { name, preferredName, server, prompt } of commands.values()) {
    const holder = commands.get(preferredName);
    if (name === preferredName || !holder || known.has(name)) continue;
    known.add(name);
    const taken = `/${preferredName} is the prompt "${holder.prompt.name}" of "${holder.server}"`;
    session.options.note?.(
      `MCP server "${server}": prompt "${prompt.name}" is available as /${name}, because ${taken}`,
    );
  }
}
