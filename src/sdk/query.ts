import { startTimer } from '../base/async/timers.ts';
import type { SDKMessage, SDKUserMessage } from '../protocol/agent-message.ts';
import { AbortError, SdkError } from '../protocol/sdk-error.ts';
import { Conversation, type SdkDeps } from './conversation/conversation.ts';
import { EarlyExitError } from './conversation/open-link.ts';
import type { Options } from './options/options.ts';
import type { Prompt, Query as QueryInterface, WarmQuery } from './query-interface.ts';
import { QueryMethods } from './query-methods.ts';

/**
 * A conversation: an async iterable of messages with control methods. Tracing libraries wrap it by copying the methods
 * of its first prototype, or in a `Proxy`; so this prototype has all methods, and the object has each one bound.
 */
export class Query extends QueryMethods implements QueryInterface {
  static {
    const { constructor: _, ...inherited } = Object.getOwnPropertyDescriptors(QueryMethods.prototype);
    Object.defineProperties(Query.prototype, inherited);
  }

  /** Streams that are being sent; they are stopped when the query ends. */
  readonly #feeds = new Set<PromptFeed>();

  constructor(conversation: Conversation, prompt: Prompt) {
    super(conversation);
    bindMethods(this, Query.prototype);
    const sent = typeof prompt === 'string' ? conversation.send(userMessage(prompt)) : this.#pour(prompt);
    sent
      .then((how) => how !== 'left' && conversation.endInput())
      .catch((cause) => (isOwnError(cause) ? conversation.fail(cause) : conversation.abort(cause)));
  }

  /** Sends the messages of the stream in order until the stream or the query ends. */
  async streamInput(stream: AsyncIterable<SDKUserMessage>): Promise<void> {
    await this.#pour(stream);
  }

  async next(): Promise<IteratorResult<SDKMessage, void>> {
    try {
      const next = await this.conversation.messages.next();
      if (next.done) this.#leaveInput();
      return next;
    } catch (cause) {
      this.#leaveInput();
      if (cause instanceof EarlyExitError) return { done: true, value: undefined };
      throw cause;
    }
  }

  /** Leaving the loop closes the agent; unread messages are dropped. */
  async return(): Promise<IteratorResult<SDKMessage, void>> {
    await this.conversation.messages.return();
    await this.#end();
    return { done: true, value: undefined };
  }

  async throw(cause: unknown): Promise<IteratorResult<SDKMessage, void>> {
    await this.return();
    throw cause;
  }

  /** Closes the agent now. Iteration yields the messages that already arrived, then ends. */
  close(): void {
    this.#end().catch(ignore);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #end(): Promise<void> {
    this.#leaveInput();
    await this.conversation.close();
  }

  async #pour(stream: AsyncIterable<SDKUserMessage>): Promise<'ended' | 'left'> {
    const feed = new PromptFeed(stream);
    this.#feeds.add(feed);
    try {
      return await feed.sendAll((message) => this.conversation.send(message));
    } finally {
      this.#feeds.delete(feed);
    }
  }

  #leaveInput(): void {
    for (const feed of this.#feeds) feed.stop();
  }
}

/**
 * Gives the object its own, not enumerable, version of each method, which works with any `this`. Each call looks the
 * method up again, so that replacing it on the prototype takes effect.
 */
function bindMethods(object: object, prototype: object): void {
  for (const name of Reflect.ownKeys(prototype)) {
    if (name === 'constructor') continue;
    Object.defineProperty(object, name, {
      value: (...args: unknown[]) => Reflect.get(prototype, name).apply(object, args),
      configurable: true,
      writable: true,
    });
  }
}

type QueryFunctions = {
  /** Starts an agent with a prompt: text for one turn, or a stream of user messages for as many as it yields. */
  query(params: { prompt: Prompt; options?: Options }): QueryInterface;
  /** Starts an agent before its prompt is known, so that the first turn does not wait for it. */
  startup(params?: { options?: Options; initializeTimeoutMs?: number }): Promise<WarmQuery>;
};

