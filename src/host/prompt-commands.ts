import { isRecord } from '../base/is-record.ts';
import type { UserBlock } from '../protocol/agent-message.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import { normalizeName } from '../protocol/tool-name.ts';
import type { Prompt } from './discover/list-prompts.ts';
import type { Server } from './servers/server.ts';

/** A slash command that stands for a prompt of a server. */
export type PromptCommand = {
  readonly name: string;
  readonly description: string;
  readonly argumentHint: string;
  readonly server: string;
  readonly prompt: Prompt;
};

/** `mcp__server__prompt` for every prompt there is. */
export function promptCommands(servers: ReadonlyMap<string, Server>): PromptCommand[] {
  return [...servers].flatMap(([server, { state }]) =>
    (state.kind === 'connected' ? state.prompts : []).map((prompt) => ({
      name: `mcp__${normalizeName(server)}__${normalizeName(prompt.name)}`,
      description: prompt.description,
      argumentHint: prompt.arguments
        .map(({ name, required }) => (required ? `<${name}>` : `[${name}]`))
        .join(' '),
      server,
      prompt,
    })),
  );
}

/** What a command became: a prompt for the model, or a word to the user about what is wrong with it. */
export type Expanded = { readonly blocks: readonly UserBlock[] } | { readonly fault: string };

/** The words of `/mcp__server__prompt one "two words"` filled into the prompt; undefined if it is no such command. */
export async function expandCommand(
  text: string,
  servers: ReadonlyMap<string, Server>,
  signal: AbortSignal,
): Promise<Expanded | undefined> {
  const [, name, rest = ''] = /^\/(\S+)\s*(.*)$/s.exec(text.trim()) ?? [];
  const command = promptCommands(servers).find((it) => it.name === name);
  const state = command && servers.get(command.server)?.state;
  if (!command || state?.kind !== 'connected') return undefined;
  const words = [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const names = command.prompt.arguments.map((it) => it.name);
  // What is over belongs to the last argument, so that a sentence needs no quotes.
  const values = names.map((_, at) => (at === names.length - 1 ? words.slice(at).join(' ') : words[at]));
  const given = names.flatMap((it, at) => (values[at] ? [[it, values[at]] as const] : []));
  const missing = command.prompt.arguments.find(({ required }, at) => required && !values[at]);
  if (missing) {
    return { fault: `/${command.name} needs <${missing.name}>: /${command.name} ${command.argumentHint}` };
  }
  try {
    const params = { name: command.prompt.name, arguments: Object.fromEntries(given) };
    return { blocks: blocksOf(await state.connection.ask('prompts/get', params, { signal }), command) };
  } catch (cause) {
    return {
      fault: `The prompt ${command.prompt.name} of ${command.server} could not be had: ${messageOf(cause)}`,
    };
  }
}

function blocksOf(answer: unknown, { name }: PromptCommand): UserBlock[] {
  const messages: unknown[] = isRecord(answer) && Array.isArray(answer.messages) ? answer.messages : [];
  const blocks = messages.flatMap((message): UserBlock[] => {
    const content: unknown = isRecord(message) ? message.content : undefined;
    if (!isRecord(content)) return [];
    if (content.type === 'text') return [{ type: 'text', text: String(content.text) }];
    const resource: unknown = content.resource;
    if (isRecord(resource) && typeof resource.text === 'string')
      return [{ type: 'text', text: resource.text }];
    return [{ type: 'text', text: `[${String(content.type)} content]` }];
  });
  return blocks.length > 0 ? blocks : [{ type: 'text', text: `(/${name} gave nothing)` }];
}
