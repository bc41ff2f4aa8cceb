import { visibleJson, visibleText } from '../base/text/display-text.ts';
import { redactedJson } from '../base/text/redact.ts';
import type { Frame } from '../protocol/control-frame.ts';

/** Frames in order, for one reader. `drainTo` delivers them synchronously, which saves a microtask per frame. */
type FrameSource = AsyncIterable<Frame> & {
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

/** The same link with every frame printed, secrets masked and invisible characters escaped: `>` is what we send, `<` what the agent sends. */
export function logFrames(link: AgentLink, print: (line: string) => void): AgentLink {
  async function* frames(): AsyncGenerator<Frame> {
    try {
      for await (const frame of link.frames) {
        print(`< ${shown(frame)}`);
        yield frame;
      }
      print('< end');
    } catch (cause) {
      print(`< ${visibleText(String(cause))}`);
      throw cause;
    }
  }
  return {
    frames: frames(),
    send(frame) {
      const sent = link.send(frame);
      print(`> ${shown(frame)}`);
      return sent;
    },
    post(frame) {
      if (link.post) link.post(frame);
      else link.send(frame).catch(() => {});
      print(`> ${shown(frame)}`);
    },
    room: () => link.room?.(),
    hold: (until) => link.hold?.(until),
    end() {
      print('> end');
      link.end();
    },
    close: () => link.close(),
  };
}

/** Text of servers and models must not control the terminal. */
function shown(frame: Frame): string {
  return visibleJson(redactedJson(frame));
}
