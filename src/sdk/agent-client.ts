import type { SDKMessage, SDKResultMessage, SDKUserMessage } from '../protocol/agent-message.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import { Conversation, type SdkWorld } from './conversation.ts';
import type { Options } from './options.ts';
import { userMessage } from './query.ts';
import { QueryMethods } from './query-methods.ts';

/**
 * A lasting conversation: the agent stays up between turns.
 * `await using client = await AgentClient.open(options)` ends it with the block.
 */
export class AgentClient extends QueryMethods implements AsyncDisposable {
  #inTurn = false;
  /** A turn was left before its result, which is still to come. */
  #isOwed = false;

  /** Sends a message without waiting for anything; read what comes with `messages()`. */
  async send(prompt: string | SDKUserMessage): Promise<void> {
    await this.conversation.send(typeof prompt === 'string' ? userMessage(prompt) : prompt);
  }

  /**
   * One turn: every message up to its result, which is also the generator's return value. One at a time;
   * a turn that was left early is read to its result before the next one begins.
   */
  async *turn(prompt: string | SDKUserMessage): AsyncGenerator<SDKMessage, SDKResultMessage> {
    if (this.#inTurn)
      throw new SdkError('bad-option', 'A turn is running: finish it, or interrupt() it, first');
    this.#inTurn = true;
    try {
      while (this.#isOwed) await this.#read();
      await this.send(prompt);
      for (;;) {
        const message = await this.#read();
        yield message;
        if (message.type === 'result') return message;
      }
    } finally {
      this.#inTurn = false;
    }
  }

  /** One turn, of which only the result matters. */
  async ask(prompt: string | SDKUserMessage): Promise<SDKResultMessage> {
    const turn = this.turn(prompt);
    for (;;) {
      const { done, value } = await turn.next();
      if (done) return value;
    }
  }

  /** Every message of the conversation, turn after turn, until it is closed. Leaving the loop does not end it. */
  async *messages(): AsyncGenerator<SDKMessage, void> {
    for (;;) {
      const { done, value } = await this.conversation.messages.next();
      if (done) return;
      yield value;
    }
  }

  async #read(): Promise<SDKMessage> {
    // An agent that fails or ends owes nothing any more.
    this.#isOwed = false;
    const { done, value } = await this.conversation.messages.next();
    if (done) throw new SdkError('closed', 'The agent ended before it gave a result');
    this.#isOwed = value.type !== 'result';
    return value;
  }

  /** Ends the agent; resolves once nothing of it is left. */
  close(): Promise<void> {
    return this.conversation.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Opens clients in these surroundings. Resolves once the agent is initialised. */
export function createAgentClient(world: SdkWorld): (options?: Options) => Promise<AgentClient> {
  return async (options = {}) => {
    const conversation = new Conversation(options, world);
    try {
      await conversation.initialized;
    } catch (cause) {
      await conversation.close();
      throw cause;
    }
    return new AgentClient(conversation);
  };
}
