import type { SDKMessage, SDKResultMessage, SDKUserMessage } from '../protocol/agent-message.ts';
import type { Frame } from '../protocol/control-frame.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import { Conversation, type SdkDeps } from './conversation/conversation.ts';
import { isNoteResult, isUnsolicited } from './conversation/turn-state.ts';
import type { Options } from './options/options.ts';
import { userMessage } from './query.ts';
import { QueryMethods } from './query-methods.ts';

/**
 * A conversation with several turns: the agent keeps running between turns.
 * `await using client = await AgentClient.open(options)` ends it with the block.
 */
export class AgentClient extends QueryMethods implements AsyncDisposable {
  #inTurn = false;
  /** Number of results still expected, one for each message sent. */
  #owed = 0;
  /** Number of messages that start no turn and whose empty result has not come. */
  #notes = 0;

  /** Sends a message without waiting for the turn; read the messages with `messages()`. */
  async send(prompt: string | SDKUserMessage): Promise<void> {
    const message = typeof prompt === 'string' ? userMessage(prompt) : prompt;
    const expected = this.conversation.expects(message);
    const notes = expected === 'empty-result' ? 1 : 0;
    const owes = expected === 'result' ? 1 : 0;
    this.#notes += notes;
    this.#owed += owes;
    try {
      await this.conversation.send(message);
    } catch (cause) {
      this.#notes = Math.max(0, this.#notes - notes);
      this.#owed = Math.max(0, this.#owed - owes);
      throw cause;
    }
  }

  /**
   * Runs one turn: yields every message up to its result, which is also the generator's return value. Messages of turns
   * that the agent starts by itself meanwhile, such as for a message of a channel, are yielded too. Only one turn can
   * run at a time; pending results of `send()` or of an abandoned turn are read before it begins.
   */
  async *turn(prompt: string | SDKUserMessage): AsyncGenerator<SDKMessage, SDKResultMessage> {
    if (this.#inTurn) {
      throw new SdkError('busy', 'A turn is running: read it to its result or call interrupt() first');
    }
    if (typeof prompt !== 'string' && prompt.shouldQuery === false) {
      throw new SdkError('bad-option', 'A message with shouldQuery: false does not start a turn: use send()');
    }
    if (typeof prompt !== 'string' && this.conversation.expects(prompt) === 'nothing') {
      throw new SdkError(
        'bad-option',
        'A message with this uuid was already sent, and agents answer it only once: use another uuid',
      );
    }
    this.#inTurn = true;
    try {
      while (this.#owed > 0) await this.#read();
      await this.send(prompt);
      for (;;) {
        const message = await this.#read();
        yield message;
        if (message.type === 'result' && !isUnsolicited(message as unknown as Frame)) return message;
      }
    } finally {
      this.#inTurn = false;
    }
  }

  /** Runs one turn and returns only its result. */
  async ask(prompt: string | SDKUserMessage): Promise<SDKResultMessage> {
    const turn = this.turn(prompt);
    for (;;) {
      const { done, value } = await turn.next();
      if (done) return value;
    }
  }

  /** All messages of the conversation until it is closed. Leaving the loop does not close it. */
  async *messages(): AsyncGenerator<SDKMessage, void> {
    for (;;) {
      const message = await this.#next();
      if (!message) return;
      yield message;
    }
  }

  async #read(): Promise<SDKMessage> {
    const message = await this.#next();
    if (!message) throw new SdkError('closed', 'The agent ended before it sent a result');
    return message;
  }

  async #next(): Promise<SDKMessage | undefined> {
    try {
      const { done, value } = await this.conversation.messages.next();
      if (!done) {
        if (this.#notes > 0 && isNoteResult(value as unknown as Frame)) {
          this.#notes -= 1;
          return this.#next();
        }
        // Agents also send results of work that they started on their own.
        const isOwed = value.type === 'result' && !isUnsolicited(value as unknown as Frame);
        if (isOwed && this.#owed > 0) this.#owed -= 1;
        return value;
      }
    } catch (cause) {
      this.#owed = 0;
      throw cause;
    }
    // An agent that has ended sends no further results.
    this.#owed = 0;
    return undefined;
  }

  /** Closes the agent; resolves when its process has ended. */
  close(): Promise<void> {
    return this.conversation.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Binds `AgentClient.open()` to its dependencies. Resolves once the agent is initialized. */
export function createAgentClient(deps: SdkDeps): (options?: Options) => Promise<AgentClient> {
  return async (options) => {
    const conversation = new Conversation(options, deps);
    try {
      await conversation.initialized;
    } catch (cause) {
      await conversation.close();
      throw cause;
    }
    return new AgentClient(conversation);
  };
}
