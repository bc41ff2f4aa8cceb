import type { ReplyBlock, ReplyUsage } from './model-reply.ts';

type WireBlock =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: object }
  | RawBlock;

type RawBlock = { readonly type: string };

/** An assistant message as the API sends it whole. */
export type WireMessage = {
  id: string;
  type: 'message';
  role: 'assistant';
  model: string;
  content: WireBlock[];
  stop_reason: string | null;
  stop_sequence: null;
  usage: ReplyUsage;
};

/** One server-sent event of a streamed message. */
export type WireEvent = { type: string; [key: string]: unknown };

/** The message for the n-th request, with ids that depend on nothing but n and the block's place. */
export function wireMessage(
  n: number,
  model: string,
  blocks: readonly ReplyBlock[],
  usage: ReplyUsage = { input_tokens: 10, output_tokens: 5 },
): WireMessage {
  const number = String(n).padStart(4, '0');
  const content = blocks.map((block, index) => wireBlock(block, `toolu_${number}_${index}`));
  const isCall = content.some((block) => block.type === 'tool_use');
  return {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: isCall ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage,
  };
}

/** The same message as a stream; a text's parts and a call's JSON arrive in pieces. */
export function wireEvents(message: WireMessage, blocks: readonly ReplyBlock[]): WireEvent[] {
  const { stop_reason, stop_sequence, usage } = message;
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...message.content.flatMap((block, index) => blockEvents(block, pieces(blocks[index]), index)),
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
    { type: 'message_stop' },
  ];
}

function wireBlock(block: ReplyBlock, id: string): WireBlock {
  if (block.type === 'raw') return block.block;
  if (block.type === 'text') return { type: 'text', text: block.parts.join('') };
  return { type: 'tool_use', id: block.id ?? id, name: block.name, input: block.input };
}

function blockEvents(block: WireBlock, parts: readonly string[], index: number): WireEvent[] {
  const isText = block.type === 'text';
  const isCall = block.type === 'tool_use';
  const content_block = isText ? { type: 'text', text: '' } : isCall ? { ...block, input: {} } : block;
  const delta = (part: string) =>
    isText ? { type: 'text_delta', text: part } : { type: 'input_json_delta', partial_json: part };
  return [
    { type: 'content_block_start', index, content_block },
    ...parts.map((part) => ({ type: 'content_block_delta', index, delta: delta(part) })),
    { type: 'content_block_stop', index },
  ];
}

function pieces(block: ReplyBlock | undefined): readonly string[] {
  if (block === undefined || block.type === 'raw') return [];
  if (block.type === 'text') return block.parts;
  const json = JSON.stringify(block.input);
  const middle = Math.ceil(json.length / 2);
  return [json.slice(0, middle), json.slice(middle)].filter((part) => part !== '');
}
