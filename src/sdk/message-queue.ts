import { Queue } from '../base/queue.ts';
import type { AgentLink } from '../control/link.ts';
import type { SDKMessage } from '../protocol/agent-message.ts';

/** Unread messages from which on a slow reader slows the agent down. */
const MAX_UNREAD = 1000;

/**
 * The messages of a conversation that the program has not read yet. Beyond `MAX_UNREAD` only the latest progress of
 * each call is kept, and an agent in this process waits before it reads more from its model; no other message is lost.
 */
export class MessageQueue extends Queue<SDKMessage> {
  constructor() {
    super({ limit: MAX_UNREAD, keyOf: progressKey });
  }

  /** Adds a message that came by `link`. */
  receive(message: SDKMessage, link: AgentLink): void {
    this.push(message);
    if (this.unread >= MAX_UNREAD) link.hold?.(this.below(MAX_UNREAD / 2));
  }
}

function progressKey(message: SDKMessage): string | undefined {
  return message.type === 'tool_progress' ? String(message.tool_use_id) : undefined;
}
