import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isSessionId, projectFolder, sessionIdOf, sessionPath } from './place.ts';
import { readTranscript } from './read.ts';

/** A session's file; nothing of what it holds has been read. */
export type StoredSession = {
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
