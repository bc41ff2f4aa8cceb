import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readTranscript } from './read-transcript.ts';

/** A session's file; nothing of what it holds has been read. */
type StoredSession = {
  readonly sessionId: string;
  readonly path: string;
  readonly modifiedAt: Date;
  readonly bytes: number;
};

/** The session of that id in this project; nothing if there is none, or if the id is no session id. */
export async function findSession(
  root: string,
  cwd: string,
  sessionId: string,
): Promise<StoredSession | undefined> {
  return isSessionId(sessionId) ? stored(sessionId, sessionPath({ root, cwd, sessionId })) : undefined;
}

/** The session that was written to last, of those in which a person said something. */
export async function latestSession(root: string, cwd: string): Promise<StoredSession | undefined> {
  for (const session of await listSessions(root, cwd)) {
    const { entries } = readTranscript(await readFile(session.path, 'utf8'));
    if (entries.some(({ type }) => type === 'user')) return session;
  }
  return undefined;
}

/** All sessions of a project, the one written to last first. Rejects if the folder is there and cannot be read. */
export async function listSessions(root: string, cwd: string): Promise<StoredSession[]> {
  const folder = projectFolder(root, cwd);
  const names = await readdir(folder).catch(unlessMissing);
  const found = await Promise.all(
    (names ?? []).map((name) => {
      const sessionId = sessionIdOf(name);
      return sessionId === undefined ? undefined : stored(sessionId, join(folder, name));
    }),
  );
  return found
    .filter((session) => session !== undefined)
    .sort((a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime() || (a.path < b.path ? -1 : 1));
}

async function stored(sessionId: string, path: string): Promise<StoredSession | undefined> {
  const found = await stat(path).catch(unlessMissing);
  return found?.isFile() ? { sessionId, path, modifiedAt: found.mtime, bytes: found.size } : undefined;
}

function unlessMissing(cause: unknown): undefined {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw cause;
}

/** Where a conversation is kept: `root` is the person's own folder, `cwd` the project's, absolute. */
export type SessionLocation = { readonly root: string; readonly cwd: string; readonly sessionId: string };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ENDING = '.jsonl';
/** File names end at 255 bytes on most systems; the hash needs its part. */
const LONGEST = 100;

/** Whether a text from outside may name a session, and so become part of a path. */
export function isSessionId(text: string): boolean {
  return UUID.test(text);
}

/** The file of a session. Throws if the id is none, since it may have come from outside. */
export function sessionPath({ root, cwd, sessionId }: SessionLocation): string {
  if (!isSessionId(sessionId))
    throw new RangeError(`A session id is a UUID, not ${JSON.stringify(sessionId)}`);
  return join(projectFolder(root, cwd), sessionId.toLowerCase() + ENDING);
}

/** The id that a file name stands for, if it is one of ours. */
export function sessionIdOf(fileName: string): string | undefined {
  const id = fileName.endsWith(ENDING) ? fileName.slice(0, -ENDING.length) : '';
  return isSessionId(id) ? id : undefined;
}

/** The folder of a project: its path made legible, and a hash, since `/a/b-c` and `/a/b/c` read the same. */
export function projectFolder(root: string, cwd: string): string {
  const legible = cwd
    .replace(/[^a-zA-Z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(-LONGEST);
  const hash = createHash('sha256').update(cwd).digest('hex').slice(0, 12);
  return join(root, 'projects', legible === '' ? hash : `${legible}-${hash}`);
}
