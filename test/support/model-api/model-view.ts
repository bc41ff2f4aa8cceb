import type { MessagesRequest, RequestBlock, RequestTool } from './messages-request.ts';

/** A tool's result as the model received it, without cache marks. */
export type SeenResult = { id: unknown; isError: boolean; content: unknown };

/** The results that came back for the model's latest tool calls; earlier ones are left out. */
export function toolResults(request: MessagesRequest | undefined): SeenResult[] {
  const messages = request?.messages ?? [];
  const latest = messages.slice(messages.findLastIndex((message) => message.role === 'assistant') + 1);
  return latest.flatMap((message) => blocks(message.content)).flatMap(seen);
}

/** Every text of the latest user turn, in order, reminders the client added included. */
export function latestTexts(request: MessagesRequest | undefined): string[] {
  const messages = request?.messages ?? [];
  const latest = messages.slice(messages.findLastIndex((message) => message.role === 'assistant') + 1);
  return latest
    .filter((message) => message.role === 'user')
    .flatMap((message) => blocks(message.content))
    .flatMap((block) => (typeof block.text === 'string' ? [block.text] : []));
}

/** The tools offered to the model whose names start so, as sent and without cache marks. */
export function offeredTools(request: MessagesRequest | undefined, prefix = 'mcp__'): RequestTool[] {
  const offered = (request?.tools ?? []).filter((tool) => tool.name.startsWith(prefix));
  return offered.map(({ cache_control: _, ...tool }) => tool as RequestTool);
}

function blocks(content: string | readonly RequestBlock[]): readonly RequestBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function seen(block: RequestBlock): SeenResult[] {
  if (block.type !== 'tool_result') return [];
  return [{ id: block.tool_use_id, isError: block.is_error === true, content: block.content }];
}
