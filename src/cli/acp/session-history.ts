import type { SessionInfo } from '@agentclientprotocol/sdk/unstable';
import type { TranscriptRoots } from '../../agent/transcript/session-files.ts';
import { isRecord } from '../../base/json-value.ts';
import { INVISIBLE_CHARACTERS, truncate } from '../../base/text/display-text.ts';
import type { SDKSessionInfo } from '../../sdk/session-store.ts';
import {
  deleteSession,
  getSessionInfo,
  getSessionMessages,
  listSessions,
  renameSession,
} from '../../sessions/session-functions.ts';

const PAGE_SIZE = 50;
const MAX_TITLE_LENGTH = 100;

/** One message of a stored conversation. */
export type StoredMessage = { readonly role: 'user' | 'assistant'; readonly content: unknown };

type ListRequest = {
  readonly cwd?: string | null | undefined;
  readonly cursor?: string | null | undefined;
};

/** The stored sessions of the agent. */
export class SessionHistory {
  readonly #roots: TranscriptRoots;

  constructor(roots: TranscriptRoots) {
    this.#roots = roots;
  }

  /** A page of sessions, the most recently written first; undefined if the cursor is invalid. */
  async list({
    cwd,
    cursor,
  }: ListRequest): Promise<{ sessions: SessionInfo[]; nextCursor?: string } | undefined> {
    if (cursor && !/^\d{1,9}$/.test(cursor)) return undefined;
    const offset = Number(cursor ?? 0);
    // One more than a page, to see whether there is another page.
    const page = { offset, limit: PAGE_SIZE + 1, includeWorktrees: false };
    const found = await listSessions(this.#roots, { ...page, ...(cwd && { dir: cwd }) });
    const sessions = found.slice(0, PAGE_SIZE).map(describeSession);
    return { sessions, ...(found.length > PAGE_SIZE && { nextCursor: String(offset + PAGE_SIZE) }) };
  }

  /** The conversation of a session of this directory; undefined if there is none. */
  async read(cwd: string, sessionId: string): Promise<StoredMessage[] | undefined> {
    const place = { dir: cwd };
    if (!(await getSessionInfo(this.#roots, sessionId, place))) return undefined;
    const messages = await getSessionMessages(this.#roots, sessionId, place);
    return messages.flatMap(({ type, message }): StoredMessage[] =>
      type === 'system' || !isRecord(message) ? [] : [{ role: type, content: message.content }],
    );
  }

  async has(sessionId: string): Promise<boolean> {
    return (await getSessionInfo(this.#roots, sessionId)) !== undefined;
  }

  delete(sessionId: string): Promise<void> {
    return deleteSession(this.#roots, sessionId);
  }

  rename(sessionId: string, title: string): Promise<void> {
    return renameSession(this.#roots, sessionId, title);
  }
}

function describeSession({ sessionId, cwd = '/', summary, lastModified }: SDKSessionInfo): SessionInfo {
  return {
    sessionId,
    cwd,
    title: truncate(oneLine(summary), MAX_TITLE_LENGTH),
    updatedAt: new Date(lastModified).toISOString(),
  };
}

/** Text on one line, without invisible characters and surplus white space. */
export function oneLine(text: string): string {
  return text.replaceAll(INVISIBLE_CHARACTERS, ' ').trim().replaceAll(/\s+/g, ' ');
}
