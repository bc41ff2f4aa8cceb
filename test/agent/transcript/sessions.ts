import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ModelMessage } from '../../../src/agent/models/model.ts';
import type { TranscriptOptions } from '../../../src/agent/transcript/transcript.ts';
import { type Entry, type EntryBody, entryLine } from '../../../src/agent/transcript/transcript-entry.ts';

export const SESSION = '6f2d1c1e-0b6a-4c57-9d0e-3a5d8c1b2f40';
export const OTHER = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
export const NOON = '2026-01-02T12:00:00.000Z';
export const CWD = '/home/ada/engine';

/** A temporary folder, which is removed after the test. */
export async function temporaryRoot(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'toolplane-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  return root;
}

/** Options of a transcript whose clock stands still, and what it reported. */
export function options(root: string, more: Partial<TranscriptOptions> = {}) {
  const reported: string[] = [];
  const given: TranscriptOptions = {
    root,
    cwd: CWD,
    sessionId: SESSION,
    now: () => new Date(NOON),
    onUnwritable: (message) => reported.push(message),
    ...more,
  };
  return { given, reported };
}

/** What a session would write for these messages. */
export function bodies(messages: readonly ModelMessage[]): EntryBody[] {
  return messages.map((message): EntryBody => {
    if (message.role === 'assistant') {
      const usage = { input_tokens: 1, output_tokens: 2 };
      return { type: 'assistant', content: message.content, model: 'm', usage };
    }
    const isAnswer = message.content.some(({ type }) => type === 'tool_result');
    return { type: isAnswer ? 'results' : 'user', content: message.content };
  });
}

/** Entries one after the other, with ids `e0`, `e1` …; `parents` says which follow another one than the one before. */
export function linked(given: readonly EntryBody[], parents: Record<number, string | null> = {}): Entry[] {
  return given.map((body, n) => {
    const parentUuid = n in parents ? (parents[n] as string | null) : n === 0 ? null : `e${n - 1}`;
    return { ...body, uuid: `e${n}`, parentUuid, timestamp: NOON, sessionId: SESSION };
  });
}

export const HEADER = {
  type: 'header' as const,
  version: 1,
  sessionId: SESSION,
  cwd: CWD,
  createdAt: NOON,
};

/** The text of a file that holds these entries. */
export function fileOf(entries: readonly Entry[]): string {
  return [JSON.stringify(HEADER), ...entries.map(entryLine)].map((line) => `${line}\n`).join('');
}
