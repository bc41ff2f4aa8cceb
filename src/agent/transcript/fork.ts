import type { SessionContents } from './read.ts';
import { Transcript, type TranscriptOptions } from './transcript.ts';

/**
 * A new session that begins with another's conversation; the other's file is only read. Entries keep their ids, so that
 * what names a message of the one finds it in the other. The caller owns the transcript.
 */
export function fork(
  from: SessionContents,
  options: Omit<TranscriptOptions, 'after' | 'forkedFrom'>,
): Transcript {
  const source = from.header?.sessionId;
  if (source === options.sessionId) throw new RangeError('A fork needs a session id of its own');
  const transcript = new Transcript({ ...options, ...(source !== undefined && { forkedFrom: source }) });
  const title = from.title === undefined ? [] : [{ type: 'meta' as const, title: from.title }];
  void transcript.append([...from.entries, ...title]);
  return transcript;
}
