import { Queue } from '../../src/base/async/queue.ts';
import type { AgentLink } from '../../src/control/link.ts';
import { encodeFrame, type Frame } from '../../src/protocol/control-frame.ts';

/** A link whose far end is the test: it says what arrives and sees what was sent, as JSON would carry both. */
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

  /** The far end says this. */
  say(frame: Frame): void {
    this.frames.push(frame);
  }

  /** The far end asks this. */
  ask(request_id: string, request: unknown): void {
    this.say({ type: 'control_request', request_id, request });
  }

  /** The next frame that is sent, waited for if need be. */
  async nextSent<Shape = Frame>(): Promise<Shape> {
    return (await this.#sending.next()).value as Shape;
  }

  /** From now on there is no room until the returned function is called, or it breaks. */
  fill(): { drain(): void; break(cause: Error): void } {
    const room = Promise.withResolvers<void>();
    this.#room = room.promise;
    return { drain: room.resolve, break: room.reject };
  }
}
