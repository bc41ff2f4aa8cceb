import type { ModelBlock, UserBlock } from '../../protocol/agent-message.ts';
import { failedOutcome, INTERRUPTED, resultBlock } from '../loop/run-calls.ts';
import type { ModelMessage } from '../models/model.ts';
import { joinTurns, withoutImages } from '../models/sanitize-request.ts';
import { type Entry, type Header, parseEntry, parseHeader, VERSION } from './transcript-entry.ts';
import { branchOf, isText, lastText, parseRecords, titleOf, toEntries } from './transcript-records.ts';

/** A defect of a file, and how it was handled. */
type TranscriptDiagnostic = {
  readonly fault:
    | 'truncated-line'
    | 'invalid-line'
    | 'no-header'
    | 'later-version'
    | 'lost-parent'
    | 'other-branch'
    | 'repaired';
  readonly message: string;
};

/** The contents of a transcript file. */
export type SessionContents = {
  readonly header: Header | undefined;
  readonly title: string | undefined;
  readonly tag: string | undefined;
  /** All entries of the conversation, oldest first, including those before a compaction; without metadata. */
  readonly entries: readonly Entry[];
  /** The conversation, repaired so that a model accepts it. */
  readonly messages: readonly ModelMessage[];
  /** The parent of the next entry. */
  readonly lastUuid: string | null;
  readonly diagnostics: readonly TranscriptDiagnostic[];
};

/** Reads the text of a file. Invalid lines are skipped and reported in `diagnostics`. */
export function readTranscript(text: string): SessionContents {
  const lines = readLines(text);
  const last = lines.entries.findLast(({ type }) => type !== 'other') ?? lines.entries.at(-1);
  return contentsOf(lines, last && chainTo(lines.entries, last.uuid));
}

/** Reads the conversation up to one entry; undefined if the file does not have that entry. */
export function readTranscriptTo(text: string, uuid: string): SessionContents | undefined {
  const lines = readLines(text);
  const chain = chainTo(lines.entries, uuid);
  return chain && contentsOf(lines, chain);
}

/**
 * Reads a transcript of the `claude` CLI, up to one message if it is named. Undefined if the conversation is empty or has no
 * such message.
 */
export function readClaudeTranscript(
  text: string,
  {
    sessionId,
    cwd,
    upTo,
  }: { readonly sessionId: string; readonly cwd: string; readonly upTo?: string | undefined },
): SessionContents | undefined {
  const { writer, records } = parseRecords(text);
  const entries = writer === 'claude' ? toEntries(branchOf(records, { upTo })) : [];
  if (entries.length === 0) return undefined;
  const entrypoint = records.find((record) => isText(record.entrypoint))?.entrypoint;
  const header: Header = {
    type: 'header',
    version: VERSION,
    sessionId,
    cwd,
    createdAt: entries[0]?.timestamp ?? '',
    ...(isText(entrypoint) && { entrypoint }),
  };
  const title = titleOf(records) || undefined;
  const tag = lastText(records, 'tag', 'tag') || undefined;
  return contentsOf({ header, title, tag, entries, diagnostics: [] }, { entries, orphans: [] });
}

/**
 * Reads the lines from the last compaction on, which stands for all entries before it. Undefined if the whole file is
 * needed: the lines have defects, or the latest branch does not begin with the compaction.
 */
export function readFromCompaction(
  text: string,
  start: Pick<SessionContents, 'header' | 'title' | 'tag'>,
): SessionContents | undefined {
  const lines = readLines(text, start.header);
  const [first] = lines.entries;
  const last = lines.entries.findLast(({ type }) => type !== 'other');
  if (first?.type !== 'compaction' || !first.earlier || !last || lines.diagnostics.length > 0)
    return undefined;
  const chain = chainTo(lines.entries, last.uuid);
  const isWhole = chain?.entries[0] === first && chain.orphans.every((entry) => entry === first);
  return isWhole ? contentsOf({ ...lines, ...start }, { entries: chain.entries, orphans: [] }) : undefined;
}

