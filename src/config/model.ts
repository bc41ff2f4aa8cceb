import type { ExternalServerEntry } from '../protocol/server-entry.ts';

/** Where servers are configured, from the lowest precedence to the highest; `managed`, where it is, excludes all others. */
export const SCOPES = ['connector', 'plugin', 'user', 'project', 'local', 'program', 'managed'] as const;

export type Scope = (typeof SCOPES)[number];

/**
 * Whether processes of servers of the scope start in a directory of their own. Such servers count in every project, and
 * programs load code from their working directory (`python -m`, `npx`, `node --import`), so a repository that nobody
 * approved must not be it. Servers of a project were approved with it; those of a program run where the program says.
 */
export function hasOwnDirectory(scope: Scope): boolean {
  return OWN.has(scope);
}

const OWN: ReadonlySet<Scope> = new Set(['connector', 'plugin', 'user', 'managed']);

/** A place in a text, counted from 1. */
export type Position = { readonly line: number; readonly column: number };

/** Something that was written and cannot be used, or only in part. It never shows a value that may be secret. */
export type ConfigDiagnostic = {
  /** An `error` means that something does not count; a `warning` that it does, and may not be what was meant. */
  readonly level: 'error' | 'warning';
  readonly scope: Scope;
  /** Which file, flag or address. */
  readonly label: string;
  /** The way to what is wrong, such as `mcpServers.github.args`. */
  readonly key?: string;
  readonly position?: Position;
  /** One sentence without a full stop: what is wrong and what to do. */
  readonly message: string;
  /** No agent is started before it is mended: without it something would be allowed that somebody forbade. */
  readonly isFatal?: true;
};

/** One entry as somebody wrote it: checked for its shape, not expanded. */
export type WrittenServer = {
  readonly name: string;
  readonly scope: Scope;
  /** Which file, flag or address it stands in. */
  readonly label: string;
  /** The absolute path, if it stands in a file. */
  readonly path?: string;
  readonly position?: Position;
  /** The plugin or connector it comes with. */
  readonly owner?: string;
  /** The value as parsed: what is approved is this. */
  readonly raw: unknown;
  /** Undefined if it is none; then `fault` says why. */
  readonly entry?: ExternalServerEntry;
  /** The member of `raw` that turns it off, if one does. */
  readonly off?: 'disabled' | 'enabled';
  readonly fault?: ConfigDiagnostic;
};

/** One file, flag or address that may name servers, as it was found. */
export type Source = {
  readonly scope: Scope;
  readonly label: string;
  readonly path?: string;
  /** The name of the plugin, or of the connector. */
  readonly owner?: string;
  /** `unusable`: it is there and nothing of it can be read; `faults` says why. */
  readonly state: 'read' | 'absent' | 'unusable';
  /** It was not looked at, since `--setting-sources` leaves its scope out. */
  readonly leftOut?: true;
  readonly servers: readonly WrittenServer[];
  readonly faults: readonly ConfigDiagnostic[];
};

/** What a person has said about an entry that lies in a project. */
export type Choice = 'approved' | 'rejected' | 'new' | 'changed';

/** What became of the entry that has the name. Only `ready` ones are ever started. */
export type Verdict =
  | { readonly kind: 'ready' }
  /** It lies in a project and nobody on this machine has approved it, or it changed since. */
  | { readonly kind: 'pending'; readonly choice: 'new' | 'changed' }
  | { readonly kind: 'rejected' }
  /** The policy of the machine forbids it; `rule` is what it says. */
  | { readonly kind: 'blocked'; readonly rule: string }
  /** It is turned off in settings, or by its own entry; `label` is where. */
  | { readonly kind: 'disabled'; readonly label: string }
  | { readonly kind: 'broken'; readonly fault: ConfigDiagnostic };

/** Why an entry does not count although it was written. */
export type IgnoreReason =
  /** One of the same name stands higher. */
  | 'shadowed'
  /** It is not approved, so it takes no name from anybody. */
  | 'pending'
  | 'rejected'
  /** It leads where another one already does: connectors only. */
  | 'duplicate'
  /** Its name becomes the same as that of another for a model. */
  | 'same-name'
  /** `--strict-mcp-config`, or `--setting-sources` without its scope. */
  | 'left-out'
  /** There is a managed file, and this stands elsewhere. */
  | 'managed';

export type IgnoredServer = {
  readonly written: WrittenServer;
  readonly why: IgnoreReason;
  /** Which entry counts instead, if one does; a server in the program itself has none, and stands in no file. */
  readonly winner?: WrittenServer;
};

/** One name, the entry that has it, and all that were written for it as well. */
export type ConfiguredServer = {
  readonly name: string;
  readonly written: WrittenServer;
  readonly verdict: Verdict;
  /** The entry with what settings say of the server, still not expanded; undefined if it is broken. */
  readonly entry?: ExternalServerEntry;
  /** What settings changed of the entry, each with its place, such as `trust` by `~/.toolplane/settings.json`. */
  readonly settled: readonly { readonly member: string; readonly label: string }[];
  /** Highest precedence first. */
  readonly lost: readonly IgnoredServer[];
};

/** Every name once, in the order of names; and what is wrong, each thing once. */
export type Merged = {
  readonly servers: readonly ConfiguredServer[];
  /** Entries whose name nobody has, or a server in the program itself: they lost, and so did all others of the name. */
  readonly lost: readonly IgnoredServer[];
  readonly faults: readonly ConfigDiagnostic[];
};

/** What settings say of servers by name, beside their entries; a later one beats an earlier one, member by member. */
export type ServerOverride = {
  readonly name: string;
  readonly label: string;
  readonly scope: Scope;
  /** The file it stands in. */
  readonly path?: string;
  /** It comes after other managed settings: what it excludes is added to what they do. */
  readonly isAdded?: true;
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
