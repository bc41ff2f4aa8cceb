import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** Where a conversation is kept: `root` is the person's own folder, `cwd` the project's, absolute. */
export type SessionPlace = { readonly root: string; readonly cwd: string; readonly sessionId: string };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ENDING = '.jsonl';
/** File names end at 255 bytes on most systems; the hash needs its part. */
const LONGEST = 100;

/** Whether a text from outside may name a session, and so become part of a path. */
export function isSessionId(text: string): boolean {
  return UUID.test(text);
}

/** The file of a session. Throws if the id is none, since it may have come from outside. */
export function sessionPath({ root, cwd, sessionId }: SessionPlace): string {
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
