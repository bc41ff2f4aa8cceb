import type { SDKUserMessage } from '../protocol/agent-message.ts';

type Next = IteratorResult<SDKUserMessage, unknown>;

/** A stream of the user's on its way to the agent. Who leaves it before its end tells it so, as a loop that breaks does. */
export class Feed {
  readonly #iterator: AsyncIterator<SDKUserMessage, unknown> | Iterator<SDKUserMessage, unknown>;
  #isOver = false;
  #isLeft = false;

  /** A list will do, as it does for a loop. */
  constructor(stream: AsyncIterable<SDKUserMessage> | Iterable<SDKUserMessage>) {
    this.#iterator =
      Symbol.asyncIterator in stream ? stream[Symbol.asyncIterator]() : stream[Symbol.iterator]();
  }

  /** Sends every message in order. Resolves with how it came to an end; rejects if the stream or a sending fails. */
  async pour(send: (message: SDKUserMessage) => Promise<void>): Promise<'ended' | 'left'> {
    while (!this.#isLeft) {
      const next = await this.#next();
      if (this.#isLeft) break;
      if (next.done) return 'ended';
      try {
        await send(next.value);
      } catch (cause) {
        this.leave();
        throw cause;
      }
    }
    return 'left';
  }

  /** Takes no more of the stream. It is not waited for: a generator ends only when what it awaits has come. */
  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isLeft = true;
    const tell = async () => this.#iterator.return?.();
    tell().catch(() => {});
  }

  async #next(): Promise<Next> {
    try {
      const next = await this.#iterator.next();
      if (next.done) this.#isOver = true;
      return next;
    } catch (cause) {
      this.#isOver = true;
      // What it failed of after it was left concerns nobody.
      if (this.#isLeft) return { done: true, value: undefined };
      throw cause;
    }
  }
}
