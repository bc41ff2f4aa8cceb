import { createHash, randomUUID } from 'node:crypto';
import { type Entry, type Header, parseEntry, parseHeader } from '../agent/transcript/transcript-entry.ts';
import { isRecord } from '../base/json-value.ts';

/**
 * One line of a transcript in the form in which the `claude` CLI writes it. Entries of Toolplane's own transcripts are
 * converted to this form, so that the session functions treat both alike.
 */
export type TranscriptRecord = Readonly<Record<string, unknown>>;

/** The records of a transcript, and whose transcript it is. */
export type Records = {
  readonly writer: 'claude' | 'toolplane';
  readonly records: readonly TranscriptRecord[];
};

/** Parses the text of a transcript, or a part of it. Lines that are not JSON objects are skipped. */
export function parseRecords(text: string): Records {
  const values = text.split('\n').flatMap(parseLine);
  const header = parseHeader(values[0]);
  if (!header) return { writer: 'claude', records: values };
  return { writer: 'toolplane', records: values.slice(1).flatMap((value) => fromEntry(value, header)) };
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

function fromEntry(value: TranscriptRecord, header: Header): TranscriptRecord[] {
  const entry = parseEntry(value);
  return entry ? convert(entry, header) : [];
}

function convert(entry: Entry, { cwd, entrypoint }: Header): TranscriptRecord[] {
  const { uuid, parentUuid, timestamp, sessionId } = entry;
  const link = { uuid, parentUuid, timestamp, sessionId, isSidechain: false, cwd, entrypoint };
  switch (entry.type) {
    case 'user':
    case 'results':
      return [{ ...link, type: 'user', message: { role: 'user', content: entry.content } }];
    case 'assistant': {
      const { id, content, model, usage } = entry;
      const ends = { stop_reason: null, stop_sequence: null };
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
