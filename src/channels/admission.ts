import { truncate } from '../base/text/display-text.ts';
import type { ChannelSetting } from '../config/settings/channel-settings.ts';
import type { PushedMessage } from './channel-message.ts';
import type { NewMessage } from './inbox.ts';

/** The kind of a refusal. */
export type RefusalReason = 'invalid' | 'rate' | 'quota' | 'duplicate' | 'storage';

/** Each kind as a text for the user. */
export const REFUSALS: Readonly<Record<RefusalReason, string>> = {
  invalid: "the notification is invalid; report this to the server's author",
  rate: 'the server exceeded the rate limit; raise "maxPerMinute" of the channel, or let the server send less',
  quota:
    'too many messages of the channel are pending; let a conversation receive them, or delete them with: toolplane channels purge --state pending --source <name>',
  duplicate:
    'the server sent a message with the same "meta.id" and other content before; let the server use each id once',
  storage: 'the channel inbox cannot be written; an earlier warning gives the reason and the remedy',
};

/** Why a message is not stored. */
export type Refusal = {
  readonly reason: RefusalReason;
  readonly id?: string | undefined;
  readonly message?: string;
};

/** A message that the limits of its channel admit to the inbox, or why not. */
export type Admission = NewMessage | Refusal;

/** How much of an oversized message is kept in the quarantine. */
const KEPT_CHARACTERS = 4_000;

/** Applies the size limit and the sender list of a channel. The reason for a quarantine names everything that is odd. */
export function judgeMessage(source: string, pushed: PushedMessage, setting: ChannelSetting): NewMessage {
  const bytes = Buffer.byteLength(pushed.content) + Buffer.byteLength(JSON.stringify(pushed.meta));
  const isLarge = bytes > setting.maxBytes;
  const reasons = [
    ...senderFault(pushed, setting),
    ...(isLarge
      ? [
          `the message has ${bytes} bytes, more than the limit of ${setting.maxBytes}; only its beginning is kept`,
        ]
      : []),
  ];
  if (reasons.length === 0) return { ...pushed, source, state: 'pending' };
  const content = isLarge
    ? truncate(pushed.content, Math.min(KEPT_CHARACTERS, setting.maxBytes))
    : pushed.content;
  return { ...pushed, content, source, state: 'quarantined', reason: reasons.join('; ') };
}

/** Why the sender that `meta` names is not accepted; empty if it is. */
export function senderFault(
  { meta }: Pick<PushedMessage, 'meta'>,
  { senders, senderKey }: ChannelSetting,
): string[] {
  if (!senders) return [];
  const sender = Object.hasOwn(meta, senderKey) ? meta[senderKey] : undefined;
  if (sender === undefined) return [`unknown sender: the message has no "meta.${senderKey}"`];
  return senders.includes(sender) ? [] : [`unknown sender: ${JSON.stringify(sender)} is not in "senders"`];
}

const MINUTE_MS = 60_000;

/** Counts the messages of one source per minute. */
export class RateLimit {
  #startedAt = Number.NEGATIVE_INFINITY;
  #count = 0;

  /** Counts a message; false if it exceeds the limit. */
  admits(now: number, maxPerMinute: number): boolean {
    const elapsedMs = now - this.#startedAt;
    // The clock of the system may jump back.
    if (elapsedMs >= MINUTE_MS || elapsedMs < 0) {
      this.#startedAt = now;
      this.#count = 0;
    }
    this.#count++;
    return this.#count <= maxPerMinute;
  }
}
