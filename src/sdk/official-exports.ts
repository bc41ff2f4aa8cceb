import { SdkError } from '../protocol/sdk-error.ts';
import type { Options } from './options/options.ts';
import type { SpareProcess } from './query-interface.ts';
import type {
  ImportSessionToStoreOptions,
  InMemorySessionStore,
  SessionKey,
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

/** The types of the unsupported exports, so that programs that import them compile. */
type RefusedExports = {
  BUILTIN_TOOL_NAMES: readonly string[];
  InMemorySessionStore: new () => InMemorySessionStore;
  LEGACY_TOOL_NAME_ALIASES: Readonly<Record<string, string>>;
  foldSessionSummary(
    previous: SessionSummaryEntry | undefined,
    key: SessionKey,
    entries: SessionStoreEntry[],
    options?: { mtime?: number },
  ): SessionSummaryEntry;
  importSessionToStore(
    sessionId: string,
    store: SessionStore,
    options?: ImportSessionToStoreOptions,
  ): Promise<void>;
  matchDeniedModels(
    models: readonly string[],
    deniedModels: readonly string[] | undefined,
  ): Promise<DeniedModelsMatch>;
  prewarm(params?: { options?: Options; initializeTimeoutMs?: number }): Promise<SpareProcess>;
};

/** Every value that the official package exports (in its published types): supported, or refused by name when used. */
export const OFFICIAL_EXPORTS = {
  AbortError: 'offered',
  EXIT_REASONS: 'offered',
  HOOK_EVENTS: 'offered',
  ORG_POLICY_LIMIT_PREFIXES: 'offered',
  SYSTEM_PROMPT_DYNAMIC_BOUNDARY: 'offered',
  USAGE_LIMIT_ERROR_PREFIXES: 'offered',
  USAGE_TRANSITION_PREFIXES: 'offered',
  USAGE_WARNING_PREFIXES: 'offered',
  archiveSession: 'offered',
  createSdkMcpServer: 'offered',
  deleteSession: 'offered',
  filterEscalatingDefaultMode: 'offered',
  forkSession: 'offered',
  getSessionInfo: 'offered',
  getSessionMessages: 'offered',
  getSubagentMessages: 'offered',
  listSessions: 'offered',
  listSubagents: 'offered',
  query: 'offered',
  renameSession: 'offered',
  resolveSettings: 'offered',
  startup: 'offered',
  tagSession: 'offered',
  tool: 'offered',
  unarchiveSession: 'offered',
  BUILTIN_TOOL_NAMES: 'read `tools` of the `system/init` message',
  InMemorySessionStore: 'it is used only with `sessionStore`, which is not supported either',
  LEGACY_TOOL_NAME_ALIASES: 'use the names in the `system/init` message',
  foldSessionSummary: 'it is used only with `sessionStore`, which is not supported either',
  importSessionToStore: 'it is used only with `sessionStore`, which is not supported either',
  matchDeniedModels: 'no alternative',
  prewarm: 'use `startup()`',
} as const;
/** An empty list: Toolplane's agent sends no messages about limits of an organization. */
export const ORG_POLICY_LIMIT_PREFIXES: readonly string[] = [];
/**
 * An empty list: Toolplane's agent sends no messages about usage limits. Read `terminal_reason` and `errors` of the
 * result.
 */
export const USAGE_LIMIT_ERROR_PREFIXES: readonly string[] = [];
/**
 * An empty list: Toolplane's agent sends no messages about usage that is paid in another way. Read `rate_limit_event`
 * messages.
 */
export const USAGE_TRANSITION_PREFIXES: readonly string[] = [];
/**
 * An empty list: Toolplane's agent sends no messages about a usage limit that is near. Read `rate_limit_event`
 * messages.
 */
export const USAGE_WARNING_PREFIXES: readonly string[] = [];