/** Binds `query()` to its dependencies: the default agent, the environment, the receiver of warnings. */
export function createQuery(deps: SdkDeps): QueryFunctions {
  return {
    query({ prompt, options }) {
      checkPrompt(prompt);
      // A prompt stream is read later, so the first reader gets the error.
      if (typeof prompt === 'string' && options?.abortController?.signal.aborted)
        throw new AbortError('Operation aborted');
      return new Query(new Conversation(options, deps), prompt);
    },
    async startup(params) {
      const { options } = params ?? {};
      const initializeTimeoutMs = params?.initializeTimeoutMs ?? 60_000;
      checkLimit(initializeTimeoutMs);
      const conversation = new Conversation(options, deps, initializeTimeoutMs);
      await within(conversation, initializeTimeoutMs);
      let query: Query | undefined;
      let isClosed = false;
      return {
        query(prompt) {
          if (query || isClosed) throw new SdkError('closed', 'WarmQuery.query() can only be called once');
          checkPrompt(prompt);
          query = new Query(conversation, prompt);
          return query;
        },
        close() {
          isClosed = true;
          if (query) query.close();
          else conversation.close().catch(ignore);
        },
        async [Symbol.asyncDispose]() {
          isClosed = true;
          await (query ? query[Symbol.asyncDispose]() : conversation.close());
        },
      };
    },
  };
}

/** The user message for a prompt that is a string. */
export function userMessage(text: string): SDKUserMessage {
  return {
    type: 'user',
    session_id: '',
    message: { role: 'user', content: [{ type: 'text', text }] },
    parent_tool_use_id: null,
  };
}

function checkPrompt(prompt: Prompt): void {
  if (typeof prompt === 'string' || typeof prompt?.[Symbol.asyncIterator] === 'function') return;
  throw new SdkError('bad-option', 'prompt must be a string or an async iterable of user messages');
}

function checkLimit(ms: unknown): void {
  if (typeof ms === 'number' && ms >= 0) return;
  throw new SdkError('bad-option', `initializeTimeoutMs must be a number, 0 or more; it is ${String(ms)}`);
}

async function within(conversation: Conversation, ms: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = startTimer(ms, () => {
    late.reject(
      new SdkError(
        'timeout',
        `The agent was not ready within ${ms} ms; raise initializeTimeoutMs if it may take longer`,
      ),
    );
  });
  try {
    await Promise.race([conversation.initialized, late.promise]);
  } catch (cause) {
    await conversation.close().catch(ignore);
    throw cause;
  } finally {
    clearTimeout(timer);
  }
}

/** Whether this package threw the error, not the program's stream of messages. */
function isOwnError(cause: unknown): boolean {
  return cause instanceof SdkError || cause instanceof AbortError;
}

/** Ignores a failed close: the query is over and no caller waits for it. */
function ignore(): void {}

type Next = IteratorResult<SDKUserMessage, unknown>;

/** Sends a user's stream of messages to the agent. Stopping early calls the iterator's `return()`, as `break` does. */
class PromptFeed {
  readonly #iterator: AsyncIterator<SDKUserMessage, unknown> | Iterator<SDKUserMessage, unknown>;
  #isOver = false;
  #isLeft = false;

  /** Plain iterables are accepted too, as in a `for await` loop. */
  constructor(stream: AsyncIterable<SDKUserMessage> | Iterable<SDKUserMessage>) {
    this.#iterator =
      Symbol.asyncIterator in stream ? stream[Symbol.asyncIterator]() : stream[Symbol.iterator]();
  }

  /** Sends every message in order. Resolves with the way it ended; rejects if the stream or sending fails. */
  async sendAll(send: (message: SDKUserMessage) => Promise<void>): Promise<'ended' | 'left'> {
    while (!this.#isLeft) {
      const next = await this.#next();
      if (this.#isLeft) break;
      if (next.done) return 'ended';
      try {
        await send(next.value);
      } catch (cause) {
        this.stop();
        throw cause;
      }
    }
    return 'left';
  }

  /** Stops reading the stream, without waiting: a generator ends only when its pending await settles. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isLeft = true;
    const endIterator = async () => this.#iterator.return?.();
    endIterator().catch(() => {});
  }

  async #next(): Promise<Next> {
    try {
      const next = await this.#iterator.next();
      if (next.done) this.#isOver = true;
      return next;
    } catch (cause) {
      this.#isOver = true;
      // An error after stopping is ignored.
      if (this.#isLeft) return { done: true, value: undefined };
      throw cause;
    }
  }
}
