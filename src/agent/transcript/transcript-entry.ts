import { isRecord } from '../../base/json-value.ts';
import type { ModelBlock, Usage, UserBlock } from '../../protocol/agent-message.ts';
import type { ModelMessage } from '../models/model.ts';

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
};

/** The version of the file format. */
export const VERSION = 1;

export type EntryBody =
  | { readonly type: 'user'; readonly content: readonly UserBlock[] }
  | {
      readonly type: 'assistant';
      readonly content: readonly ModelBlock[];
      /** The id that the model gave its reply. */
      readonly id?: string;
      readonly model: string;
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
    }
  /** Metadata of the session; the last entry with each member wins. An empty tag means no tag. */
  | { readonly type: 'meta'; readonly title?: string; readonly tag?: string }
  /** A kind written by a later version, kept unchanged. */
  | { readonly type: 'other'; readonly raw: Readonly<Record<string, unknown>> };

/** The position of an entry: after its parent, which need not be the line before it. */
export type Link = {
  readonly uuid: string;
  readonly parentUuid: string | null;
  readonly timestamp: string;
  readonly sessionId: string;
};

export type Entry = EntryBody & Link;

/** An entry to be written; an entry whose id the program already knows keeps that id. */
export type NewEntry = EntryBody & { readonly uuid?: string; readonly timestamp?: string };

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
  return body && { ...body, uuid, parentUuid, timestamp: text(timestamp), sessionId: text(sessionId) };
}

export function parseHeader(value: unknown): Header | undefined {
  if (!isRecord(value) || value.type !== 'header' || typeof value.version !== 'number') return undefined;
  const { version, sessionId, cwd, createdAt, forkedFrom, entrypoint } = value;
  return {
    type: 'header',
    version,
    sessionId: text(sessionId),
    cwd: text(cwd),
    createdAt: text(createdAt),
    ...(typeof forkedFrom === 'string' && { forkedFrom }),
    ...(typeof entrypoint === 'string' && { entrypoint }),
  };
}

function parseBody(value: Record<string, unknown>, type: string): EntryBody | undefined {
  const { content } = value;
  switch (type) {
    case 'user':
    case 'results':
      return isUserContent(content) ? { type, content } : undefined;
    case 'assistant':
      if (!isModelContent(content)) return undefined;
      return {
        type,
        content,
        ...(typeof value.id === 'string' && { id: value.id }),
        model: text(value.model),
        usage: parseUsage(value.usage),
      };
    case 'compaction': {
      const { messages, preTokens } = value;
      if (!Array.isArray(messages) || !messages.every(isMessage)) return undefined;
      const trigger = value.trigger === 'manual' ? 'manual' : 'auto';
      const tokens = typeof preTokens === 'number' ? preTokens : 0;
      return { type, trigger, preTokens: tokens, summary: text(value.summary), messages };
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
