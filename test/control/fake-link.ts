import { Queue } from '../../src/base/async/queue.ts';
import type { AgentLink } from '../../src/control/link.ts';
import { encodeFrame, type Frame } from '../../src/protocol/control-frame.ts';

/** A link whose far end is the test, which sends frames and inspects the sent ones; both are copied through JSON. */
export class FakeLink implements AgentLink {
  readonly frames = new Queue<Frame>();
  /** Everything that was sent, in order. */
  readonly sent: Frame[] = [];
  readonly #sending = new Queue<Frame>();
  #room: Promise<void> = Promise.resolve();

  send(frame: Frame): Promise<void> {
    const carried = JSON.parse(encodeFrame(frame)) as Frame;
    this.sent.push(carried);
    this.#sending.push(carried);
    return this.#room;
  }

  end(): void {}

  async close(): Promise<void> {
    this.frames.end();
  }

  /** Sends a frame from the far end. */
  say(frame: Frame): void {
    this.frames.push(frame);
  }

  /** Sends a control request from the far end. */
  ask(request_id: string, request: unknown): void {
    this.say({ type: 'control_request', request_id, request });
  }

  /** Waits for the next sent frame. */
  async nextSent<Shape = Frame>(): Promise<Shape> {
    return (await this.#sending.next()).value as Shape;
  }

  /** Withholds room until the returned function is called or the link fails. */
  fill(): { drain(): void; break(cause: Error): void } {
    const room = Promise.withResolvers<void>();
    this.#room = room.promise;
    return { drain: room.resolve, break: room.reject };
  }
}
