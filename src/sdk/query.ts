import type { SDKMessage, SDKUserMessage } from '../protocol/agent-message.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import { Conversation, type SdkWorld } from './conversation.ts';
import type { Options } from './options.ts';
import { QueryMethods } from './query-methods.ts';

export type Prompt = string | AsyncIterable<SDKUserMessage>;

/** A conversation as a stream of messages, with everything that can be asked of the agent while it runs. */
export class Query extends QueryMethods implements AsyncGenerator<SDKMessage, void> {
  /** Sends what the stream yields, in order, as long as the agent takes it. */
  async streamInput(stream: AsyncIterable<SDKUserMessage>): Promise<void> {
    for await (const message of stream) await this.conversation.send(message);
  }

  async next(): Promise<IteratorResult<SDKMessage, void>> {
    return this.conversation.messages.next();
  }

  /** Leaving the loop ends the agent. */
  async return(): Promise<IteratorResult<SDKMessage, void>> {
    await this.conversation.close();
    return { done: true, value: undefined };
  }

  async throw(cause: unknown): Promise<IteratorResult<SDKMessage, void>> {
    await this.conversation.close();
    throw cause;
  }

  /** Ends the agent now; iteration ends. */
  close(): void {
    void this.conversation.close();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.conversation.close();
  }
}

export type WarmQuery = AsyncDisposable & {
  /** Sends a prompt to the agent that is already up. Once only. */
  query(prompt: Prompt): Query;
  close(): void;
};

export type QueryFunctions = {
  /** Starts an agent with a prompt: text for one turn, or a stream of user messages for as many as it yields. */
  query(params: { prompt: Prompt; options?: Options }): Query;
  /** Starts an agent ahead of its prompt, so that the first turn does not wait for it. */
  startup(params?: { options?: Options; initializeTimeoutMs?: number }): Promise<WarmQuery>;
};

/** Binds `query()` to its surroundings: the default agent, the environment, where to warn. */
export function createQuery(world: SdkWorld): QueryFunctions {
  return {
    query({ prompt, options = {} }) {
      checkPrompt(prompt);
      const conversation = new Conversation(options, world);
      feed(conversation, prompt);
      return new Query(conversation);
    },
    async startup({ options = {}, initializeTimeoutMs = 60_000 } = {}) {
      const conversation = new Conversation(options, world);
      await within(conversation, initializeTimeoutMs);
      let isUsed = false;
      const close = () => conversation.close();
      return {
        query(prompt) {
          if (isUsed) throw new SdkError('closed', 'This agent has had its prompt: start another');
          checkPrompt(prompt);
          isUsed = true;
          feed(conversation, prompt);
          return new Query(conversation);
        },
        close: () => void close(),
        [Symbol.asyncDispose]: close,
      };
    },
  };
}

/** A prompt's text as the agent takes it. */
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

function feed(conversation: Conversation, prompt: Prompt): void {
  pour(conversation, prompt).catch((cause) => conversation.fail(cause));
}

async function pour(conversation: Conversation, prompt: Prompt): Promise<void> {
  if (typeof prompt === 'string') await conversation.send(userMessage(prompt));
  else for await (const message of prompt) await conversation.send(message);
  conversation.endInput();
}

async function within(conversation: Conversation, ms: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new SdkError('timeout', `The agent was not ready within ${ms} ms`));
  }, ms);
  try {
    await Promise.race([conversation.initialized, late.promise]);
  } catch (cause) {
    await conversation.close();
    throw cause;
  } finally {
    clearTimeout(timer);
  }
}
