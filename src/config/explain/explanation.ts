import { formatPosition } from '../files/diagnostics.ts';
import type { Choice, IgnoreReason, Position, Scope, Verdict, WrittenServer } from '../model.ts';
import type { SettingsSource } from '../sources/source-types.ts';

/** Where something stands, in the form that editors and terminals open. */
export type Location = {
  readonly scope: Scope;
  /** Which file, flag or address. */
  readonly label: string;
  readonly line?: number;
  readonly column?: number;
};

/** One file, flag or address that was looked at. */
export type SourceRow = Location & {
  readonly state: 'read' | 'absent' | 'unusable';
  /** The plugin or connector it belongs to. */
  readonly owner?: string;
  /** What it has of the name: the entry that counts, one that does not, or none. */
  readonly has: 'winner' | 'lost' | 'nothing';
  /** In words, what that means. */
  readonly says: string;
};

/** An entry that was written and does not count. */
export type IgnoredRow = Location & { readonly why: IgnoreReason; readonly says: string };

/** One `${…}` of an entry; the value is not known here. */
export type ReferenceRow = {
  readonly where: string;
  /** As it is written, without a default. */
  readonly reference: string;
  readonly from: 'value' | 'default' | 'missing';
};

/** One limit of time: what counts, and everything that was said about it, the nearest first. */
export type LimitRow = {
  readonly limit: 'connect' | 'call' | 'idle';
  /** Undefined if there is none. */
  readonly ms?: number;
  /** Whose limit it is, in words. */
  readonly by: string;
  readonly candidates: readonly {
    readonly ms: number;
    readonly by: string;
    readonly at?: Location;
    readonly isActive: boolean;
    /** It stands in a file of the project that nobody approved. */
    readonly isPending?: true;
  }[];
};

/** What came of the dial, if one was made. */
export type ConnectionRow = {
  readonly state: string;
  /** The kind of failure, as `HostErrorCode` has it. */
  readonly code?: string;
  readonly lastError?: string;
  /** The variable that the server says it misses, and whether the host has it. */
  readonly missingVariable?: { readonly name: string; readonly isWithheld: boolean };
  /** The step of connecting that failed before the server was reached. */
  readonly stage?: 'command' | 'address' | 'tls';
  readonly era?: string;
  readonly protocolVersion?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly tools?: number;
  readonly stderr?: readonly string[];
};

/** What people, programs and pages are told about anything that is configured. */
type Explained = {
  readonly name: string;
  /** One sentence that could stand alone. */
  readonly answer: string;
  /** Whether there is such a thing, and whether it can be used as it is. */
  readonly status: 'usable' | 'unusable' | 'unknown';
  /** What to do, the most likely first: a command or an edit each. */
  readonly next: readonly string[];
};

/** Why a server is in its state: sources, approval, policy, connection. */
export type ServerExplanation = Explained & {
  readonly kind: 'server';
  readonly verdict: Verdict['kind'] | 'lost' | 'unknown';
  /** Highest precedence first. */
  readonly sources: readonly SourceRow[];
  readonly winner?: Location;
  readonly lost: readonly IgnoredRow[];
  /** The entry as written, with secrets masked. */
  readonly entry?: Readonly<Record<string, unknown>>;
  /** Changes to the entry made by settings. */
  readonly settled: readonly { readonly member: string; readonly at: Location }[];
  readonly expansion: readonly ReferenceRow[];
  readonly policy: { readonly allows: boolean; readonly says: string };
  readonly approval: {
    readonly isNeeded: boolean;
    readonly choice?: Choice | 'trusted';
    readonly says: string;
    /** Hash of the entry as written now; approval is for this content. */
    readonly hash?: string;
  };
  readonly connection: ConnectionRow | 'not asked';
  readonly timeouts: readonly LimitRow[];
  /** Problems in the files that concern the server, one per line. */
  readonly faults: readonly string[];
};

/** The limits of one server, or of one of its tools. */
export type TimeoutExplanation = Explained & {
  readonly kind: 'timeout';
  readonly server?: string;
  readonly tool?: string;
  readonly limits: readonly LimitRow[];
};

/** One rule that speaks about a call. */
export type RuleRow = {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly rule: string;
  /** Which settings, or what else, it is of. */
  readonly of: string;
  readonly at?: Location;
  /** `not approved`: it stands in a file of the project that nobody approved. */
  readonly part: 'decides' | 'beaten' | 'not approved' | 'other arguments';
};

/** A hook that is asked before rules and mode are: it may deny, ask, or spare a question that no rule demands. */
export type HookRow = { readonly matcher?: string; readonly command: string; readonly at: Location };

/** Whether one call may run. */
export type PermissionExplanation = Explained & {
  readonly kind: 'permission';
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly reason: string;
  readonly mode: { readonly mode: string; readonly says: string };
  /** The one that decides first. */
  readonly rules: readonly RuleRow[];
  /** In the order in which they run; what they say is not known before they do. */
  readonly hooks: readonly HookRow[];
  /** The arguments of the call, where they were read from a text such as `Bash(git push)`. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** The path of the call as the file system sees it, where that is another than was written. */
  readonly path?: string;
};

/** One tool: where it comes from and whether a model gets it. */
export type ToolExplanation = Explained & {
  readonly kind: 'tool';
  readonly server?: string;
  /** The server's own name of it. */
  readonly tool?: string;
  /** The name models know. */
  readonly pooledName?: string;
  readonly naming?: string;
  readonly offered: { readonly is: boolean; readonly says: string };
  readonly deferred?: { readonly is: boolean; readonly says: string };
  readonly tokens?: number;
  /** How it differs from what was accepted. */
  readonly changed?: string;
  readonly connection: ConnectionRow | 'not asked';
  readonly permission?: PermissionExplanation;
  readonly timeouts: readonly LimitRow[];
};

export type Explanation = ServerExplanation | ToolExplanation | PermissionExplanation | TimeoutExplanation;

/** Where an entry stands. */
export function locationOf({
  scope,
  label,
  position,
}: Pick<WrittenServer, 'scope' | 'label' | 'position'>): Location {
  return locationAt(scope, label, position);
}

export function locationAt(scope: Scope, label: string, position?: Position): Location {
  return { scope, label, ...(position && { line: position.line, column: position.column }) };
}

/** Where something stands in the settings of this label. */
export function locationInSettings(
  sources: readonly SettingsSource[],
  { scope, label }: { readonly scope?: Scope; readonly label: string },
  path: readonly (string | number)[],
): Location {
  const source = sources.find((it) => it.label === label && (scope === undefined || it.scope === scope));
  return locationAt(source?.scope ?? scope ?? 'user', label, source?.locate(path));
}

/** `path:line:column`, as far as it is known. */
export function formatLocation({ label, line, column }: Location): string {
  return formatPosition(label, line === undefined || column === undefined ? undefined : { line, column });
}
