import { Queue } from '../base/async/queue.ts';
import { encodeFrame, type Frame } from '../protocol/control-frame.ts';
import { SdkError } from '../protocol/sdk-error.ts';

import type { AgentLink } from './link.ts';

/**
 * Creates a link inside one process. Frames are copied through JSON, so that the two ends share no objects and the link
 * behaves like one to a process.
 */
export function memoryLinks(): MemoryLinks {
  const toAgent = new Queue<Frame>();
  const toProgram = new Queue<Frame>();
  let held: Promise<void> | undefined;
  const hold = (until: Promise<void>) => {
    if (held === until) return;
    held = until;
    const release = () => {
      if (held === until) held = undefined;
    };
    until.then(release, release);
  };
  return {
    program: { ...end(toProgram, toAgent), hold },
    agent: { ...end(toAgent, toProgram), room: () => held },
    fail(cause) {
      toProgram.fail(cause);
      toAgent.end();
    },
  };
}

export type MemoryLinks = {
  readonly program: AgentLink;
  readonly agent: AgentLink;
  /** Ends the program's frames with this error, after the frames sent before, because the agent failed or never started. */
  fail(cause: unknown): void;
};

function end(incoming: Queue<Frame>, outgoing: Queue<Frame>): AgentLink {
  let isEnded = false;
  const push = (frame: Frame): boolean => {
    const text = encodeFrame(frame);
    if (!isEnded) outgoing.push(JSON.parse(text) as Frame);
    return !isEnded;
  };
  const endOutgoing = () => {
    isEnded = true;
    outgoing.end();
  };
  return {
    frames: incoming,
    send(frame) {
      if (push(frame)) return Promise.resolve();
      const refused = Promise.reject(new SdkError('closed', 'The link is closed'));
      refused.catch(() => {});
      return refused;
    },
    post: (frame) => void push(frame),
    end: endOutgoing,
    async close() {
      endOutgoing();
      incoming.end();
    },
  };
}
