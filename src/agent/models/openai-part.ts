import type { OpenAI } from 'openai';
import type { UserBlock } from '../../protocol/agent-message.ts';

/** One part of a user message in a chat completion. */
export type OpenAiPart = OpenAI.ChatCompletionContentPart;

/** The parts that stand for a block; images and files travel as data URLs. */
export function openAiPart(block: UserBlock): OpenAiPart[] {
  if (block.type === 'text') return block.text === '' ? [] : [{ type: 'text', text: block.text }];
  if (block.type === 'image') {
    const url = urlOf(block.source);
    return [url === undefined ? missing(block) : { type: 'image_url', image_url: { url } }];
  }
  if (block.type === 'document') return [documentPart(block)];
  return [];
}

/** A block of a tool's result as text; what cannot be text is named and sent beside it. */
export function textOfBlock(block: UserBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'tool_result') return '';
  const text = block.type === 'document' && inlineText(block.source);
  return typeof text === 'string' ? text : `[${block.type}]`;
}

function documentPart(block: Extract<UserBlock, { type: 'document' }>): OpenAiPart {
  const text = inlineText(block.source);
  if (text !== undefined) return { type: 'text', text };
  const file_data = block.source.type === 'base64' ? urlOf(block.source) : undefined;
  if (file_data === undefined) return missing(block);
  return { type: 'file', file: { filename: block.title ?? 'document.pdf', file_data } };
}

function inlineText(source: Record<string, unknown>): string | undefined {
  return source.type === 'text' && typeof source.data === 'string' ? source.data : undefined;
}

function urlOf(source: Record<string, unknown>): string | undefined {
  if (source.type === 'base64') return `data:${String(source.media_type)};base64,${String(source.data)}`;
  return source.type === 'url' && typeof source.url === 'string' ? source.url : undefined;
}

function missing(block: UserBlock): OpenAiPart {
  return { type: 'text', text: `[${block.type} that this model cannot be sent]` };
}
