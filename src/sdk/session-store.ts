/** Identifies a session, or a part of one, in a session store. */
export type SessionKey = { projectKey: string; sessionId: string; subpath?: string };

/** One entry of a transcript in a session store. */
export type SessionStoreEntry = { type: string; uuid?: string; timestamp?: string; [more: string]: unknown };

/** When entries are written to a session store: in batches, or at once. */
export type SessionStoreFlush = 'batched' | 'eager';

/** What a session store keeps of a session for listings. */
export type SessionSummaryEntry = { sessionId: string; mtime: number; data: Record<string, unknown> };

/** Keeps transcripts outside the local disk; the option `sessionStore` is not supported. */
export type SessionStore = {
  append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void>;
  load(key: SessionKey): Promise<SessionStoreEntry[] | null>;
  listSessions?(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>;
  listSessionSummaries?(projectKey: string): Promise<SessionSummaryEntry[]>;
  delete?(key: SessionKey): Promise<void>;
  listSubkeys?(key: { projectKey: string; sessionId: string }): Promise<string[]>;
};

/** A session store that keeps everything in memory. */
export type InMemorySessionStore = Required<SessionStore> & {
  getEntries(key: SessionKey): SessionStoreEntry[];
  readonly size: number;
  clear(): void;
};

type InStore = { dir?: string; sessionStore?: SessionStore };
type Page = { limit?: number; offset?: number };

/** What is known about a stored session. */
export type SDKSessionInfo = {
  sessionId: string;
  summary: string;
  lastModified: number;
  fileSize?: number;
  customTitle?: string;
  firstPrompt?: string;
  gitBranch?: string;
  cwd?: string;
  tag?: string;
  createdAt?: number;
  archived?: boolean;
};
/** A message of a stored session. */
export type SessionMessage = {
  type: 'user' | 'assistant' | 'system';
  uuid: string;
  session_id: string;
  message: unknown;
  parent_tool_use_id: string | null;
  parent_agent_id: string | null;
};

/** Options of the functions that change a stored session. */
export type SessionMutationOptions = InStore;
/** Options of `getSessionInfo()`. */
export type GetSessionInfoOptions = InStore;
/** Options of `listSubagents()`. */
export type ListSubagentsOptions = InStore;
/** Options of `getSessionMessages()`. */
export type GetSessionMessagesOptions = InStore & Page & { includeSystemMessages?: boolean };
/** Options of `getSubagentMessages()`. */
export type GetSubagentMessagesOptions = InStore & Page;
/** Options of `listSessions()`. */
export type ListSessionsOptions = InStore &
  Page & { includeWorktrees?: boolean; includeProgrammatic?: boolean };
/** Options of `forkSession()`. */
export type ForkSessionOptions = SessionMutationOptions & { upToMessageId?: string; title?: string };
/** The result of `forkSession()`. */
export type ForkSessionResult = { sessionId: string };
/** Options of `importSessionToStore()`. */
export type ImportSessionToStoreOptions = { dir?: string; includeSubagents?: boolean; batchSize?: number };
