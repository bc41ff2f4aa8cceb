import { createHash, randomUUID } from 'node:crypto';
import { isRecord } from '../../base/json-value.ts';
import { type Entry, type Header, parseEntry, parseHeader } from './transcript-entry.ts';

/**
 * One line of a transcript in the form in which the `claude` CLI writes it. Entries of Toolplane's own transcripts are
 * converted to this form, so that the session functions treat both alike.
 */
export type TranscriptRecord = Readonly<Record<string, unknown>>;

/** The records of a transcript, and whose transcript it is. */
export type Records = {
  readonly writer: 'claude' | 'toolplane';
  readonly records: readonly TranscriptRecord[];
  /** The call that started the sub-agent, in a transcript of a sub-agent of Toolplane's agent. */
  readonly toolUseId?: string;
};

/** Parses the text of a transcript, or a part of it. Lines that are not JSON objects are skipped. */
export function parseRecords(text: string): Records {
  const values = text.split('\n').flatMap(parseLine);
  const header = parseHeader(values[0]);
  if (!header) return { writer: 'claude', records: values };
  const records = values.slice(1).flatMap((value) => fromEntry(value, header));
  return { writer: 'toolplane', records, ...(header.agent && { toolUseId: header.agent.toolUseId }) };
}

/** Copies of requests to the model, which are most of a file and which no session function reads. */
const SKIPPED = '{"type":"api-request';

function parseLine(line: string): TranscriptRecord[] {
  if (line === '' || line.startsWith(SKIPPED)) return [];
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? [value] : [];
  } catch {
    return [];
  }
}

/**
 * The conversation of the `claude` CLI as entries of our own transcripts, which keep the ids of its messages. Its reminders
 * are left out: they describe its own environment and tools.
 */
export function toEntries(branch: readonly TranscriptRecord[]): Entry[] {
  let parentUuid: string | null = null;
  let compaction: TranscriptRecord = {};
  return branch.flatMap((record) => {
    if (isRecord(record.compactMetadata)) compaction = record.compactMetadata;
    const { timestamp, sessionId } = record;
    const uuid = idOf(record);
    const entry = parseEntry({ uuid, parentUuid, timestamp, sessionId, ...bodyOf(record, compaction) });
    if (entry) parentUuid = entry.uuid;
    return entry ? [entry] : [];
  });
}

/** The content of an entry; undefined for records that were not sent to the model, and for reminders. */
function bodyOf(record: TranscriptRecord, { trigger, preTokens }: TranscriptRecord): object | undefined {
  const { type, message } = record;
  const content = withoutReferences(blocksOf(message));
  if (content.length === 0) return undefined;
  if (type === 'assistant' && isRecord(message)) {
    // A message of the CLI itself, for example about a failed request.
    const isSynthetic = record.isApiErrorMessage === true || message.model === '<synthetic>';
    return isSynthetic ? undefined : { ...message, type, content };
  }
  if (type !== 'user') return undefined;
  if (record.isCompactSummary === true) {
    const summary = content.map(({ text }) => text).join('\n');
    return { type: 'compaction', trigger, preTokens, summary, messages: [{ role: 'user', content }] };
  }
  if (record.isVisibleInTranscriptOnly === true) return undefined;
  if (content.some((block) => block.type === 'tool_result')) return { type: 'results', content };
  return { type, content, ...(record.isMeta === true && { isMeta: true }) };
}

/** Blocks are nested two or three levels deep; a file with more than this is damaged or hostile. */
const MAX_BLOCK_DEPTH = 16;

/** Names the tools that a search of the CLI found: a model API accepts references to tools only with its own tool search. */
function withoutReferences(blocks: readonly TranscriptRecord[], depth = 1): TranscriptRecord[] {
  return blocks.flatMap((block) => {
    const { type, tool_name: text, content } = block;
    if (type === 'tool_reference') return typeof text === 'string' ? [{ type: 'text', text }] : [];
    if (!Array.isArray(content)) return [block];
    const inner = depth < MAX_BLOCK_DEPTH ? withoutReferences(content.filter(isRecord), depth + 1) : [];
    return [{ ...block, content: inner }];
  });
}

function fromEntry(value: TranscriptRecord, header: Header): TranscriptRecord[] {
  const entry = parseEntry(value);
  return entry ? convert(entry, header) : [];
}

