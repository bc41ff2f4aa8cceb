import type { Frame } from '../protocol/control-frame.ts';

/** Frames in order, for one reader. `drainTo` delivers them synchronously, which saves a microtask per frame. */
export type FrameSource = AsyncIterable<Frame> & {
  /** Passes every frame to `take` when it arrives; settles as iterating would end. */
  drainTo?(take: (frame: Frame) => void): Promise<void>;
};

/** The only interface between the two halves: a duplex of control frames. */
export interface AgentLink {
  /** The frames of the far end, in order. Ends when the far end closed as expected, throws when it failed. One reader. */
  readonly frames: FrameSource;
  /** Sends frames in order; the promise settles when there is room for more. Throws at once if the frame is not JSON. */
  send(frame: Frame): Promise<void>;
  /** Sends without a promise; a broken link is reported by the end of `frames`. */
  post?(frame: Frame): void;
  /** Settles when the far end has room for more; undefined if it has room now. Sending without room is allowed. */
  room?(): Promise<void> | undefined;
  /** Makes the far end's `room()` wait for the promise, because the reader here is behind. */
  hold?(until: Promise<void>): void;
  /** Signals that nothing more will be sent: the far end finishes its work and closes. */
  end(): void;
  /** Closes the far end, gracefully first; resolves when it has ended completely. */
  close(): Promise<void>;
}
