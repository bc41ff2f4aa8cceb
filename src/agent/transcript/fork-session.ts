import { open } from 'node:fs/promises';
import type { SessionContents } from './read-transcript.ts';
import { isSessionId, type SessionLocation, sessionPath } from './session-files.ts';
import { Transcript, type TranscriptOptions } from './transcript.ts';
import { parseHeader } from './transcript-entry.ts';

/**
 * Creates a session that begins with the conversation of another one. Entries keep their ids, so that a message has the
 * same id in both. The caller owns the transcript.
 */
export function forkSession(
  from: SessionContents,
  options: Omit<TranscriptOptions, 'after' | 'forkedFrom'>,
): Transcript {
  const source = from.header?.sessionId;
  if (source === options.sessionId) throw new RangeError('Forking a session requires a new session id');
  const transcript = new Transcript({ ...options, ...(source !== undefined && { forkedFrom: source }) });
  const title = from.title === undefined ? [] : [{ type: 'meta' as const, title: from.title }];
  void transcript.append([...from.entries, ...title]);
  return transcript;
}

/** A header is one short line. */
const MAX_HEADER_BYTES = 64 * 1024;
/** Longer chains of forks are not followed to their beginning. */
const MAX_FORKS = 20;

/** The files of the session that this one was forked from, of its origin, and so on, including deleted ones. */
export async function forkSources(
  forkedFrom: string | undefined,
  place: Omit<SessionLocation, 'sessionId'>,
): Promise<string[]> {
  const paths: string[] = [];
  let next = forkedFrom;
  while (next !== undefined && isSessionId(next) && paths.length < MAX_FORKS) {
    const path = sessionPath({ ...place, sessionId: next });
    if (paths.includes(path)) break;
    paths.push(path);
    next = await readForkedFrom(path);
  }
  return paths;
}

/** Undefined if the file cannot be read. */
async function readForkedFrom(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_HEADER_BYTES), 0, MAX_HEADER_BYTES, 0);
    const [line = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1);
    return parseHeader(JSON.parse(line))?.forkedFrom;
  } catch {
    return undefined;
  }
}
