// The session functions of the official package; the code that reads transcripts is loaded at the first call.
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type {
  ForkSessionOptions,
  ForkSessionResult,
  GetSessionInfoOptions,
  GetSessionMessagesOptions,
  GetSubagentMessagesOptions,
  ListSessionsOptions,
  ListSubagentsOptions,
  SDKSessionInfo,
  SessionMessage,
  SessionMutationOptions,
} from '../sdk/session-store.ts';

/** The stored sessions of one project directory and its git worktrees, or of all projects; the latest first. */
export async function listSessions(options?: ListSessionsOptions): Promise<SDKSessionInfo[]> {
  return (await load()).listSessions(roots(), options ?? {});
}

/** What is known about one stored session; undefined if there is none with this id. */
export async function getSessionInfo(
  sessionId: string,
  options?: GetSessionInfoOptions,
): Promise<SDKSessionInfo | undefined> {
  return (await load()).getSessionInfo(roots(), sessionId, options ?? {});
}

/** The messages of a stored session, oldest first; an empty list if there is none with this id. */
export async function getSessionMessages(
  sessionId: string,
  options?: GetSessionMessagesOptions,
): Promise<SessionMessage[]> {
  return (await load()).getSessionMessages(roots(), sessionId, options ?? {});
}

/** The ids of the sub-agents whose messages are stored with a session. */
export async function listSubagents(sessionId: string, options?: ListSubagentsOptions): Promise<string[]> {
  return (await load()).listSubagents(roots(), sessionId, options ?? {});
}

/** The stored messages of a sub-agent, oldest first. */
export async function getSubagentMessages(
  sessionId: string,
  agentId: string,
  options?: GetSubagentMessagesOptions,
): Promise<SessionMessage[]> {
  return (await load()).getSubagentMessages(roots(), sessionId, agentId, options ?? {});
}

/** Copies a stored session, or its beginning, to a new session whose messages have new ids. */
export async function forkSession(
  sessionId: string,
  options?: ForkSessionOptions,
): Promise<ForkSessionResult> {
  return (await load()).forkSession(roots(), sessionId, options ?? {});
}

/** Sets the title of a stored session. */
export async function renameSession(
  sessionId: string,
  title: string,
  options?: SessionMutationOptions,
): Promise<void> {
  return (await load()).renameSession(roots(), sessionId, title, options ?? {});
}

/** Sets the tag of a stored session; null removes it. */
export async function tagSession(
  sessionId: string,
  tag: string | null,
  options?: SessionMutationOptions,
): Promise<void> {
  return (await load()).tagSession(roots(), sessionId, tag, options ?? {});
}

/** Deletes a stored session and its files. */
export async function deleteSession(sessionId: string, options?: SessionMutationOptions): Promise<void> {
  return (await load()).deleteSession(roots(), sessionId, options ?? {});
}

/** Marks a stored session as archived. A later prompt in the session removes the mark. */
export async function archiveSession(sessionId: string, options?: SessionMutationOptions): Promise<void> {
  return (await load()).archiveSession(roots(), sessionId, true, options ?? {});
}

/** Removes the mark of `archiveSession()`. */
export async function unarchiveSession(sessionId: string, options?: SessionMutationOptions): Promise<void> {
  return (await load()).archiveSession(roots(), sessionId, false, options ?? {});
}

function load() {
  return import('../sessions/session-functions.ts');
}

function roots() {
  const { TOOLPLANE_HOME, CLAUDE_CONFIG_DIR } = process.env;
  return {
    toolplane: TOOLPLANE_HOME ? resolve(TOOLPLANE_HOME) : join(homedir(), '.toolplane'),
    claude: CLAUDE_CONFIG_DIR ? resolve(CLAUDE_CONFIG_DIR) : join(homedir(), '.claude'),
  };
}
