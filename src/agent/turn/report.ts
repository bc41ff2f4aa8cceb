import { randomUUID } from 'node:crypto';
import type { UserBlock } from '../../protocol/agent-message.ts';
import type { LoopEvent } from '../loop/loop.ts';
import { resultBlock, type ToolCall, type ToolOutcome } from '../loop/tool-call.ts';
import type { Session } from '../session/session.ts';
import { assistantMessage, resultsMessage } from './messages.ts';
import type { Denial } from './worker.ts';

/** What the program hears of a turn, and what its result will say. */
export class Report {
  text = '';
  modelMs = 0;
  /** How the last reply ended. */
  stopReason: string | null = null;
  readonly denials: Denial[] = [];
  readonly #session: Session;
  /** How many blocks of the present reply were told, by who replies. */
  readonly #told = new Map<string | null, number>();
  /** Calls whose results are still to be told, in the model's order, by who called. */
  readonly #awaited = new Map<string | null, string[]>();
  readonly #outcomes = new Map<string, { call: ToolCall; outcome: ToolOutcome }>();
  #lastId = '';
  #askedAt = performance.now();
  #isOver = false;

  constructor(session: Session) {
    this.#session = session;
  }

  /** From now on nothing is told: a sub-agent that was interrupted may still be finishing. */
  end(): void {
    this.#isOver = true;
  }

  /** Tells of one event; the id of the last message that it took, which names what was said on disk too. */
  tell(event: LoopEvent, parent: string | null): string {
    this.#session.count(event);
    if (!this.#isOver) this.#tell(event, parent);
    return this.#lastId;
  }

  #tell(event: LoopEvent, parent: string | null): void {
    const isPartial = this.#session.options.includePartialMessages === true;
    switch (event.kind) {
      case 'requested':
        this.#told.set(parent, 0);
        if (isPartial && parent === null) {
          this.#session.say({ type: 'system', subtype: 'status', status: 'requesting' });
        }
        break;
      case 'block-finished':
        this.#told.set(parent, (this.#told.get(parent) ?? 0) + 1);
        this.#say(assistantMessage(event.block, event.reply, parent));
        break;
      case 'streamed':
        if (isPartial) {
          this.#session.say({ type: 'stream_event', event: event.event, parent_tool_use_id: parent });
        }
        break;
      case 'replied':
        if (parent === null) this.#hear(event);
        // What an interrupt cut off was never finished.
        for (const block of event.message.content.slice(this.#told.get(parent) ?? 0)) {
          this.#say(assistantMessage(block, event.message, parent));
        }
        this.#awaited.set(
          parent,
          event.message.content.flatMap((it) => (it.type === 'tool_use' ? [it.id] : [])),
        );
        break;
      case 'call-finished':
        this.#outcomes.set(event.call.id, event);
        this.#tellFinished(parent);
        break;
      case 'results-added':
      case 'text-added':
        if (parent === null) this.#askedAt = performance.now();
        this.#tellResults(event.content, parent);
        break;
      case 'call-started':
        break;
    }
  }

  /** Each result is a message of its own, told as soon as those before it are. */
  #tellFinished(parent: string | null): void {
    const awaited = this.#awaited.get(parent) ?? [];
    for (let next = awaited[0]; next !== undefined; next = awaited[0]) {
      const finished = this.#outcomes.get(next);
      if (!finished) return;
      awaited.shift();
      this.#outcomes.delete(next);
      this.#say(
        resultsMessage([resultBlock(finished.call, finished.outcome)], parent, toldOf(finished.outcome)),
      );
    }
  }

  /** What an interrupt left untold, then what hooks said beside the results. */
  #tellResults(content: readonly UserBlock[], parent: string | null): void {
    const awaited = new Set(this.#awaited.get(parent));
    this.#awaited.delete(parent);
    for (const block of content) {
      if (block.type !== 'tool_result' || !awaited.has(block.tool_use_id)) continue;
      const finished = this.#outcomes.get(block.tool_use_id);
      this.#outcomes.delete(block.tool_use_id);
      this.#say(resultsMessage([block], parent, finished && toldOf(finished.outcome)));
    }
    const beside = content.filter((block) => block.type !== 'tool_result');
    if (beside.length > 0) this.#say(resultsMessage(beside, parent));
  }

  #say(message: object): void {
    this.#lastId = randomUUID();
    this.#session.say({ ...message, uuid: this.#lastId });
  }

  #hear({ message }: Extract<LoopEvent, { kind: 'replied' }>): void {
    this.stopReason = message.stop_reason;
    this.modelMs += performance.now() - this.#askedAt;
    const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    if (texts.length > 0) this.text = texts.join('');
  }
}

function toldOf({ told, content, isError }: ToolOutcome): unknown {
  if (!isError) return told ?? content;
  const texts =
    typeof content === 'string' ? [content] : content.map((it) => (it.type === 'text' ? it.text : ''));
  return `Error: ${texts.join('\n')}`;
}
