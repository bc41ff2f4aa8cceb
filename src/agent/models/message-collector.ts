import { isNestedDeeper, isRecord, MAX_NESTING } from '../../base/json-value.ts';
import type { ModelBlock, Usage, UserBlock } from '../../protocol/agent-message.ts';
import type { ModelDelta, ModelEvent } from './model.ts';

/** A reply assembled from its events; `isComplete` once the stream has ended. */
export type CollectedMessage = {
  id: string;
  /** The id that the endpoint gave the request. */
  requestId?: string;
  model: string;
  content: ModelBlock[];
  stop_reason: string | null;
  stop_sequence: string | null;
  usage: Usage;
  isComplete: boolean;
};

export type ReplyHead = Pick<CollectedMessage, 'id' | 'model' | 'usage' | 'requestId'>;

type OpenBlock = { block: ModelBlock; parts: string[]; signature: string; citations: unknown[] };

const NOT_ENDED = { stop_reason: null, stop_sequence: null };

const NO_USAGE: Usage = Object.freeze({ input_tokens: 0, output_tokens: 0 });

/** Assembles the events of one reply to a message. Of an interrupted reply, only text blocks are kept unfinished. */
export class MessageCollector {
  #head: Pick<CollectedMessage, 'id' | 'model' | 'requestId'> = { id: '', model: '' };
  #requestId: string | undefined;
  #end: Pick<CollectedMessage, 'stop_reason' | 'stop_sequence'> = NOT_ENDED;
  #usage: Usage = NO_USAGE;
  #isComplete = false;
  readonly #done = new Map<number, ModelBlock>();
  readonly #open = new Map<number, OpenBlock>();

  /** Adds an event. Returns the block that it finished, if any. */
  add(event: ModelEvent): ModelBlock | undefined {
    switch (event.type) {
      case 'message_start':
        // A reply that broke off is repeated from its start.
        this.#done.clear();
        this.#open.clear();
        this.#end = NOT_ENDED;
        this.#usage = NO_USAGE;
        this.#head = {
          id: event.message.id,
          model: event.message.model,
          ...(this.#requestId !== undefined && { requestId: this.#requestId }),
        };
        this.#count(event.message.usage);
        return undefined;
      case 'content_block_start':
        this.#open.set(event.index, { block: event.content_block, parts: [], signature: '', citations: [] });
        return undefined;
      case 'content_block_delta': {
        const open = this.#open.get(event.index);
        if (open) addDelta(open, event.delta);
        return undefined;
      }
      case 'content_block_stop': {
        const open = this.#open.get(event.index);
        if (!open) return undefined;
        const block = finished(open);
        this.#open.delete(event.index);
        this.#done.set(event.index, block);
        return block;
      }
      case 'message_delta':
        this.#end = {
          stop_reason: event.delta.stop_reason,
          stop_sequence: event.delta.stop_sequence ?? null,
        };
        this.#count(event.usage);
        return undefined;
      case 'message_stop':
        this.#isComplete = true;
        return undefined;
      case 'reply_broken':
        this.#open.clear();
        return undefined;
      default:
        return undefined;
    }
  }

  /** Takes the id of the request whose reply begins. */
  begin(requestId: string): void {
    this.#requestId = requestId;
  }

  get head(): ReplyHead {
    return { ...this.#head, usage: this.#usage };
  }

  /** The message so far. */
  get message(): CollectedMessage {
    const partial = [...this.#open].filter(([, open]) => isPartialText(open));
    const blocks = [...this.#done, ...partial.map(([index, open]) => [index, finished(open)] as const)];
    const content = blocks.sort(([a], [b]) => a - b).map(([, block]) => block);
    return { ...this.#head, content, ...this.#end, usage: { ...this.#usage }, isComplete: this.#isComplete };
  }

  #count(usage: Partial<Usage> | undefined): void {
    // Later counts are totals, and null means "not counted", not zero.
    const counted = Object.entries(usage ?? {}).filter(([, value]) => value !== null && value !== undefined);
    this.#usage = { ...this.#usage, ...Object.fromEntries(counted) };
  }
}

export function collectMessage(events: Iterable<ModelEvent>): CollectedMessage {
  const collector = new MessageCollector();
  for (const event of events) collector.add(event);
  return collector.message;
}

/** The text blocks of a message, joined. */
export function textOf(content: readonly (ModelBlock | UserBlock)[], separator = ''): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(separator);
}

export function isThinking({ type }: ModelBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function addDelta(open: OpenBlock, delta: ModelDelta): void {
  if (delta.type === 'text_delta') open.parts.push(delta.text);
  else if (delta.type === 'thinking_delta') open.parts.push(delta.thinking);
  else if (delta.type === 'input_json_delta') open.parts.push(delta.partial_json);
  else if (delta.type === 'signature_delta') open.signature += delta.signature;
  else if (delta.type === 'citations_delta') open.citations.push(delta.citation);
}

function finished({ block, parts, signature, citations }: OpenBlock): ModelBlock {
  const streamed = parts.join('');
  if (block.type === 'text') {
    const text = { ...block, text: block.text + streamed };
    return citations.length > 0 ? { ...text, citations } : text;
  }
  if (block.type === 'thinking') {
    return { ...block, thinking: block.thinking + streamed, signature: (block.signature ?? '') + signature };
  }
  // Some endpoints send the whole input with the start; blocks of unknown kinds are kept as they are.
  if (streamed === '')
    return block.type === 'tool_use' ? { ...block, input: checkToolInput(block.input) } : block;
  return { ...block, input: parseToolInput(streamed) } as ModelBlock;
}

function isPartialText({ block, parts }: OpenBlock): boolean {
  return block.type === 'text' && (block.text !== '' || parts.length > 0);
}

/** The input of a tool call as the model streamed it. Text that is not a JSON object is kept; see `invalidInput`. */
function parseToolInput(json: string): Record<string, unknown> {
  try {
    const input: unknown = JSON.parse(json);
    if (isRecord(input)) return isNestedDeeper(input) ? TOO_DEEP : input;
  } catch {}
  return { [INVALID]: json };
}

/** Input that is nested too deeply could not be sent back to the model either. */
function checkToolInput(input: unknown): unknown {
  return isNestedDeeper(input) ? TOO_DEEP : (input ?? {});
}

/** Why the input of a call cannot be passed to the tool; undefined if it can. */
export function inputError(name: string, input: unknown): string | undefined {
  const raw = invalidInput(input);
  if (raw === undefined) return undefined;
  return raw === DEEP_INPUT
    ? `The arguments of ${name} are nested more than ${MAX_NESTING} levels deep; pass flatter arguments`
    : `The arguments of ${name} are not a JSON object: ${raw}`;
}

/** The raw text of a tool's input, if it was not a JSON object. */
export function invalidInput(input: unknown): string | undefined {
  if (!isRecord(input)) return undefined;
  const raw = input[INVALID];
  return typeof raw === 'string' && Object.keys(input).length === 1 ? raw : undefined;
}

/** Marks the input of a `tool_use` whose JSON is invalid; its value is the raw text. */
const INVALID = '$invalid_json';

const DEEP_INPUT = '(nested too deeply)';

const TOO_DEEP = { [INVALID]: DEEP_INPUT };
