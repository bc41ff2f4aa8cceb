import { addUsage } from '../loop/loop.ts';
import { replyCost } from '../models/usage-totals.ts';
import type { EarlierEntries, Entry, EntryNotes, NewEntry, ReplyUsage } from './transcript-entry.ts';

/** How many messages of channels are remembered; a channel delivers a message again only soon after the first time. */
const MAX_CHANNEL_MESSAGES = 1_000;

/** Sums up the entries of a conversation, for its next compaction. */
export class EarlierTotals {
  readonly #models = new Map<string, ReplyUsage>();
  #channelMessages: readonly string[] = [];
  #unanswered: readonly string[];

  constructor(unanswered: readonly string[] = []) {
    this.#unanswered = unanswered;
  }

  /** The messages of channels that no reply follows. */
  get unanswered(): readonly string[] {
    return this.#unanswered;
  }

  addEntry(entry: NewEntry): void {
    if (entry.type === 'assistant') this.#addReply(ownReply(entry));
    if (entry.type !== 'meta') this.add(entry);
    this.#unanswered = unansweredAfter(this.#unanswered, entry);
  }

  add({
    otherReplies = [],
    channelMessages = [],
  }: { readonly [Name in keyof EntryNotes]: EntryNotes[Name] | undefined }): void {
    for (const reply of otherReplies) this.#addReply(reply);
    if (channelMessages.length > 0)
      this.#channelMessages = [...this.#channelMessages, ...channelMessages].slice(-MAX_CHANNEL_MESSAGES);
  }

  sum(): EarlierEntries {
    return {
      replies: [...this.#models.values()],
      channelMessages: this.#channelMessages,
      ...(this.#unanswered.length > 0 && { unanswered: this.#unanswered }),
    };
  }

  #addReply({ model, usage, costUsd = replyCost(model, usage) }: ReplyUsage): void {
    const before = this.#models.get(model);
    const cost = costUsd === undefined ? {} : { costUsd: (before?.costUsd ?? 0) + costUsd };
    this.#models.set(model, { model, usage: before ? addUsage(before.usage, usage) : usage, ...cost });
  }
}

function unansweredAfter(before: readonly string[], entry: NewEntry): readonly string[] {
  if (entry.type === 'assistant') return [];
  return entry.type === 'meta' || !entry.channelMessages ? before : [...before, ...entry.channelMessages];
}

/**
 * The usage of the replies, also of those without an entry of their own, and the messages of channels. The `claude` CLI
 * stores each block of a reply with the usage of the whole reply.
 */
export function totalsOf(entries: readonly Entry[]): Required<EarlierEntries> {
  const from = entries.findLastIndex((entry) => entry.type === 'compaction' && entry.earlier !== undefined);
  const first = entries[from];
  const earlier = first?.type === 'compaction' ? first.earlier : undefined;
  const later = entries.slice(Math.max(0, from));
  const replies = later.filter((entry) => entry.type === 'assistant');
  const counted = new Set<Entry>(
    replies.filter(({ id }, at) => id === undefined || id !== replies[at + 1]?.id),
  );
  const added = later.flatMap((entry) => {
    const { otherReplies = [] } = entry;
    if (entry.type !== 'assistant' || !counted.has(entry)) return otherReplies;
    return [...otherReplies, ownReply(entry)];
  });
  return {
    replies: [...(earlier?.replies ?? []), ...added],
    channelMessages: [
      ...(earlier?.channelMessages ?? []),
      ...later.flatMap((entry) => entry.channelMessages ?? []),
    ],
    unanswered: later.reduce(unansweredAfter, earlier?.unanswered ?? []),
  };
}

function ownReply({
  model,
  requestedModel = model,
  usage,
}: Extract<NewEntry, { type: 'assistant' }>): ReplyUsage {
  return { model: requestedModel, usage };
}