function convert(entry: Entry, { cwd, entrypoint, agent }: Header): TranscriptRecord[] {
  const { uuid, parentUuid, timestamp, sessionId } = entry;
  const link = { uuid, parentUuid, timestamp, sessionId, isSidechain: agent !== undefined, cwd, entrypoint };
  switch (entry.type) {
    case 'user':
    case 'results': {
      const isMeta = entry.type === 'user' && entry.isMeta === true;
      // The task of a sub-agent is a text.
      const [block, ...others] = entry.content;
      const isTask = agent && parentUuid === null && block?.type === 'text' && others.length === 0;
      const message = { role: 'user', content: isTask ? block.text : entry.content };
      return [{ ...link, type: 'user', message, ...(isMeta && { isMeta }) }];
    }
    case 'assistant': {
      const { id, content, model, usage, stop_reason = null } = entry;
      const ends = { stop_reason, stop_sequence: null };
      const message = {
        ...(id !== undefined && { id }),
        type: 'message',
        role: 'assistant',
        model,
        content,
        ...ends,
        usage,
      };
      return [{ ...link, type: 'assistant', message }];
    }
    case 'compaction': {
      const boundary = {
        ...link,
        type: 'system',
        subtype: 'compact_boundary',
        uuid: boundaryId(uuid),
        parentUuid: null,
        logicalParentUuid: parentUuid,
        compactMetadata: { trigger: entry.trigger, preTokens: entry.preTokens },
      };
      const message = { role: 'user', content: entry.summary };
      const summary = {
        ...link,
        type: 'user',
        message,
        isCompactSummary: true,
        isMeta: entry.summary === '',
      };
      return [boundary, { ...summary, parentUuid: boundary.uuid }];
    }
    case 'meta':
      return [
        ...(entry.title === undefined
          ? []
          : [{ type: 'custom-title', customTitle: entry.title, sessionId, timestamp }]),
        ...(entry.tag === undefined ? [] : [{ type: 'tag', tag: entry.tag, sessionId, timestamp }]),
      ];
    case 'other':
      return [];
  }
}

