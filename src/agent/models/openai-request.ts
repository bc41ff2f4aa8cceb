import type { OpenAI } from 'openai';
import type { ModelBlock, UserBlock } from '../../protocol/agent-message.ts';
import type { ModelMessage, ModelRequest } from './model.ts';
import { type OpenAiPart, openAiPart, textOfBlock } from './openai-part.ts';
import { sendable } from './sendable.ts';

type Params = OpenAI.ChatCompletionCreateParamsStreaming;
type Message = OpenAI.ChatCompletionMessageParam;
type ToolResult = Extract<UserBlock, { type: 'tool_result' }>;
type ToolUse = Extract<ModelBlock, { type: 'tool_use' }>;

/** How an endpoint wants to be told the longest reply: OpenAI by the new name, most others by the old one. */
export type MaxTokensField = 'max_tokens' | 'max_completion_tokens';

/** The body of a chat completion; thinking and cache breakpoints have no counterpart there and are left out. */
export function openAiParams(given: ModelRequest, maxTokensField: MaxTokensField): Params {
  const request = sendable(given);
  const system: Message[] = request.system === '' ? [] : [{ role: 'system', content: request.system }];
  return {
    model: request.model,
    stream: true,
    stream_options: { include_usage: true },
    [maxTokensField]: request.maxTokens,
    messages: [...system, ...request.messages.flatMap(openAiMessages)],
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, input_schema }) => ({
        type: 'function' as const,
        function: { name, description, parameters: { ...input_schema } },
      })),
    }),
  };
}

function openAiMessages(message: ModelMessage): Message[] {
  return message.role === 'assistant' ? assistantMessage(message.content) : userMessages(message.content);
}

function assistantMessage(blocks: readonly ModelBlock[]): Message[] {
  const content = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const calls = blocks.filter((block): block is ToolUse => block.type === 'tool_use');
  if (content === '' && calls.length === 0) return [];
  const tool_calls = calls.map(({ id, name, input }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(input ?? {}) },
  }));
  return [{ role: 'assistant', content: content || null, ...(calls.length > 0 && { tool_calls }) }];
}

/** Results come first: every call has to be answered before anything else is said. */
function userMessages(blocks: readonly UserBlock[]): Message[] {
  const results = blocks.filter((block): block is ToolResult => block.type === 'tool_result');
  const said = blocks.filter((block) => block.type !== 'tool_result').flatMap(openAiPart);
  const parts = [...results.flatMap(shownByTool), ...said];
  return [...results.map(toolMessage), ...(parts.length > 0 ? [userMessage(parts)] : [])];
}

function userMessage(parts: readonly OpenAiPart[]): Message {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  // Small endpoints know only plain text; what is nothing else is sent so.
  return { role: 'user', content: texts.length === parts.length ? texts.join('\n\n') : [...parts] };
}

function toolMessage({ tool_use_id, content, is_error }: ToolResult): Message {
  const text = typeof content === 'string' ? content : (content ?? []).map(textOfBlock).join('\n');
  const shown = text === '' ? '(no output)' : text;
  return { role: 'tool', tool_call_id: tool_use_id, content: is_error ? `Error: ${shown}` : shown };
}

/** A tool message holds text only, so what a tool showed follows in the user's name. */
function shownByTool({ tool_use_id, content }: ToolResult): OpenAiPart[] {
  if (content === undefined || typeof content === 'string') return [];
  const shown = content.flatMap(openAiPart).filter((part) => part.type !== 'text');
  if (shown.length === 0) return [];
  return [{ type: 'text', text: `Attached to the result of tool call ${tool_use_id}:` }, ...shown];
}
