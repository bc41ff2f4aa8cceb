import { latestTexts, offeredTools, toolResults } from '../test/support/model-api/model-view.ts';
import type { Message, Sandbox } from './program.ts';

/** The messages of a query up to its end or its error. */
export type Transcript = { messages: unknown[]; threw?: unknown };

/** Reads a query to its end; `react` may act on a message before the next one is taken. */
export async function transcribe(
  messages: AsyncIterable<Message>,
  react: (message: Message) => unknown = () => {},
): Promise<Transcript> {
  const seen: unknown[] = [];
  try {
    for await (const message of messages) {
      seen.push(outline(message));
      await react(message);
    }
    return { messages: seen };
  } catch (error) {
    return { messages: seen, threw: describeError(error) };
  }
}

/** The model requests: tool names, user texts and tool results. */
export function modelSide(sandbox: Sandbox): unknown[] {
  return sandbox.api.requests.map((request) => ({
    tools: offeredTools(request).map((tool) => tool.name),
    // The CLI adds a line end to a text that another user message follows.
    said: latestTexts(request).map((text) => text.replace(/\n$/, '')),
    results: toolResults(request),
  }));
}

/** The part of an error that a caller can rely on; class names are minified in the official package. */
export function describeError(error: unknown): { isError: boolean; message: string } {
  const isError = error instanceof Error;
  return { isError, message: isError ? error.message : String(error) };
}

/** A message without what only the CLI's version decides. */
export function outline(message: Message): unknown {
  if (message.type === 'assistant') {
    const { content, model } = message.message;
    const error = message.error && { error: message.error, model };
    return { type: 'assistant', content, ...error, ...pick(message, ['timestamp', 'request_id']) };
  }
  if (message.type === 'user') {
    const { content } = message.message;
    return {
      type: 'user',
      content,
      ...pick(message, USER_MEMBERS),
    };
  }
  if (message.type === 'stream_event') return { type: 'stream_event', event: message.event };
  if (message.type === 'result') {
    return pick(message, [
      'type',
      'subtype',
      'is_error',
      'result',
      'structured_output',
      'num_turns',
      'result_index',
      'queued_turn_count',
      'fast_mode_state',
      ...WHY_IT_ENDED,
    ]);
  }
  if (message.type === 'system' && message.subtype === 'init') {
    return pick(message, ['type', 'subtype', 'model', 'permissionMode', 'tools', 'mcp_servers']);
  }
  return message;
}

const USER_MEMBERS = ['tool_use_result', 'isSynthetic', 'refused_message_id', 'timestamp'];
const WHY_IT_ENDED = ['stop_reason', 'terminal_reason', 'api_error_status', 'permission_denials', 'errors'];

function pick(from: object, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)));
}
