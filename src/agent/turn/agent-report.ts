import { randomUUID } from 'node:crypto';
import type { ModelBlock, UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { type LoopEvent, NO_USAGE } from '../loop/loop.ts';
import { resultBlock, type ToolOutcome, type ToolUse } from '../loop/run-calls.ts';
import type { ReplyHead } from '../models/message-collector.ts';
import type { ModelEvent } from '../models/model.ts';
import { type ApiFailure, IMAGE_REMOVED } from '../models/model-error.ts';

/** Which agent is reported, and which of its messages. */
export type AgentReportOptions = {
  /** The call that started the agent; null for the lead. */
  readonly parent: string | null;
  /** Further members of each message. */
  readonly fields?: Frame;
  /** Whether the events of the model's stream are sent too. */
  readonly isPartial: boolean;
  /** Which texts are sent: all, or none, or only that of a reply without calls. Calls are always sent. */
  readonly texts: 'all' | 'none' | 'final';
  /** Adds to a call the input that the program gets in addition to what the model wrote. */
  complete?(call: ToolUse & ModelBlock): ModelBlock;
  emit(message: Frame): void;
};

/** Sends what one agent does to the program: a message for each finished block of a reply and for each result. */
export class AgentReport {
  /** How many user messages were sent. */
  userMessages = 0;
  readonly #options: AgentReportOptions;
  /** The indexes of the blocks that are being streamed. */
  readonly #streaming = new Set<number>();
  /** How many blocks of the current reply were sent. */
  #reported = 0;
  /** Calls whose results have not been sent yet, in the order of the calls. */
  #awaited: string[] = [];
  /** The texts that follow the results of the current calls; each is a message of its own. */
  #followUps: string[] = [];
  readonly #outcomes = new Map<string, { call: ToolUse; outcome: ToolOutcome }>();
  /** The id of the last message that no entry of a transcript has yet. */
  #lastId: string | undefined;
  #sentAt = performance.now();
  /** Whether the request is repeated without images; reported once it is answered. */
  #hasLostImages = false;
  #isClosed = false;

  constructor(options: AgentReportOptions) {
    this.#options = options;
  }

  /** Sends nothing from now on: an interrupted agent may still be finishing. */
  end(): void {
    this.#isClosed = true;
  }

  /** Reports one event. For an event that is stored, returns the id of its last message, which the transcript uses too. */
  handle(event: LoopEvent): string {
    if (!this.#isClosed) this.#report(event);
    return STORED.includes(event.kind) ? this.#takeId() : '';
  }

  /** Sends a text of the agent itself as an assistant message. */
  sendText(text: string): void {
    this.#send(assistantMessage({ type: 'text', text }, syntheticReply(), SYNTHETIC_END));
  }

  /** Sends the assistant message about a failed model request. */
  sendError(text: string, error: ApiFailure['error'], fields: Frame = {}): void {
    const message = assistantMessage({ type: 'text', text }, syntheticReply(), SYNTHETIC_END);
    this.#send({ ...message, error, is_api_error_message: true, ...fields });
  }

  /** Sends a user message; returns its id. */
  sendUser(content: readonly UserBlock[]): string {
    this.#sendResults(resultsMessage(content));
    return this.#takeId();
  }

  /** A new id if no message was sent. */
  #takeId(): string {
    const id = this.#lastId ?? randomUUID();
    this.#lastId = undefined;
    return id;
  }

  #report(event: LoopEvent): void {
    switch (event.kind) {
      case 'requested':
        this.#reported = 0;
        this.#sentAt = performance.now();
        break;
      case 'block-finished':
        this.#reported++;
        this.#sendBlock(event.block, event.reply, this.#options.texts === 'all');
        break;
      case 'streamed':
        this.#reportStreamed(event.event);
        break;
      case 'replied': {
        const { content } = event.message;
        const calls = content.flatMap((it) => (it.type === 'tool_use' ? [it.id] : []));
        const { texts } = this.#options;
        // Blocks that an interrupt cut off have no `block-finished` event.
        for (const block of content.slice(this.#reported))
          this.#sendBlock(block, event.message, texts === 'all');
        if (texts === 'final' && calls.length === 0)
          for (const block of content) this.#sendBlock(block, event.message, true);
        this.#awaited = calls;
        break;
      }
      case 'call-finished':
        this.#outcomes.set(event.call.id, event);
        this.#followUps.push(...(event.outcome.followUp ?? []));
        this.#reportFinished();
        break;
      case 'results-added':
      case 'text-added':
        if (event.kind === 'text-added') this.#sendSynthetic(event);
        else if (!event.isSilent) this.#reportResults(event.content);
        break;
      case 'discarded':
        this.#reported = 0;
        break;
      case 'images-removed':
        this.#hasLostImages = true;
        break;
      case 'call-started':
        break;
    }
  }

  #reportStreamed(event: ModelEvent): void {
    if (this.#hasLostImages) this.sendError(IMAGE_REMOVED, 'invalid_request');
    this.#hasLostImages = false;
    const { isPartial, parent, emit } = this.#options;
    if (!isPartial) return;
    if (event.type === 'reply_broken') {
      // Each block and message that a program saw begin also ends.
      for (const index of this.#streaming) this.#reportStreamed({ type: 'content_block_stop', index });
      this.#reportStreamed({ type: 'message_stop' });
      return;
    }
    if (event.type === 'content_block_start') this.#streaming.add(event.index);
    if (event.type === 'content_block_stop') this.#streaming.delete(event.index);
    const waited = event.type === 'message_start' && {
      ttft_ms: Math.round(performance.now() - this.#sentAt),
    };
    emit({ type: 'stream_event', event, parent_tool_use_id: parent, ...waited });
  }

  #sendBlock(block: ModelBlock, reply: ReplyHead, withText: boolean): void {
    const { complete } = this.#options;
    const shown = block.type === 'tool_use' && complete ? complete(block) : block;
    if (withText || block.type === 'tool_use') this.#send(assistantMessage(shown, reply));
  }

  /**
   * Sends finished results in the order of their calls, each as its own message; a result waits for the results before
   * it.
   */
  #reportFinished(): void {
    for (let next = this.#awaited[0]; next !== undefined; next = this.#awaited[0]) {
      const finished = this.#outcomes.get(next);
      if (!finished) return;
      this.#awaited.shift();
      this.#outcomes.delete(next);
      if (finished.outcome.isDeferred) continue;
      const block = resultBlock(finished.call, finished.outcome);
      this.#sendResults(resultsMessage([block], finished.outcome));
    }
  }

  /** Sends the results that an interrupt left over, then the texts of hooks. */
  #reportResults(content: readonly UserBlock[]): void {
    const awaited = new Set(this.#awaited);
    this.#awaited = [];
    for (const block of content) {
      if (block.type !== 'tool_result' || !awaited.has(block.tool_use_id)) continue;
      const finished = this.#outcomes.get(block.tool_use_id);
      this.#outcomes.delete(block.tool_use_id);
      this.#sendResults(resultsMessage([block], finished?.outcome));
    }
    const followUps = new Set(this.#followUps);
    this.#followUps = [];
    const texts: UserBlock[] = [];
    for (const block of content) {
      if (block.type === 'text' && followUps.has(block.text))
        this.#sendResults({ ...resultsMessage([block]), isSynthetic: true });
      else if (block.type !== 'tool_result' && !isReminder(block)) texts.push(block);
    }
    if (texts.length > 0) this.#send(resultsMessage(texts));
  }

  /** Sends a text of the agent itself. */
  #sendSynthetic({ content, refused }: Extract<LoopEvent, { kind: 'text-added' }>): void {
    const about = refused !== undefined && { refused_message_id: refused };
    this.#sendResults({ ...resultsMessage(content), isSynthetic: true, ...about });
  }

  #sendResults(message: Frame): void {
    this.userMessages++;
    this.#send(message);
  }

  #send(message: Frame): void {
    const { emit, parent, fields } = this.#options;
    const uuid = randomUUID();
    this.#lastId = uuid;
    const timestamp = new Date().toISOString();
    emit({ ...message, parent_tool_use_id: parent, ...fields, timestamp, uuid });
  }
}

