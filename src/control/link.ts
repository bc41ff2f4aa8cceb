import type { Frame } from '../protocol/control-frame.ts';

/** Frames in order, for one reader. `drainTo` delivers them synchronously, which saves a microtask per frame. */
export type FrameSource = AsyncIterable<Frame> & {
  /** Gives every frame to `take` as it comes; settles as iterating would end. */
  drainTo?(take: (frame: Frame) => void): Promise<void>;
};

/** The one seam between the two halves: a duplex of control frames. */
export interface AgentLink {
  /** What the far end sends, in order. Ends when it closed as expected, throws when it died. One reader. */
  readonly frames: FrameSource;
  /** Sends frames in order; the promise settles when there is room for more. Throws at once if the frame is not JSON. */
  send(frame: Frame): Promise<void>;
  /** Sends without a promise; a broken link is reported by the end of `frames`. */
  post?(frame: Frame): void;
  /** Settles when the far end has room for more; undefined if it has room now. Sending without room is allowed. */
  room?(): Promise<void> | undefined;
  /** Makes the far end's `room()` wait for the promise, because the reader here is behind. */
  hold?(until: Promise<void>): void;
  /** Nothing more will be sent: the far end finishes what it has and closes. */
  end(): void;
  /** Ends the far end, gently first; resolves once nothing of it is left. */
  close(): Promise<void>;
}