type Lines = Pick<SessionContents, 'header' | 'title' | 'tag' | 'diagnostics' | 'entries'>;

function contentsOf(
  { header, title, tag, entries: all, diagnostics: found }: Lines,
  chain?: Chain,
): SessionContents {
  const entries = chain?.entries ?? [];
  const diagnostics = [...found];
  for (const { uuid } of chain?.orphans ?? []) {
    diagnostics.push({
      fault: 'lost-parent',
      message: `The parent of entry ${uuid} is missing; the line before that entry is used as its parent`,
    });
  }
  const { messages, faults } = repairConversation(conversation(entries));
  for (const fault of faults) diagnostics.push({ fault: 'repaired', message: `Repaired: ${fault}` });
  const otherBranches = countOtherBranches(all, entries);
  if (otherBranches > 0) {
    diagnostics.push({ fault: 'other-branch', message: `${otherBranches} entries belong to another branch` });
  }
  return { header, title, tag, entries, messages, lastUuid: entries.at(-1)?.uuid ?? null, diagnostics };
}

function readLines(text: string, before?: Header): Lines {
  let header = before;
  let title: string | undefined;
  let tag: string | undefined;
  const entries: Entry[] = [];
  const seen = new Set<string>();
  const diagnostics: TranscriptDiagnostic[] = [];
  const lines = text.split('\n');
  lines.forEach((line, at) => {
    if (line.trim() === '') return;
    const value = parseJson(line);
    const start = parseHeader(value);
    const entry = start ? undefined : parseEntry(value);
    if (start) header ??= start;
    else if (entry?.type === 'meta') {
      title = entry.title ?? title;
      tag = entry.tag ?? tag;
    }
    // Two processes that continue a session of the `claude` CLI both copy its messages.
    else if (entry && seen.has(`${entry.type} ${entry.uuid}`)) return;
    else if (entry) entries.push(entry);
    else diagnostics.push(skipped(at + 1, at === lines.length - 1 ? 'truncated-line' : 'invalid-line'));
    if (entry) seen.add(`${entry.type} ${entry.uuid}`);
  });
  if (!header && text !== '') {
    diagnostics.push({
      fault: 'no-header',
      message: 'The file has no header; the current version is assumed',
    });
  } else if (header && header.version > VERSION) {
    const message = `The file has version ${header.version}, but only versions up to ${VERSION} are supported, so parts of the conversation may be missing; update Toolplane`;
    diagnostics.push({ fault: 'later-version', message });
  }
  return { header, title, tag, entries, diagnostics };
}

function conversation(entries: readonly Entry[]): ModelMessage[] {
  const from = entries.findLastIndex(({ type }) => type === 'compaction');
  let messages: ModelMessage[] = [];
  for (const entry of joinReplies(entries.slice(Math.max(0, from)))) {
    const { removedImages: which } = entry;
    if (which !== undefined) messages = [...(withoutImages(messages, which) ?? messages)];
    messages.push(...messagesOf(entry));
  }
  return messages;
}

/** Joins the parts of a reply: the `claude` CLI stores each block of it on its own. */
function joinReplies(entries: readonly Entry[]): Entry[] {
  const joined: Entry[] = [];
  let content: ModelBlock[] = [];
  for (const entry of entries) {
    const before = joined.at(-1);
    if (entry.type !== 'assistant') {
      joined.push(entry);
      continue;
    }
    const isPart = before?.type === 'assistant' && entry.id !== undefined && before.id === entry.id;
    if (isPart) joined.pop();
    else content = [];
    for (const block of entry.content) content.push(block);
    joined.push({ ...entry, content });
  }
  return joined;
}

function messagesOf(entry: Entry): readonly ModelMessage[] {
  switch (entry.type) {
    case 'user':
    case 'results':
      return [{ role: 'user', content: entry.content }];
    case 'assistant':
      return [{ role: 'assistant', content: entry.content }];
    case 'compaction':
      return entry.messages;
    case 'meta':
    case 'other':
      return [];
  }
}

