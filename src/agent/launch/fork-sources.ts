import { open } from 'node:fs/promises';
import { parseHeader } from '../transcript/entry.ts';
import { isSessionId, type SessionPlace, sessionPath } from '../transcript/place.ts';

/** A header is one short line. */
const LONGEST_HEADER = 64 * 1024;
/** Longer rows of copies of copies are not followed to their beginning. */
const MOST = 20;

/** The file of the session that one was forked from, of the one that was forked from, and so on; also those that are gone. */
export async function forkSources(
  forkedFrom: string | undefined,
  place: Omit<SessionPlace, 'sessionId'>,
): Promise<string[]> {
  const paths: string[] = [];
  let next = forkedFrom;
  while (next !== undefined && isSessionId(next) && paths.length < MOST) {
    const path = sessionPath({ ...place, sessionId: next });
    if (paths.includes(path)) break;
    paths.push(path);
    next = await readForkedFrom(path);
  }
  return paths;
}

/** What cannot be read says nothing. */
async function readForkedFrom(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST_HEADER), 0, LONGEST_HEADER, 0);
    const [line = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1);
    return parseHeader(JSON.parse(line))?.forkedFrom;
  } catch {
    return undefined;
  }
}