/** A compaction is one entry in Toolplane's transcripts and two records here; the same id each time it is read. */
function boundaryId(uuid: string): string {
  const hex = createHash('sha256').update(`compact_boundary ${uuid}`).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** A copy of a transcript under a new session id. */
export type Fork = {
  readonly from: string;
  readonly to: string;
  readonly title: string;
  readonly now: Date;
  /** The last message to copy; all messages by default. */
  readonly upTo?: string;
};

/** The text of the copy; undefined if the transcript has no message `upTo`, `'empty'` if it has no messages at all. */
export function forkTranscript(text: string, fork: Fork): string | undefined | 'empty' {
  const values = text.split('\n').flatMap(parseLine);
  const header = parseHeader(values[0]);
  const lines = header ? forkEntries(values.slice(1), header, fork) : forkRecords(values, fork);
  return Array.isArray(lines) ? lines.map((line) => `${JSON.stringify(line)}\n`).join('') : lines;
}

/** The kinds of records that are messages of the conversation. `progress` is not copied. */
const COPIED: readonly unknown[] = ['user', 'assistant', 'system', 'attachment'];
/** State of the session that is copied as it is; the last record of each kind counts. */
const STATE: readonly unknown[] = ['tools-used', 'mode'];

function forkRecords(records: readonly TranscriptRecord[], { from, to, title, now, upTo }: Fork) {
  const isCopied = ({ type, uuid, isSidechain }: TranscriptRecord) =>
    (COPIED.includes(type) || type === 'progress') && typeof uuid === 'string' && isSidechain !== true;
  const linked = cutAfter(records.filter(isCopied), upTo);
  if (!Array.isArray(linked)) return linked;
  const ids = newIds(linked);
  const parents = new Map(linked.map(({ uuid, parentUuid, type }) => [uuid, { parentUuid, type }]));
  /** The nearest ancestor that is copied. */
  const copiedParent = (given: unknown): string | null => {
    let parent = given;
    for (let left = linked.length; left > 0; left--) {
      const found = parents.get(parent);
      if (found?.type !== 'progress') break;
      parent = found.parentUuid;
    }
    return ids.get(parent) ?? null;
  };
  const copies = linked
    .filter(({ type }) => type !== 'progress')
    .map(({ sourceToolAssistantUUID: _, turnAttributionKey: __, ...record }, at, all) => ({
      ...record,
      uuid: ids.get(record.uuid),
      parentUuid: copiedParent(record.parentUuid),
      ...('logicalParentUuid' in record && { logicalParentUuid: copiedParent(record.logicalParentUuid) }),
      timestamp: at === all.length - 1 ? now.toISOString() : record.timestamp,
      sessionId: to,
      isSidechain: false,
      forkedFrom: { sessionId: from, messageUuid: record.uuid },
    }));
  const state = STATE.flatMap((type) => records.filter((record) => record.type === type).slice(-1));
  return [
    ...copies,
    ...state.map((record) => ({ ...record, sessionId: to })),
    {
      type: 'custom-title',
      sessionId: to,
      customTitle: title,
      uuid: randomUUID(),
      timestamp: now.toISOString(),
    },
  ];
}

function forkEntries(values: readonly TranscriptRecord[], header: Header, fork: Fork) {
  const linked = cutAfter(
    values.filter((value) => ![undefined, 'meta'].includes(parseEntry(value)?.type)),
    fork.upTo,
  );
  if (!Array.isArray(linked)) return linked;
  const ids = newIds(linked);
  const copies = linked.map((value) => ({
    ...value,
    uuid: ids.get(value.uuid),
    parentUuid: ids.get(value.parentUuid) ?? null,
    sessionId: fork.to,
  }));
  const createdAt = fork.now.toISOString();
  const meta = {
    type: 'meta',
    uuid: randomUUID(),
    parentUuid: null,
    timestamp: createdAt,
    sessionId: fork.to,
  };
  return [
    { ...header, sessionId: fork.to, createdAt, forkedFrom: fork.from },
    ...copies,
    { ...meta, title: fork.title },
  ];
}

function cutAfter(
  records: readonly TranscriptRecord[],
  upTo: string | undefined,
): TranscriptRecord[] | undefined | 'empty' {
  if (records.length === 0) return 'empty';
  if (upTo === undefined) return [...records];
  const at = records.findIndex(({ uuid }) => uuid === upTo);
  return at === -1 ? undefined : records.slice(0, at + 1);
}

function newIds(records: readonly TranscriptRecord[]): ReadonlyMap<unknown, string> {
  return new Map(records.map(({ uuid }) => [uuid, randomUUID()]));
}

/** The kinds of records that have a parent. */
const LINKED: readonly unknown[] = ['user', 'assistant', 'system', 'attachment', 'progress'];

/** The records of one branch, oldest first: up to the message `upTo`, or the latest branch; empty if there is none. */
export function branchOf(
  records: readonly TranscriptRecord[],
  { sidechain = false, upTo }: { readonly sidechain?: boolean; readonly upTo?: string | undefined },
): TranscriptRecord[] {
  const linked = records.filter(({ type, uuid }) => LINKED.includes(type) && isText(uuid));
  const byId = new Map(linked.map((record) => [record.uuid, queuedPrompt(record) ?? record]));
  const last = upTo === undefined ? latestMessage(byId, { sidechain }) : byId.get(upTo);
  const branch = last && (sidechain || last.isSidechain !== true) ? ancestors(last, byId).reverse() : [];
  return withParallelCalls(withPreserved(branch, byId), [...byId.values()]);
}

/** The user message for a prompt that was sent during a turn, which the CLI stores as an attachment. */
function queuedPrompt({ attachment, isMeta: _, ...record }: TranscriptRecord): TranscriptRecord | undefined {
  if (record.type !== 'attachment' || !isRecord(attachment)) return undefined;
  const { type, prompt, commandMode, isMeta, source_uuid: messageId } = attachment;
  if (type !== 'queued_command' || prompt === undefined) return undefined;
  const kind = commandMode === 'task-notification' ? { kind: commandMode } : undefined;
  const message = { role: 'user', content: prompt };
  const origin = attachment.origin ?? kind;
  return { ...record, type: 'user', message, messageId, origin, isMeta, isQueuedCommand: true };
}

/** The id of a message, which differs from that of its record if the message was queued. */
export function idOf({ messageId, uuid }: TranscriptRecord): unknown {
  return isText(messageId) ? messageId : uuid;
}

/** Adds the messages that a compaction kept: they precede it in the file, and follow its summary in the conversation. */
function withPreserved(
  branch: readonly TranscriptRecord[],
  byId: ReadonlyMap<unknown, TranscriptRecord>,
): TranscriptRecord[] {
  const kept = new Map<unknown, readonly unknown[]>();
  for (const { compactMetadata } of branch) {
    const preserved = isRecord(compactMetadata) ? compactMetadata.preservedMessages : undefined;
    if (isRecord(preserved) && Array.isArray(preserved.uuids))
      kept.set(preserved.anchorUuid, preserved.uuids);
  }
  const placed = new Set(branch);
  const place = (uuid: unknown) => {
    const record = byId.get(uuid);
    if (!record || placed.has(record)) return [];
    placed.add(record);
    return [record];
  };
  return branch.flatMap((record) => [record, ...(kept.get(record.uuid) ?? []).flatMap(place)]);
}

/** The last message that no other message follows. */
function latestMessage(
  byId: ReadonlyMap<unknown, TranscriptRecord>,
  { sidechain }: { readonly sidechain: boolean },
): TranscriptRecord | undefined {
  const all = [...byId.values()];
  const parents = new Set(all.flatMap(({ uuid, parentUuid }) => (parentUuid === uuid ? [] : [parentUuid])));
  const leaves = all.filter(({ uuid }) => !parents.has(uuid));
  const ends = lastMessages(leaves, byId);
  return all.findLast(
    (record) =>
      ends.has(record) && (sidechain || record.isSidechain !== true) && record.teamName === undefined,
  );
}

function isMessage({ type }: TranscriptRecord): boolean {
  return type === 'user' || type === 'assistant';
}

/** The first message among each leaf and its ancestors. Branches share ancestors, so each record is visited once. */
function lastMessages(
  leaves: readonly TranscriptRecord[],
  byId: ReadonlyMap<unknown, TranscriptRecord>,
): ReadonlySet<TranscriptRecord> {
  const found = new Set<TranscriptRecord>();
  const visited = new Set<TranscriptRecord>();
  for (const leaf of leaves) {
    for (let at: TranscriptRecord | undefined = leaf; at && !visited.has(at); at = byId.get(at.parentUuid)) {
      visited.add(at);
      if (!isMessage(at)) continue;
      found.add(at);
      break;
    }
  }
  return found;
}

/** The record, its parent and so on; a cycle ends it. */
function ancestors(
  record: TranscriptRecord,
  byId: ReadonlyMap<unknown, TranscriptRecord>,
): TranscriptRecord[] {
  const found = new Set<TranscriptRecord>();
  for (let at: TranscriptRecord | undefined = record; at && !found.has(at); at = byId.get(at.parentUuid)) {
    found.add(at);
  }
  return [...found];
}

/**
 * Adds the calls and results beside the branch: each block of a reply is a record of its own, and the result of a call
 * follows its block, so that only one of several results is an ancestor of the next message.
 */
function withParallelCalls(
  branch: readonly TranscriptRecord[],
  linked: readonly TranscriptRecord[],
): TranscriptRecord[] {
  const onBranch = new Set(branch);
  const replyOf = ({ type, message }: TranscriptRecord) =>
    type === 'assistant' && isRecord(message) && isText(message.id) ? message.id : undefined;
  const siblings = Map.groupBy(linked, replyOf);
  const results = Map.groupBy(
    linked.filter((record) => record.type === 'user' && !onBranch.has(record) && hasResult(record)),
    ({ parentUuid }) => parentUuid,
  );
  const lastOfReply = new Map(branch.map((record) => [replyOf(record), record]));
  return branch.flatMap((record) => {
    const reply = replyOf(record);
    if (reply === undefined || lastOfReply.get(reply) !== record) return [record];
    const blocks = siblings.get(reply) ?? [];
    const others = blocks.filter((block) => !onBranch.has(block));
    return [record, ...others, ...blocks.flatMap(({ uuid }) => results.get(uuid) ?? [])];
  });
}

function hasResult({ message }: TranscriptRecord): boolean {
  return blocksOf(message).some(({ type }) => type === 'tool_result');
}

/** The blocks of a message; a text is one block. */
export function blocksOf(message: unknown): Readonly<Record<string, unknown>>[] {
  const content: unknown = isRecord(message) ? message.content : undefined;
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

/** The member of the last record of that kind; an empty text hides earlier ones. */
export function lastText(
  records: readonly TranscriptRecord[],
  type: string,
  member: string,
): string | undefined {
  const found = records.findLast((record) => record.type === type && typeof record[member] === 'string');
  return found && String(found[member]);
}

/** The title that the user gave, or else a generated one. */
export function titleOf(records: readonly TranscriptRecord[]): string | undefined {
  return lastText(records, 'custom-title', 'customTitle') ?? lastText(records, 'ai-title', 'aiTitle');
}

/** Whether a value is a text that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