/** How many entries before the last one belong to other branches. */
function countOtherBranches(all: readonly Entry[], taken: readonly Entry[]): number {
  const last = taken.at(-1);
  const upTo = last ? all.slice(0, all.indexOf(last)) : [];
  const kept = new Set(taken);
  return upTo.filter((entry) => !kept.has(entry)).length;
}

function skipped(line: number, fault: 'truncated-line' | 'invalid-line'): TranscriptDiagnostic {
  const why = fault === 'truncated-line' ? 'is truncated' : 'is not a valid line of a transcript';
  return { fault, message: `Line ${line} ${why}; the line is skipped` };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The entries from the start to one entry, oldest first. */
type Chain = {
  readonly entries: readonly Entry[];
  /** Entries whose parent is missing; they follow the line before them. */
  readonly orphans: readonly Entry[];
};

/**
 * Follows the parents from an entry back to the start. Two processes that resumed the same session write side by side
 * into its file; each of them is one branch, and a branch is a whole conversation. Undefined if there is no such entry.
 */
export function chainTo(entries: readonly Entry[], uuid: string): Chain | undefined {
  const placeOf = new Map(entries.map((entry, at) => [entry.uuid, at]));
  let at = placeOf.get(uuid);
  if (at === undefined) return undefined;
  const found: Entry[] = [];
  const orphans: Entry[] = [];
  while (at >= 0) {
    const entry: Entry = entries[at] as Entry;
    found.push(entry);
    if (entry.parentUuid === null) break;
    const parent = placeOf.get(entry.parentUuid);
    // Only backwards, so that a file with a cycle cannot cause an endless loop.
    const isBefore: boolean = parent !== undefined && parent < at;
    if (!isBefore) orphans.push(entry);
    at = isBefore ? (parent as number) : at - 1;
  }
  return { entries: found.reverse(), orphans };
}

/** A conversation that a model accepts, and what had to be repaired. */
type RepairedConversation = { readonly messages: ModelMessage[]; readonly faults: readonly string[] };

type ToolUse = Extract<ModelBlock, { type: 'tool_use' }>;

const GAP: UserBlock = { type: 'text', text: '[A message is missing here.]' };

/**
 * Repairs a conversation so that a model accepts it: roles alternate, the first message is the user's, every call has a
 * result and every result a call. A call without a result may have run before the process ended.
 */
export function repairConversation(messages: readonly ModelMessage[]): RepairedConversation {
  const repaired: ModelMessage[] = [];
  const faults: string[] = [];
  const open = () => callsOf(repaired.at(-1));

  const close = (given: readonly UserBlock[]) => {
    const results = given.filter((block) => block.type === 'tool_result');
    const calls = open();
    const answers = calls.map((call) => {
      const found = results.find(({ tool_use_id }) => tool_use_id === call.id);
      if (!found)
        faults.push(`the call ${call.id} of ${call.name} has no result; it is treated as interrupted`);
      return found ?? resultBlock(call, failedOutcome(INTERRUPTED));
    });
    for (const result of results) {
      if (!answers.includes(result)) faults.push(`the result for ${result.tool_use_id} has no matching call`);
    }
    return [...answers, ...given.filter(({ type }) => type !== 'tool_result')];
  };

  for (const message of joinTurns(messages.filter(({ content }) => content.length > 0))) {
    if (message.role === 'user') {
      const content = close(message.content);
      if (content.length > 0) repaired.push({ role: 'user', content });
      continue;
    }
    if (repaired.at(-1)?.role !== 'user') {
      const answers = close([]);
      if (answers.length === 0) faults.push('a user message is missing');
      repaired.push({ role: 'user', content: answers.length > 0 ? answers : [GAP] });
    }
    repaired.push(message);
  }
  if (open().length > 0) repaired.push({ role: 'user', content: close([]) });
  return { messages: repaired, faults };
}

function callsOf(message: ModelMessage | undefined): ToolUse[] {
  if (message?.role !== 'assistant') return [];
  return message.content.filter((block) => block.type === 'tool_use');
}
