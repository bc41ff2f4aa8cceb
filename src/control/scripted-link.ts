import { isDeepStrictEqual } from 'node:util';
import { Queue } from '../base/queue.ts';
import type { Frame } from '../protocol/control-frame.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import { encodeFrame } from './frame-codec.ts';
import type { AgentLink } from './link.ts';

/**
 * The agent's side of a link, in a test's hands: what the program under test sends is read here, what the agent says is sent here.
 * It carries JSON-equal values only, as a process does. Every instance stands alone, so tests do not disturb each other.
 */
export class ScriptedAgent {
  /** Every frame the program sent, in order. */
  readonly sent: Frame[] = [];
  readonly #toProgram = new Queue<Frame>();
  readonly #arrived: (() => void)[] = [];
  #read = 0;
  #ended = false;

  /** The program's end. */
  readonly link: AgentLink = {
    frames: this.#toProgram,
    send: (frame) => {
      const line = encodeFrame(frame);
      if (this.#ended) {
        const refused = Promise.reject(new SdkError('closed', 'The scripted agent takes no more input'));
        refused.catch(() => {});
        return refused;
      }
      this.sent.push(JSON.parse(line) as Frame);
      this.#wake();
      return Promise.resolve();
    },
    end: () => {
      this.#ended = true;
      this.#wake();
    },
    close: async () => {
      this.#ended = true;
      this.#wake();
      this.#toProgram.end();
    },
  };

  /** Says something to the program. */
  say(frame: Frame): void {
    this.#toProgram.push(JSON.parse(encodeFrame(frame)) as Frame);
  }

  /** The next frame the program sends; fails if it sends no more, or if the frame has not the members expected. */
  async take(expected: Frame = {}): Promise<Frame> {
    while (this.#read >= this.sent.length) {
      if (this.#ended)
        throw new SdkError('script-mismatch', `The program ended; expected ${JSON.stringify(expected)}`);
      await new Promise<void>((resolve) => this.#arrived.push(resolve));
    }
    const frame = this.sent[this.#read++] as Frame;
    if (!includes(frame, expected)) {
      throw new SdkError(
        'script-mismatch',
        `The program sent ${JSON.stringify(frame)}; expected ${JSON.stringify(expected)}`,
      );
    }
    return frame;
  }

  /** Resolves when the program will send nothing more. */
  async ended(): Promise<void> {
    while (!this.#ended) await new Promise<void>((resolve) => this.#arrived.push(resolve));
  }

  /** The agent closes: as expected, or by dying of `cause`. */
  leave(cause?: Error): void {
    this.#ended = true;
    this.#wake();
    if (cause) this.#toProgram.fail(cause);
    else this.#toProgram.end();
  }

  #wake(): void {
    for (const resume of this.#arrived.splice(0)) resume();
  }
}

/** Every member of `expected` is in `actual`; objects are compared member by member, everything else must be equal. */
function includes(actual: unknown, expected: unknown): boolean {
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected)) {
    return isDeepStrictEqual(actual, expected);
  }
  if (typeof actual !== 'object' || actual === null) return false;
  return Object.entries(expected).every(([key, value]) => includes((actual as Frame)[key], value));
}
