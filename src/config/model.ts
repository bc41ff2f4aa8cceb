import type { ExternalServerEntry } from '../protocol/server-entry.ts';

/** Where servers are configured, lowest precedence first; a `managed` file excludes all other scopes. */
export const SCOPES = ['connector', 'plugin', 'user', 'project', 'local', 'program', 'managed'] as const;

export type Scope = (typeof SCOPES)[number];

/**
 * Whether servers of the scope run in a directory of their own. Such servers are active in every project, and programs
 * load code from their working directory (`python -m`, `npx`, `node --import`), so it must not be a repository that the
 * user has not approved. Servers of a project are approved with it; those of a program run in the program's directory.
 */
export function hasOwnDirectory(scope: Scope): boolean {
  return OWN.has(scope);
}

const OWN: ReadonlySet<Scope> = new Set(['connector', 'plugin', 'user', 'managed']);

/** A position in a text, counted from 1. */
export type Position = { readonly line: number; readonly column: number };

/** A problem in the configuration. It never contains a value that may be secret. */
export type ConfigDiagnostic = {
  /** `error`: the value is ignored. `warning`: the value is used, but may not be what was intended. */
  readonly level: 'error' | 'warning';
  readonly scope: Scope;
  /** The file, flag or URL. */
  readonly label: string;
  /** The key path of the value, such as `mcpServers.github.args`. */
  readonly key?: string;
  readonly position?: Position;
  /** One sentence without a full stop: the problem and the remedy. */
  readonly message: string;
  /** Prevents a start until it is fixed: ignoring the value could allow something that it forbids. */
  readonly isFatal?: true;
};

/** A server entry as written: validated, but without variables substituted. */
export type WrittenServer = {
  readonly name: string;
  readonly scope: Scope;
  /** The file, flag or URL that contains it. */
  readonly label: string;
  /** The absolute path of the file, if it is in one. */
  readonly path?: string;
  readonly position?: Position;
  /** The plugin or connector that provides it. */
  readonly owner?: string;
  /** The value as parsed; approvals are for this value. */
  readonly raw: unknown;
  /** Undefined if the entry is invalid; `fault` has the reason. */
  readonly entry?: ExternalServerEntry;
  /** The member of `raw` that disables the server, if any. */
  readonly off?: 'disabled' | 'enabled';
  readonly fault?: ConfigDiagnostic;
};

/** A file, flag or URL that may contain servers, and its content. */
export type Source = {
  readonly scope: Scope;
  readonly label: string;
  readonly path?: string;
  /** The name of the plugin or connector. */
  readonly owner?: string;
  /** `unusable`: it exists, but cannot be read or parsed; `faults` has the reason. */
  readonly state: 'read' | 'absent' | 'unusable';
  /** It was not read, because `--setting-sources` excludes its scope. */
  readonly leftOut?: true;
  readonly servers: readonly WrittenServer[];
  readonly faults: readonly ConfigDiagnostic[];
};

/** The user's decision about an entry of a project. */
export type Choice = 'approved' | 'rejected' | 'new' | 'changed';

/** The state of the entry that is used for a name. Only `ready` servers are started. */
export type Verdict =
  | { readonly kind: 'ready' }
  /** It is in a project and is not approved, or has changed since it was approved. */
  | { readonly kind: 'pending'; readonly choice: 'new' | 'changed' }
  | { readonly kind: 'rejected' }
  /** A managed policy forbids it; `rule` names the rule. */
  | { readonly kind: 'blocked'; readonly rule: string }
  /** Settings or its own entry disable it; `label` is the file. */
  | { readonly kind: 'disabled'; readonly label: string }
  | { readonly kind: 'broken'; readonly fault: ConfigDiagnostic };

/** Why an entry is ignored. */
export type IgnoreReason =
  /** Another entry of the same name has higher precedence. */
  | 'shadowed'
  /** It is not approved, so it does not shadow other entries. */
  | 'pending'
  | 'rejected'
  /** Another entry leads to the same server; only for connectors. */
  | 'duplicate'
  /** Its name normalizes to the same identifier as another one. */
  | 'same-name'
  /** `--strict-mcp-config` or `--setting-sources` excludes it. */
  | 'left-out'
  /** A managed file allows only the servers it defines. */
  | 'managed';

export type IgnoredServer = {
  readonly written: WrittenServer;
  readonly why: IgnoreReason;
  /** The entry that is used instead, if any. In-process servers have no entry. */
  readonly winner?: WrittenServer;
};

/** A server name, the entry that is used for it, and the entries that are ignored. */
export type ConfiguredServer = {
  readonly name: string;
  readonly written: WrittenServer;
  readonly verdict: Verdict;
  /** The entry with settings applied and variables not yet substituted; undefined if it is invalid. */
  readonly entry?: ExternalServerEntry;
  /** The members that settings override, each with its file, such as `trust` by `~/.toolplane/settings.json`. */
  readonly settled: readonly { readonly member: string; readonly label: string }[];
  /** Highest precedence first. */
  readonly lost: readonly IgnoredServer[];
};

/** Every server name once, sorted, and all problems, each once. */
export type Merged = {
  readonly servers: readonly ConfiguredServer[];
  /** Ignored entries of names that no entry has, or that an in-process server has. */
  readonly lost: readonly IgnoredServer[];
  readonly faults: readonly ConfigDiagnostic[];
};

/** Settings for a server, by name; a later override takes precedence, member by member. */
export type ServerOverride = {
  readonly name: string;
  readonly label: string;
  readonly scope: Scope;
  /** The file that contains it. */
  readonly path?: string;
  /** The override is in managed settings with lower precedence than others: its exclusions are added to theirs. */
  readonly isAdded?: true;
  /** The override applies only to servers of `.mcp.json`, as `disabledMcpjsonServers` of the `claude` CLI does. */
  readonly isForProject?: true;
  readonly members: {
    readonly disabled?: boolean;
    readonly trust?: boolean;
    readonly timeout?: number;
    readonly connectTimeoutMs?: number;
    readonly idleTimeoutMs?: number;
    readonly toolTimeoutsMs?: Record<string, number>;
    readonly includeTools?: string[];
    readonly excludeTools?: string[];
    readonly alwaysLoad?: boolean;
    readonly start?: 'on-demand';
    readonly required?: boolean;
  };
};
