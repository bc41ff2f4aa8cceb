import { isAbsolute } from 'node:path';
import { type ContentBlock, type McpServer, RequestError } from '@agentclientprotocol/sdk/unstable';
import type { SDKUserMessage, UserBlock } from '../../protocol/agent-message.ts';
import type { McpServerConfig, Options } from '../../sdk/options/options.ts';

/** The parameters that `session/new`, `session/load`, `session/resume` and `session/fork` share. */
export type SessionParams = {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly McpServer[];
};

/** The options of the agent of one session: those of the command line, and the parameters of the request. */
export function sessionOptions(
  base: Options,
  { cwd, additionalDirectories = [], mcpServers = [] }: SessionParams,
): Options {
  for (const path of [cwd, ...additionalDirectories]) {
    if (!isAbsolute(path)) throw invalidParams(`${JSON.stringify(path)} is not an absolute path`);
  }
  const directories = [...(base.additionalDirectories ?? []), ...additionalDirectories];
  return {
    ...base,
    cwd,
    mcpServers: { ...base.mcpServers, ...serverEntries(mcpServers) },
    ...(directories.length > 0 && { additionalDirectories: directories }),
  };
}

/** The servers of a request as entries of `mcpServers`. */
function serverEntries(servers: readonly McpServer[]): Record<string, McpServerConfig> {
  const entries = new Map<string, McpServerConfig>();
  for (const server of servers) {
    const { name } = server;
    if (name === '') throw invalidParams('an MCP server has no name');
    if (entries.has(name)) throw invalidParams(`two MCP servers have the name ${JSON.stringify(name)}`);
    entries.set(name, serverEntry(server));
  }
  return Object.fromEntries(entries);
}

function serverEntry(server: McpServer): McpServerConfig {
  if (!('type' in server)) {
    const { command, args, env } = server;
    return { type: 'stdio', command, args, env: namedValues(env) };
  }
  const { name, type } = server;
  if (type !== 'http' && type !== 'sse') {
    throw invalidParams(
      `MCP server ${JSON.stringify(name)}: the transport ${type} is not supported; use stdio, http or sse`,
    );
  }
  return { type, url: server.url, headers: namedValues(server.headers) };
}

function namedValues(list: readonly { name: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/**
 * The user message of a prompt. Links stay where they are in the text; the text of embedded resources follows at the end,
 * so that the prompt itself stays readable.
 */
export function promptMessage(prompt: readonly ContentBlock[]): SDKUserMessage {
  const blocks = prompt.map(promptBlock);
  const content = joinCommand([
    ...blocks.flatMap(({ inPlace }) => inPlace),
    ...blocks.flatMap(({ atEnd }) => atEnd ?? []),
  ]);
  if (content.length === 0) throw invalidParams('the prompt is empty');
  return {
    type: 'user',
    session_id: '',
    // The blocks are those of the Messages API.
    message: { role: 'user', content: content as SDKUserMessage['message']['content'] },
    parent_tool_use_id: null,
  };
}

/** Links and resources after a slash command are its arguments: the agent looks for a command in the last text block only. */
function joinCommand(blocks: readonly UserBlock[]): readonly UserBlock[] {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  if (!texts[0]?.startsWith('/')) return blocks;
  return [...blocks.filter(({ type }) => type !== 'text'), textBlock(texts.join('\n'))];
}

type PromptBlock = { readonly inPlace: readonly UserBlock[]; readonly atEnd?: readonly UserBlock[] };

function promptBlock(block: ContentBlock): PromptBlock {
  switch (block.type) {
    case 'text':
      return { inPlace: block.text.trim() === '' ? [] : [textBlock(block.text)] };
    case 'image':
      return { inPlace: [imageBlock(block.data, block.mimeType)] };
    case 'resource_link':
      return { inPlace: [textBlock(link(block.uri, block.name))] };
    case 'resource': {
      const { resource } = block;
      const place = textBlock(link(resource.uri));
      if ('text' in resource) {
        return { inPlace: [place], atEnd: [textBlock(contextText(resource.uri, resource.text))] };
      }
      return { inPlace: [place, blobBlock(resource.uri, resource.blob, resource.mimeType ?? '')] };
    }
    case 'audio':
      throw invalidParams('audio is not supported in prompts');
  }
}

function textBlock(text: string): UserBlock {
  return { type: 'text', text };
}

function imageBlock(data: string, mimeType: string): UserBlock {
  if (!IMAGE_TYPES.has(mimeType)) {
    throw invalidParams(
      `an image of type ${JSON.stringify(mimeType)} is not supported: use ${[...IMAGE_TYPES].join(', ')}`,
    );
  }
  if (!BASE64.test(data)) throw invalidParams('the data of an image is not base64');
  return { type: 'image', source: { type: 'base64', media_type: mimeType, data } };
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Images and PDF files are sent to the model; of other binary files the model gets only the link. */
function blobBlock(uri: string, data: string, mimeType: string): UserBlock {
  if (IMAGE_TYPES.has(mimeType)) return imageBlock(data, mimeType);
  if (mimeType === 'application/pdf' && BASE64.test(data)) {
    return { type: 'document', source: { type: 'base64', media_type: mimeType, data }, title: uri };
  }
  return textBlock(`(${mimeType || 'binary'} content of ${uri} is not shown)`);
}

/** A Markdown link with the name of the file, as editors write a mention. */
function link(uri: string, name = uri.split('/').at(-1) || uri): string {
  return `[@${name}](${uri})`;
}

function contextText(uri: string, text: string): string {
  return `<context ref=${JSON.stringify(uri)}>\n${text}\n</context>`;
}

/** An error of the request's parameters with this text as its message. */
export function invalidParams(message: string): RequestError {
  return new RequestError(-32602, `Invalid params: ${message}`);
}
