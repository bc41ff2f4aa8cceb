import type { Frame } from '../protocol/control-frame.ts';

/** The one seam between the two halves: a duplex of control frames. */
export interface AgentLink {
  /** What the far end sends, in order. Ends when it closed as expected, throws when it died. One reader. */
  readonly frames: AsyncIterable<Frame>;
  /** Frames leave in the order given; the promise settles when there is room for more. Throws at once for what is no JSON. */
  send(frame: Frame): Promise<void>;
  /** Nothing more will be sent: the far end finishes what it has and closes. */
  end(): void;
  /** Ends the far end, gently first; resolves once nothing of it is left. */
  close(): Promise<void>;
}