/** Texts of the agent itself are for the model only. */
function isReminder(block: UserBlock): boolean {
  return block.type === 'text' && block.text.startsWith('<system-reminder>\n');
}

/** The events that transcripts store. */
const STORED: readonly LoopEvent['kind'][] = ['replied', 'results-added', 'text-added'];

/** Programs get one message per finished block of a reply. */
function assistantMessage(
  block: ModelBlock,
  { id, model, usage, requestId }: ReplyHead,
  end: { stop_reason: string | null; stop_sequence: string | null } = NOT_ENDED,
): Frame {
  const head = { id, type: 'message', role: 'assistant', model };
  return {
    type: 'assistant',
    message: { ...head, content: [block], ...end, usage, context_management: null },
    ...(requestId !== undefined && { request_id: requestId }),
  };
}

const NOT_ENDED = { stop_reason: null, stop_sequence: null };
const SYNTHETIC_END = { stop_reason: 'stop_sequence', stop_sequence: '' };

/** The head of a message that no model wrote. */
function syntheticReply(): ReplyHead {
  return { id: randomUUID(), model: '<synthetic>', usage: NO_USAGE };
}

/** Marks the result of a call that was interrupted. */
function interruptedMeta(block: UserBlock): Frame {
  return { id: 'tool_use_id' in block ? block.tool_use_id : undefined, non_execution_kind: 'user-rejected' };
}

/** `outcome` is that of the call whose result is the content. */
function resultsMessage(content: readonly UserBlock[], outcome?: ToolOutcome): Frame {
  const programResult = outcome && programResultOf(outcome);
  return {
    type: 'user',
    message: { role: 'user', content },
    ...(programResult !== undefined && { tool_use_result: programResult }),
    ...(outcome?.isInterrupted && { tool_result_meta: content.map(interruptedMeta) }),
  };
}

function programResultOf({ programResult, content, isError, isInterrupted }: ToolOutcome): unknown {
  if (isInterrupted) return 'User rejected tool use';
  if (!isError) return programResult ?? content;
  const texts =
    typeof content === 'string' ? [content] : content.map((it) => (it.type === 'text' ? it.text : ''));
  const text = texts.join('\n');
  // The element around an error of the tool itself is for the model only.
  const [, refusal] = /^<tool_use_error>([\s\S]*)<\/tool_use_error>$/.exec(text) ?? [];
  if (refusal === undefined) return `Error: ${text}`;
  return /^(?:InputValidationError|Error: No such tool available): /.test(refusal)
    ? refusal
    : `Error: ${refusal}`;
}
