import { readFile } from 'node:fs/promises';
import { untilAborted } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import type { ModelBlock, Usage } from '../../protocol/agent-message.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import {
  type Model,
  type ModelDelta,
  ModelError,
  type ModelEvent,
  type ModelLimits,
  type ModelRequest,
} from './model.ts';

/** The answer of a scripted model to one request: a message or an error. */
type ScriptedReply = MessageReply | { readonly error: ModelError } | BrokenReply;

/** A reply that breaks off after its blocks. */
type BrokenReply = MessageReply & { readonly error: ModelError };

/** Replies in order, or a function of the request and its number (from 1). */
export type ModelScript =
  | readonly ScriptedReply[]
  | ((request: ModelRequest, n: number) => ScriptedReply | Promise<ScriptedReply>);

/** A model that replies from a script and records the requests. */
export interface ScriptedModel extends Model {
  readonly requests: readonly ModelRequest[];
}

/** A text reply; each part is streamed as a delta of its own. */
export function text(...parts: string[]): MessageReply {
  return { blocks: [{ type: 'text', parts }] };
}

/** A thinking block, to be combined with another reply. */
export function thinking(thought: string, signature = 'scripted'): MessageReply {
  return { blocks: [{ type: 'thinking', thinking: thought, signature }] };
}

/** A call of one tool; a string is streamed as the raw JSON of the input, so it may be invalid. */
export function toolUse(name: string, input: object | string = {}, id?: string): MessageReply {
  return { blocks: [{ type: 'tool_use', name, input, ...(id !== undefined && { id }) }] };
}

/** Joins several replies to one message; the last stop reason and usage win. */
export function together(...replies: MessageReply[]): MessageReply {
  return Object.assign({}, ...replies, { blocks: replies.flatMap((reply) => reply.blocks) });
}

/** A request that fails with this error. */
export function fails(error: ModelError): ScriptedReply {
  return { error };
}

const LIMITS: ModelLimits = { toolName: 128, contextTokens: 200_000, outputTokens: 32_000 };

/** A deterministic offline model: the same script gives the same events and ids. */
export function scriptedModel(
  script: ModelScript,
  options: {
    name?: string;
    limits?: Partial<ModelLimits>;
    /**
     * Whether requests are recorded (the default). Set to false for long conversations: the records would fill the
     * memory.
     */
    records?: boolean;
  } = {},
): ScriptedModel {
  const requests: ModelRequest[] = [];
  let count = 0;
  const replyTo = (request: ModelRequest, n: number) => {
    if (typeof script === 'function') return script(request, n);
    return script[n - 1] ?? fails(new ModelError('bad-request', `The script has no reply for request ${n}`));
  };
  return {
    name: options.name ?? 'scripted',
    limits: { ...LIMITS, ...options.limits },
    requests,
    async *stream(request): AsyncGenerator<ModelEvent> {
      request.signal.throwIfAborted();
      const n = ++count;
      // A copy, because the caller keeps adding to its conversation.
      if (options.records !== false) requests.push({ ...request, messages: [...request.messages] });
      const reply = await untilAborted(Promise.resolve(replyTo(request, n)), request.signal);
      const error = 'error' in reply ? reply.error : undefined;
      if (!('blocks' in reply)) throw reply.error;
      for (const event of replyEvents(reply, n, request.model)) {
        request.signal.throwIfAborted();
        if (error && event.type === 'message_delta') throw error;
        yield event;
      }
    },
  };
}

/** One block of a scripted reply; the parts of a text are streamed one by one. */
type ReplyBlock =
  | { readonly type: 'text'; readonly parts: readonly string[] }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | {
      readonly type: 'tool_use';
      readonly name: string;
      readonly input: object | string;
      readonly id?: string;
    };

export type MessageReply = {
  readonly blocks: readonly ReplyBlock[];
  readonly stopReason?: string;
  readonly usage?: Partial<Usage>;
};

/** The events of the n-th reply; its ids depend only on n and the position of the block. */
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

/**
 * A model that replies from a JSON file, one item per reply: a string, or `{ "tool": name, "input": { … } }`. The file is
 * read at the first request.
 */
export function scriptedFile(path: string): Model {
  let replies: Promise<readonly ScriptedReply[]> | undefined;
  const replyTo = async (_: ModelRequest, n: number): Promise<ScriptedReply> => {
    replies ??= readReplies(path);
    const reply = (await replies)[n - 1];
    return (
      reply ?? {
        error: new ModelError('bad-request', `${path} has no reply for request ${n}; add one to the file`),
      }
    );
  };
  return scriptedModel(replyTo, { records: false });
}

async function readReplies(path: string): Promise<readonly ScriptedReply[]> {
  try {
    return parseReplies(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    throw new ModelError('bad-request', `--model scripted:${path}: ${messageOf(cause)}`, { cause });
  }
}

function parseReplies(raw: unknown): ScriptedReply[] {
  if (!Array.isArray(raw)) throw new Error('the file must contain an array of replies');
  return raw.map((item: unknown, index) => {
    if (typeof item === 'string') return text(item);
    if (isRecord(item) && typeof item.tool === 'string') {
      return toolUse(item.tool, isRecord(item.input) ? item.input : {});
    }
    throw new Error(`reply ${index + 1} is neither a string nor { "tool": name, "input": { … } }`);
  });
}
