import { isRecord } from '../../base/json-value.ts';
import type { ModelBlock, Usage, UserBlock } from '../../protocol/agent-message.ts';
import type { ModelMessage } from '../models/model.ts';
import type { RemovedImages } from '../models/sanitize-request.ts';

/** The first line of a file. */
export type Header = {
  readonly type: 'header';
  readonly version: number;
  readonly sessionId: string;
  readonly cwd: string;
  readonly createdAt: string;
  /** The session that this one was copied from, or that `/clear` ended: stored results may be in its folder. */
  readonly forkedFrom?: string;
  /** The kind of program that started the session, as in `CLAUDE_CODE_ENTRYPOINT`. */
  readonly entrypoint?: string;
  /** The sub-agent whose conversation the file holds. */
  readonly agent?: SubAgentHeader;
};

/** A sub-agent, and the call that started it. */
export type SubAgentHeader = {
  readonly id: string;
  readonly type: string;
  readonly toolUseId: string;
  readonly description: string;
};

/** The version of the file format. */
export const VERSION = 1;

export type EntryBody =
  | {
      readonly type: 'user';
      readonly content: readonly UserBlock[];
      /** Sent to the model, but not a message of the user. */
      readonly isMeta?: boolean;
    }
  | {
      readonly type: 'assistant';
      readonly content: readonly ModelBlock[];
      /** The id that the model gave its reply. */
      readonly id?: string;
      readonly model: string;
      readonly stop_reason?: string | null;
      /** The name that the request was sent with, if the model reports another one. */
      readonly requestedModel?: string;
      readonly usage: Usage;
    }
  | { readonly type: 'results'; readonly content: readonly UserBlock[] }
  | {
      readonly type: 'compaction';
      readonly trigger: 'manual' | 'auto';
      readonly preTokens: number;
      readonly summary: string;
      /** The whole conversation after the compaction, so that a resumed session sends what the model saw. */
      readonly messages: readonly ModelMessage[];
      /** What a resumed session needs of the entries before this one, so that it does not read them. */
      readonly earlier?: EarlierEntries;
    }
  /** Metadata of the session; the last entry with each member wins. An empty tag means no tag. */
  | { readonly type: 'meta'; readonly title?: string; readonly tag?: string }
  /** A kind written by a later version, kept unchanged. */
  | { readonly type: 'other'; readonly raw: Readonly<Record<string, unknown>> };

/** What happened since the entry before and has no entry of its own. */
export type EntryNotes = {
  /** The usage of replies that have no entry: of sub-agents, compactions and servers. */
  readonly otherReplies?: readonly ReplyUsage[];
  /** Images that were removed from the messages before this entry, because the model rejected them. */
  readonly removedImages?: RemovedImages;
  /** The messages of channels that the entry contains. */
  readonly channelMessages?: readonly string[];
};

/** The usage of a reply, or of several; `model` is the name that its request was sent with. */
export type ReplyUsage = {
  readonly model: string;
  readonly usage: Usage;
  /** The cost of several replies: the price of a long request differs, so it does not follow from the sum. */
  readonly costUsd?: number;
};

/** What is kept of the entries before a compaction. */
export type EarlierEntries = {
  /** The usage of all replies, one item per model. */
  readonly replies: readonly ReplyUsage[];
  /** The latest messages of channels, and those of them that no reply follows. */
  readonly channelMessages: readonly string[];
  readonly unanswered?: readonly string[];
};

/** The position of an entry: after its parent, which need not be the line before it. */
export type Link = {
  readonly uuid: string;
  readonly parentUuid: string | null;
  readonly timestamp: string;
  readonly sessionId: string;
};

export type Entry = EntryBody & EntryNotes & Link;

/** An entry to be written; an entry whose id the program already knows keeps that id. */
export type NewEntry = EntryBody & EntryNotes & { readonly uuid?: string; readonly timestamp?: string };

export function entryLine(entry: Entry): string {
  const { uuid, parentUuid, timestamp, sessionId, type, ...body } = entry;
  const link = { uuid, parentUuid, timestamp, sessionId };
  const written = entry.type === 'other' ? { ...entry.raw, ...link } : { type, ...link, ...body };
  return JSON.stringify(written);
}

/** Parses the JSON of a line; undefined if it is not an entry. Unknown members are dropped. */
export function parseEntry(value: unknown): Entry | undefined {
  if (!isRecord(value) || typeof value.type !== 'string' || value.type === 'header') return undefined;
  const { uuid, parentUuid, timestamp, sessionId } = value;
  if (typeof uuid !== 'string' || (typeof parentUuid !== 'string' && parentUuid !== null)) return undefined;
  const body = parseBody(value, value.type);
  const link = { uuid, parentUuid, timestamp: text(timestamp), sessionId: text(sessionId) };
  return body && { ...body, ...parseNotes(value), ...link };
}

