import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionInfo } from '@agentclientprotocol/sdk/unstable';
import { readTranscript, type SessionContents } from '../../agent/transcript/read-transcript.ts';
import { findSession, projectFolder, sessionIdOf } from '../../agent/transcript/session-files.ts';
import { truncate } from '../../base/text/display-text.ts';

const PAGE_SIZE = 50;
const MAX_TITLE_LENGTH = 100;

type StoredFile = { readonly sessionId: string; readonly path: string; readonly modifiedAt: Date };

/** One message of a stored conversation. */
export type StoredMessage = { readonly role: 'user' | 'assistant'; readonly content: unknown };

/** A page of stored sessions, the most recently written first; `undefined` if the cursor is not one of them. */
export async function listStoredSessions(
  root: string,
  { cwd, cursor }: { readonly cwd?: string | null | undefined; readonly cursor?: string | null | undefined },
): Promise<{ sessions: SessionInfo[]; nextCursor?: string } | undefined> {
  const folders = cwd ? [await projectOf(root, cwd)] : await allProjects(root);
  const files = (await Promise.all(folders.map(sessionFiles))).flat();
  files.sort((a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime() || (a.path < b.path ? -1 : 1));
  const start = cursor ? files.findIndex(({ sessionId }) => sessionId === cursor) + 1 : 0;
  if (cursor && start === 0) return undefined;
  const page = files.slice(start, start + PAGE_SIZE);
  const sessions = (await Promise.all(page.map(sessionInfo))).filter((it) => it !== undefined);
  const last = page.at(-1);
  const isLast = start + PAGE_SIZE >= files.length;
  return { sessions, ...(last && !isLast && { nextCursor: last.sessionId }) };
}

/** The conversation of a session of this project; undefined if there is none. */
export async function readStoredSession(
  root: string,
  cwd: string,
  sessionId: string,
): Promise<StoredMessage[] | undefined> {
  const found = await findSession(root, await realPath(cwd), sessionId);
  if (!found) return undefined;
  return readTranscript(await readFile(found.path, 'utf8')).entries.flatMap((entry): StoredMessage[] => {
    if (entry.type === 'assistant') return [{ role: 'assistant', content: entry.content }];
    if (entry.type === 'user' || entry.type === 'results') return [{ role: 'user', content: entry.content }];
    return [];
  });
}

async function projectOf(root: string, cwd: string): Promise<string> {
  return projectFolder(root, await realPath(cwd));
}

/** Sessions are stored by the real path of their directory. */
function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

async function allProjects(root: string): Promise<string[]> {
  const projects = join(root, 'projects');
  return (await namesIn(projects)).map((name) => join(projects, name));
}

async function sessionFiles(folder: string): Promise<StoredFile[]> {
  const files = (await namesIn(folder)).map(async (name): Promise<StoredFile | undefined> => {
    const sessionId = sessionIdOf(name);
    const path = join(folder, name);
    const found = sessionId === undefined ? undefined : await stat(path).catch(() => undefined);
    return sessionId !== undefined && found?.isFile()
      ? { sessionId, path, modifiedAt: found.mtime }
      : undefined;
  });
  return (await Promise.all(files)).filter((file) => file !== undefined);
}

/** An unreadable or missing folder has no sessions. */
function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** Undefined for a session without a prompt. */
async function sessionInfo({ sessionId, path, modifiedAt }: StoredFile): Promise<SessionInfo | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const contents = readTranscript(text);
  const title = contents.title ?? firstPrompt(contents);
  if (title === undefined || !contents.header) return undefined;
  return {
    sessionId,
    cwd: contents.header.cwd,
    title: truncate(title.trim().replaceAll(/\s+/g, ' '), MAX_TITLE_LENGTH),
    updatedAt: modifiedAt.toISOString(),
  };
}

function firstPrompt({ entries }: SessionContents): string | undefined {
  const prompt = entries.find(({ type }) => type === 'user');
  if (prompt?.type !== 'user') return undefined;
  return prompt.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ');
}
