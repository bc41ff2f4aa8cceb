import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readTranscript } from './read-transcript.ts';

/** The file of a session; its contents have not been read. */
type StoredSession = {
  readonly sessionId: string;
  readonly path: string;
  readonly modifiedAt: Date;
  readonly bytes: number;
};

/** The session with that id in this project; undefined if there is none or the id is invalid. */
export async function findSession(
  root: string,
  cwd: string,
  sessionId: string,
): Promise<StoredSession | undefined> {
  return isSessionId(sessionId) ? stored(sessionId, sessionPath({ root, cwd, sessionId })) : undefined;
}

/** The most recently written session that has a user message. */
export async function latestSession(root: string, cwd: string): Promise<StoredSession | undefined> {
  for (const session of await listSessions(root, cwd)) {
    const { entries } = readTranscript(await readFile(session.path, 'utf8'));
    if (entries.some(({ type }) => type === 'user')) return session;
  }
  return undefined;
}

/** All sessions of a project, the most recently written first. Rejects if the folder exists and cannot be read. */
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

/** Where a conversation is stored: `root` is the user's Toolplane folder, `cwd` the project's absolute path. */
export type SessionLocation = { readonly root: string; readonly cwd: string; readonly sessionId: string };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const EXTENSION = '.jsonl';
/** File names are limited to 255 bytes on most systems, including the hash. */
const MAX_READABLE_LENGTH = 100;

/** Whether a text is a session id: ids become parts of paths, so nothing else is accepted. */
export function isSessionId(text: string): boolean {
  return UUID.test(text);
}

/** The file of a session. Throws if the id is invalid. */
export function sessionPath({ root, cwd, sessionId }: SessionLocation): string {
  if (!isSessionId(sessionId))
    throw new RangeError(`A session id must be a UUID, but is ${JSON.stringify(sessionId)}`);
  return join(projectFolder(root, cwd), sessionId.toLowerCase() + EXTENSION);
}

/** The session id of a file name; undefined for other files. */
export function sessionIdOf(fileName: string): string | undefined {
  const id = fileName.endsWith(EXTENSION) ? fileName.slice(0, -EXTENSION.length) : '';
  return isSessionId(id) ? id : undefined;
}

/** The folder of a project: its path in readable form, and a hash, since `/a/b-c` and `/a/b/c` look the same in it. */
export function projectFolder(root: string, cwd: string): string {
  const readable = cwd
    .replace(/[^a-zA-Z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(-MAX_READABLE_LENGTH);
  const hash = createHash('sha256').update(cwd).digest('hex').slice(0, 12);
  return join(root, 'projects', readable === '' ? hash : `${readable}-${hash}`);
}