export function parseHeader(value: unknown): Header | undefined {
  if (!isRecord(value) || value.type !== 'header' || typeof value.version !== 'number') return undefined;
  const { version, sessionId, cwd, createdAt, forkedFrom, entrypoint, agent } = value;
  return {
    type: 'header',
    version,
    sessionId: text(sessionId),
    cwd: text(cwd),
    createdAt: text(createdAt),
    ...(typeof forkedFrom === 'string' && { forkedFrom }),
    ...(typeof entrypoint === 'string' && { entrypoint }),
    ...(isRecord(agent) && { agent: parseSubAgent(agent) }),
  };
}

function parseSubAgent({ id, type, toolUseId, description }: Record<string, unknown>): SubAgentHeader {
  return { id: text(id), type: text(type), toolUseId: text(toolUseId), description: text(description) };
}

function parseBody(value: Record<string, unknown>, type: string): EntryBody | undefined {
  const { content } = value;
  switch (type) {
    case 'user':
      if (!isUserContent(content)) return undefined;
      return { type, content, ...(value.isMeta === true && { isMeta: true }) };
    case 'results':
      return isUserContent(content) ? { type, content } : undefined;
    case 'assistant':
      if (!isModelContent(content)) return undefined;
      return {
        type,
        content,
        ...(typeof value.id === 'string' && { id: value.id }),
        model: text(value.model),
        ...(typeof value.stop_reason === 'string' && { stop_reason: value.stop_reason }),
        ...(typeof value.requestedModel === 'string' && { requestedModel: value.requestedModel }),
        usage: parseUsage(value.usage),
      };
    case 'compaction': {
      const { messages, preTokens } = value;
      if (!Array.isArray(messages) || !messages.every(isMessage)) return undefined;
      const trigger = value.trigger === 'manual' ? 'manual' : 'auto';
      const tokens = typeof preTokens === 'number' ? preTokens : 0;
      const earlier = parseEarlier(value.earlier);
      const summary = text(value.summary);
      return { type, trigger, preTokens: tokens, summary, messages, ...(earlier && { earlier }) };
    }
    case 'meta':
      if (typeof value.title !== 'string' && typeof value.tag !== 'string') return undefined;
      return {
        type,
        ...(typeof value.title === 'string' && { title: value.title }),
        ...(typeof value.tag === 'string' && { tag: value.tag }),
      };
    default: {
      const { uuid: _, parentUuid: __, timestamp: ___, sessionId: ____, ...raw } = value;
      return { type: 'other', raw };
    }
  }
}

function parseNotes(value: Record<string, unknown>): EntryNotes {
  const { type, otherReplies, removedImages, channelMessages } = value;
  if (type === 'meta') return {};
  const replies = parseReplies(otherReplies);
  return {
    ...(replies.length > 0 && { otherReplies: replies }),
    ...((removedImages === 'latest' || removedImages === 'all') && { removedImages }),
    ...(Array.isArray(channelMessages) && { channelMessages: channelMessages.map(String) }),
  };
}

function parseEarlier(value: unknown): EarlierEntries | undefined {
  if (!isRecord(value)) return undefined;
  const { replies, channelMessages, unanswered } = value;
  return {
    replies: parseReplies(replies),
    channelMessages: Array.isArray(channelMessages) ? channelMessages.map(String) : [],
    ...(Array.isArray(unanswered) && { unanswered: unanswered.map(String) }),
  };
}

function parseReplies(value: unknown): ReplyUsage[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).map(({ model, usage, costUsd }) => ({
    model: text(model),
    usage: parseUsage(usage),
    ...(typeof costUsd === 'number' && { costUsd }),
  }));
}

function parseUsage(value: unknown): Usage {
  const none: Usage = { input_tokens: 0, output_tokens: 0 };
  return isRecord(value) ? { ...none, ...value } : none;
}

function isMessage(value: unknown): value is ModelMessage {
  if (!isRecord(value)) return false;
  return value.role === 'user'
    ? isUserContent(value.content)
    : value.role === 'assistant' && isModelContent(value.content);
}

function isUserContent(value: unknown): value is UserBlock[] {
  return Array.isArray(value) && value.every(isUserBlock);
}

function isUserBlock(value: unknown): value is UserBlock {
  if (!isRecord(value) || value.type === 'tool_use') return false;
  if (value.type !== 'tool_result') return isBlock(value);
  const { content } = value;
  const isContent = content === undefined || typeof content === 'string' || isUserContent(content);
  return typeof value.tool_use_id === 'string' && isContent;
}

function isModelContent(value: unknown): value is ModelBlock[] {
  return Array.isArray(value) && value.every((block) => isBlock(block) && block.type !== 'tool_result');
}

/** Whether a block has the members that its kind requires. */
function isBlock(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  const needed = ['type', ...(REQUIRED_MEMBERS.get(value.type) ?? [])];
  return needed.every((name) => typeof value[name] === 'string');
}

const REQUIRED_MEMBERS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['text']],
  ['thinking', ['thinking']],
  ['tool_use', ['id', 'name']],
]);

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
