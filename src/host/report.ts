import type { LoopEvent } from './agent/loop.ts';
import { assistantMessage, resultsMessage } from './messages.ts';
import type { Session } from './session.ts';
import type { Denial } from './worker.ts';

/** What the program hears of a turn, and what its result will say. */
export class Report {
  text = '';
  modelMs = 0;
  readonly denials: Denial[] = [];
  readonly #session: Session;
  #askedAt = performance.now();
  #isOver = false;

  constructor(session: Session) {
    this.#session = session;
  }

  /** From now on nothing is told: a sub-agent that was interrupted may still be finishing. */
  end(): void {
    this.#isOver = true;
  }

  tell(event: LoopEvent, parent: string | null, uuid?: string): void {
    this.#session.count(event);
    if (this.#isOver) return;
    const say = (message: object) => this.#session.say({ ...message, ...(uuid && { uuid }) });
    switch (event.kind) {
      case 'streamed':
        if (this.#session.options.includePartialMessages) {
          say({ type: 'stream_event', event: event.event, parent_tool_use_id: parent, uuid: undefined });
        }
        break;
      case 'replied':
        if (parent === null) this.#hear(event);
        if (event.message.content.length > 0) say(assistantMessage(event.message, parent));
        break;
      case 'results-added':
      case 'text-added':
        if (parent === null) this.#askedAt = performance.now();
        say(resultsMessage(event.content, parent));
        break;
      case 'call-started':
      case 'call-finished':
        break;
    }
  }

  #hear({ message }: Extract<LoopEvent, { kind: 'replied' }>): void {
    this.modelMs += performance.now() - this.#askedAt;
    const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    if (texts.length > 0) this.text = texts.join('');
  }
}
