import { textTokens } from '../../base/text-tokens.ts';
import { definitionTokens } from '../../pool/price.ts';
import type { ModelBlock, UserBlock } from '../../protocol/agent-message.ts';
import type { ModelMessage, ModelTool } from '../models/model.ts';
import { IMAGE_TOKENS } from '../results/limit.ts';

export { textTokens };

/** JSON is denser: its punctuation is tokens too. */
const BYTES_OF_JSON = 3;
/** A page of a document, and about how many bytes one has. */
const PAGE = 2_000;
const BYTES_OF_PAGE = 50_000;
/** Roles, ids and the like around each message and block. */
const FRAME = 4;

/** About how many tokens a request takes: cheap, the same every time, and no substitute for what the model counted. */
export function estimateTokens(request: {
  readonly system?: string;
  readonly tools?: readonly ModelTool[];
  readonly messages?: readonly ModelMessage[];
}): number {
  const { system = '', tools = [], messages = [] } = request;
  return textTokens(system) + sum(tools, toolTokens) + sum(messages, messageTokens);
}

export function toolTokens({ name, description, input_schema }: ModelTool): number {
  return definitionTokens(name, description, input_schema);
}

export function messageTokens(message: ModelMessage): number {
  return FRAME + sum<ModelBlock | UserBlock>(message.content, blockTokens);
}

/** Kinds of blocks we do not know are taken for what their JSON is long. */
export function blockTokens(block: ModelBlock | UserBlock): number {
  switch (block.type) {
    case 'text':
      return textTokens(block.text);
    case 'thinking':
      return FRAME + textTokens(block.thinking);
    case 'tool_use':
      return FRAME + textTokens(block.name) + jsonTokens(block.input);
    case 'tool_result': {
      const { content = '' } = block;
      return FRAME + (typeof content === 'string' ? textTokens(content) : sum(content, blockTokens));
    }
    case 'image':
      return IMAGE_TOKENS;
    case 'document':
      return documentTokens(block.source);
    default:
      return jsonTokens(block);
  }
}

function documentTokens({ type, data }: Record<string, unknown>): number {
  if (typeof data !== 'string') return PAGE;
  if (type === 'text') return textTokens(data);
  const bytes = (data.length * 3) / 4;
  return PAGE * Math.max(1, Math.ceil(bytes / BYTES_OF_PAGE));
}

function jsonTokens(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value) ?? '') / BYTES_OF_JSON);
}

function sum<T>(items: readonly T[], tokensOf: (item: T) => number): number {
  return items.reduce((total, item) => total + tokensOf(item), 0);
}
