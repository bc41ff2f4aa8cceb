import type { Frame } from '../protocol/control-frame.ts';

/** Frames in order, for one reader. A source that can hand them over at once spares each a trip through the microtask queue. */
export type FrameSource = AsyncIterable<Frame> & {
  /** Gives every frame to `take` as it comes; settles as iterating would end. */
  drainTo?(take: (frame: Frame) => void): Promise<void>;
};

/** The one seam between the two halves: a duplex of control frames. */
export interface AgentLink {
  /** What the far end sends, in order. Ends when it closed as expected, throws when it died. One reader. */
  readonly frames: FrameSource;
  /** Frames leave in the order given; the promise settles when there is room for more. Throws at once for what is no JSON. */
  send(frame: Frame): Promise<void>;
  /** The same for a frame nobody waits for: it makes no promise, and a link that breaks tells so by its end. */
  post?(frame: Frame): void;
  /** Settles when the far end has room for more; undefined if it has now. What must arrive may be sent all the same. */
  room?(): Promise<void> | undefined;
  /** Has the far end's `room()` wait until then: whoever reads here is behind. */
  hold?(until: Promise<void>): void;
  /** Nothing more will be sent: the far end finishes what it has and closes. */
  end(): void;
  /** Ends the far end, gently first; resolves once nothing of it is left. */
  close(): Promise<void>;
}
