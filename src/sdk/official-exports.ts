import { SdkError } from '../protocol/sdk-error.ts';
import type { Options } from './options/options.ts';
import type { ResolvedSettings, ResolveSettingsOptions, Settings } from './options/settings.ts';
import type { SpareProcess } from './query-interface.ts';
import type {
  ForkSessionOptions,
  ForkSessionResult,
  GetSessionInfoOptions,
  GetSessionMessagesOptions,
  GetSubagentMessagesOptions,
  ImportSessionToStoreOptions,
  InMemorySessionStore,
  ListSessionsOptions,
  ListSubagentsOptions,
  SDKSessionInfo,
  SessionKey,
  SessionMessage,
  SessionMutationOptions,
  SessionStore,
  SessionStoreEntry,
  SessionSummaryEntry,
} from './session-store.ts';

/** Replaces an unsupported export of the official package: any use throws an error that names an alternative. */
export function refused<Name extends keyof RefusedExports>(name: Name): RefusedExports[Name] {
  // Not an arrow function, for which `new` would throw its own TypeError.
  function fail(): never {
    throw new SdkError(
      'unsupported-method',
      `${name} is not supported by toolplane: ${OFFICIAL_EXPORTS[name]}`,
    );
  }
  return new Proxy(fail, { get: fail, apply: fail, construct: fail, has: fail, ownKeys: fail }) as never;
}

/** The models that a list of denied models covers, and the entries of the list that match no model. */
export type DeniedModelsMatch = { denied: boolean[]; warnings: string[] };

type ChangeSession = (sessionId: string, options?: SessionMutationOptions) => Promise<void>;

/** The types of the unsupported exports, so that programs that import them compile. */
type RefusedExports = {
  BUILTIN_TOOL_NAMES: readonly string[];
  InMemorySessionStore: new () => InMemorySessionStore;
  LEGACY_TOOL_NAME_ALIASES: Readonly<Record<string, string>>;
  ORG_POLICY_LIMIT_PREFIXES: readonly string[];
  USAGE_LIMIT_ERROR_PREFIXES: readonly string[];
  USAGE_TRANSITION_PREFIXES: readonly string[];
  USAGE_WARNING_PREFIXES: readonly string[];
  archiveSession: ChangeSession;
  deleteSession: ChangeSession;
  filterEscalatingDefaultMode(resolved: ResolvedSettings): Settings;
  foldSessionSummary(
    previous: SessionSummaryEntry | undefined,
    key: SessionKey,
    entries: SessionStoreEntry[],
    options?: { mtime?: number },
  ): SessionSummaryEntry;
  forkSession(sessionId: string, options?: ForkSessionOptions): Promise<ForkSessionResult>;
  getSessionInfo(sessionId: string, options?: GetSessionInfoOptions): Promise<SDKSessionInfo | undefined>;
  getSessionMessages(sessionId: string, options?: GetSessionMessagesOptions): Promise<SessionMessage[]>;
  getSubagentMessages(
    sessionId: string,
    agentId: string,
    options?: GetSubagentMessagesOptions,
  ): Promise<SessionMessage[]>;
  importSessionToStore(
    sessionId: string,
    store: SessionStore,
    options?: ImportSessionToStoreOptions,
  ): Promise<void>;
  listSessions(options?: ListSessionsOptions): Promise<SDKSessionInfo[]>;
  listSubagents(sessionId: string, options?: ListSubagentsOptions): Promise<string[]>;
  matchDeniedModels(
    models: readonly string[],
    deniedModels: readonly string[] | undefined,
  ): Promise<DeniedModelsMatch>;
  prewarm(params?: { options?: Options; initializeTimeoutMs?: number }): Promise<SpareProcess>;
  renameSession(sessionId: string, title: string, options?: SessionMutationOptions): Promise<void>;
  resolveSettings(options?: ResolveSettingsOptions): Promise<ResolvedSettings>;
  tagSession(sessionId: string, tag: string | null, options?: SessionMutationOptions): Promise<void>;
  unarchiveSession: ChangeSession;
};

/** Every value that the official package exports (in its published types): supported, or refused by name when used. */
export const OFFICIAL_EXPORTS = {
  AbortError: 'offered',
  EXIT_REASONS: 'offered',
  HOOK_EVENTS: 'offered',
  SYSTEM_PROMPT_DYNAMIC_BOUNDARY: 'offered',
  createSdkMcpServer: 'offered',
  query: 'offered',
  startup: 'offered',
  tool: 'offered',
  BUILTIN_TOOL_NAMES: 'read `tools` of the `system/init` message',
  InMemorySessionStore: 'belongs to `sessionStore`',
  LEGACY_TOOL_NAME_ALIASES: 'use the names in the `system/init` message',
  ORG_POLICY_LIMIT_PREFIXES:
    'read `terminal_reason` and `errors` of the result message instead of matching error text',
  USAGE_LIMIT_ERROR_PREFIXES:
    'read `terminal_reason` and `errors` of the result message instead of matching error text',
  USAGE_TRANSITION_PREFIXES:
    'with the `claude` CLI, read `rate_limit_event` messages instead of matching message text',
  USAGE_WARNING_PREFIXES:
    'with the `claude` CLI, read `rate_limit_event` messages instead of matching message text',
  archiveSession: 'only the agent reads and writes transcripts, not the SDK',
  deleteSession: 'only the agent reads and writes transcripts, not the SDK',
  filterEscalatingDefaultMode: 'no alternative',
  foldSessionSummary: 'belongs to `sessionStore`',
  forkSession: 'use the options `resume` and `forkSession`',
  getSessionInfo: 'only the agent reads and writes transcripts, not the SDK',
  getSessionMessages: 'use the option `resume`; only the agent reads and writes transcripts, not the SDK',
  getSubagentMessages:
    'read the messages with a `parent_tool_use_id`; with the `claude` CLI, set the option `forwardSubagentText`',
  importSessionToStore: 'belongs to `sessionStore`',
  listSessions: 'only the agent reads and writes transcripts, not the SDK',
  listSubagents: 'use `onToolUse` and `parent_tool_use_id` of the messages',
  matchDeniedModels: 'no alternative',
  prewarm: 'use `startup()`',
  renameSession: 'with the `claude` CLI, use the option `title`',
  resolveSettings: 'only the agent reads settings files, not the SDK',
  tagSession: 'only the agent reads and writes transcripts, not the SDK',
  unarchiveSession: 'only the agent reads and writes transcripts, not the SDK',
} as const;
/**
 * An item in a list of system prompt blocks: blocks before it may be cached across sessions, blocks after it are
 * not.
 */
export const SYSTEM_PROMPT_DYNAMIC_BOUNDARY = '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__';
