import type { ModelBlock, Usage } from '../../protocol/agent-message.ts';
import type { ModelDelta, ModelEvent } from './model.ts';

/** One block of a reply that is known beforehand; a text's parts are streamed one by one. */
export type ReplyBlock =
  | { readonly type: 'text'; readonly parts: readonly string[] }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | {
      readonly type: 'tool_use';
      readonly name: string;
      readonly input: object | string;
      readonly id?: string;
    };

/** A reply that is known beforehand. */
export type MessageReply = {
  readonly blocks: readonly ReplyBlock[];
  readonly stopReason?: string;
  readonly usage?: Partial<Usage>;
};

/** The events of the n-th reply, with ids that depend on nothing but n and the block's place. */
export function replyEvents(reply: MessageReply, n: number, model: string): ModelEvent[] {
  const number = String(n).padStart(4, '0');
  const isCall = reply.blocks.some((block) => block.type === 'tool_use');
  const stop_reason = reply.stopReason ?? (isCall ? 'tool_use' : 'end_turn');
  const usage: Usage = { input_tokens: 10, output_tokens: 5, ...reply.usage };
  return [
    {
      type: 'message_start',
      message: {
        id: `msg_${number}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...usage, output_tokens: 0 },
      },
    },
    ...reply.blocks.flatMap((block, index) => blockEvents(block, index, `toolu_${number}_${index}`)),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
}

function blockEvents(block: ReplyBlock, index: number, id: string): ModelEvent[] {
  return [
    { type: 'content_block_start', index, content_block: emptyBlock(block, id) },
    ...deltas(block).map((delta): ModelEvent => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function emptyBlock(block: ReplyBlock, id: string): ModelBlock {
  if (block.type === 'text') return { type: 'text', text: '' };
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return { type: 'tool_use', id: block.id ?? id, name: block.name, input: {} };
}

function deltas(block: ReplyBlock): ModelDelta[] {
  if (block.type === 'text') return block.parts.map((text) => ({ type: 'text_delta', text }));
  if (block.type === 'thinking') {
    return [
      { type: 'thinking_delta', thinking: block.thinking },
      { type: 'signature_delta', signature: block.signature },
    ];
  }
  const json = typeof block.input === 'string' ? block.input : JSON.stringify(block.input);
  const middle = Math.ceil(json.length / 2);
  const pieces = [json.slice(0, middle), json.slice(middle)].filter((piece) => piece !== '');
  return pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
}
