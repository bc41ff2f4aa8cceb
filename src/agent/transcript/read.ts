import type { ModelMessage } from '../models/model.ts';
import { type Chain, chainTo } from './chain.ts';
import { type Entry, type Header, parseEntry, parseHeader, VERSION } from './entry.ts';
import { mend } from './mend.ts';

/** Something in a file that is not as it was written, and what was made of it. */
export type TranscriptDiagnostic = {
  readonly fault:
    | 'torn'
    | 'noise'
    | 'no-header'
    | 'later-version'
    | 'lost-parent'
    | 'other-branch'
    | 'mended';
  /** In one line, for a person. */
  readonly message: string;
};

/** A conversation as it was kept. */
export type SessionContents = {
  readonly header: Header | undefined;
  readonly title: string | undefined;
  /** From the first to the newest, also those before a compaction; without what is about the session only. */
  readonly entries: readonly Entry[];
  /** The conversation as a model accepts it. */
  readonly messages: readonly ModelMessage[];
  /** What the next entry follows. */
  readonly lastUuid: string | null;
  readonly diagnostics: readonly TranscriptDiagnostic[];
};

/** Reads a file's text, whatever it is: what cannot be read is left out and told about. */
export function readTranscript(text: string): SessionContents {
  const lines = readLines(text);
  const last = lines.entries.findLast(({ type }) => type !== 'other') ?? lines.entries.at(-1);
  return contentsOf(lines, last && chainTo(lines.entries, last.uuid));
}

/** The same up to one entry, and nothing after it; nothing if the file does not have it. */
export function readTranscriptTo(text: string, uuid: string): SessionContents | undefined {
  const lines = readLines(text);
  const chain = chainTo(lines.entries, uuid);
  return chain && contentsOf(lines, chain);
}

type Lines = Pick<SessionContents, 'header' | 'title' | 'diagnostics' | 'entries'>;

function contentsOf(
  { header, title, entries: all, diagnostics: found }: Lines,
  chain?: Chain,
): SessionContents {
  const entries = chain?.entries ?? [];
  const diagnostics = [...found];
  for (const { uuid } of chain?.orphans ?? []) {
    diagnostics.push({
      fault: 'lost-parent',
      message: `What ${uuid} follows is lost; the entry before is taken`,
    });
  }
  const { messages, faults } = mend(conversation(entries));
  for (const fault of faults) diagnostics.push({ fault: 'mended', message: `Mended: ${fault}` });
  const aside = countAside(all, entries);
  if (aside > 0) {
    diagnostics.push({ fault: 'other-branch', message: `${aside} entries belong to another branch` });
  }
  return { header, title, entries, messages, lastUuid: entries.at(-1)?.uuid ?? null, diagnostics };
}

function readLines(text: string): Lines {
  let header: Header | undefined;
  let title: string | undefined;
  const entries: Entry[] = [];
  const diagnostics: TranscriptDiagnostic[] = [];
  const lines = text.split('\n');
  lines.forEach((line, at) => {
    if (line.trim() === '') return;
    const value = parseJson(line);
    const start = parseHeader(value);
    const entry = start ? undefined : parseEntry(value);
    if (start) header ??= start;
    else if (entry?.type === 'meta') title = entry.title;
    else if (entry) entries.push(entry);
    else diagnostics.push(skipped(at + 1, at === lines.length - 1 ? 'torn' : 'noise'));
  });
  if (!header && text !== '') {
    diagnostics.push({
      fault: 'no-header',
      message: 'The file does not say its version; it is taken for ours',
    });
  } else if (header && header.version > VERSION) {
    const message = `The file has version ${header.version}, which is later than ${VERSION}`;
    diagnostics.push({ fault: 'later-version', message });
  }
  return { header, title, entries, diagnostics };
}

function conversation(entries: readonly Entry[]): ModelMessage[] {
  const from = entries.findLastIndex(({ type }) => type === 'compaction');
  return entries.slice(Math.max(0, from)).flatMap(messagesOf);
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

/** Entries that neither belong to the conversation nor come after it. */
function countAside(all: readonly Entry[], taken: readonly Entry[]): number {
  const last = taken.at(-1);
  const upTo = last ? all.slice(0, all.indexOf(last)) : [];
  const kept = new Set(taken);
  return upTo.filter((entry) => !kept.has(entry)).length;
}

function skipped(line: number, fault: 'torn' | 'noise'): TranscriptDiagnostic {
  const why = fault === 'torn' ? 'was not written to its end' : 'is no entry';
  return { fault, message: `Line ${line} ${why}; it is left out` };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
