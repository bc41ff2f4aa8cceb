import type { AuthStatus } from '../../mcp/auth/auth-types.ts';
import { formatPosition } from '../files/diagnostics.ts';
import type { Choice, IgnoreReason, Position, Scope, Verdict, WrittenServer } from '../model.ts';
import type { SettingsSource } from '../sources/source-types.ts';

/** A position in a source, in the form that editors and terminals open. */
export type Location = {
  readonly scope: Scope;
  /** The file, flag or URL. */
  readonly label: string;
  readonly line?: number;
  readonly column?: number;
};

/** One source of servers: a file, flag or URL. */
export type SourceRow = Location & {
  readonly state: 'read' | 'absent' | 'unusable';
  /** The plugin or connector that the source belongs to. */
  readonly owner?: string;
  /** Whether the source has the active entry of the name, an ignored one, or none. */
  readonly has: 'winner' | 'lost' | 'nothing';
  /** The same as text. */
  readonly says: string;
};

/** An entry that is ignored. */
export type IgnoredRow = Location & { readonly why: IgnoreReason; readonly says: string };

/** One `${…}` of an entry, without its value. */
export type ReferenceRow = {
  readonly where: string;
  /** As written, without a default. */
  readonly reference: string;
  readonly from: 'value' | 'default' | 'missing';
};

/** One timeout: the effective value, and all candidates, the active one first. */
export type LimitRow = {
  readonly limit: 'connect' | 'call' | 'idle';
  /** Undefined if there is no limit. */
  readonly ms?: number;
  /** Where the value comes from, as text. */
  readonly by: string;
  readonly candidates: readonly {
    readonly ms: number;
    readonly by: string;
    readonly at?: Location;
    readonly isActive: boolean;
    /** The limit is in a file of the project that is not approved. */
    readonly isPending?: true;
  }[];
};

/** The result of connecting. */
export type ConnectionRow = {
  readonly state: string;
  /** The kind of failure: a `HostErrorCode`. */
  readonly code?: string;
  readonly lastError?: string;
  /** The environment variable that the server reported missing; `isWithheld` if the host has it but does not pass it on. */
  readonly missingVariable?: { readonly name: string; readonly isWithheld: boolean };
  /** The step of connecting that failed before the server was reached. */
  readonly stage?: 'command' | 'address' | 'tls';
  readonly era?: string;
  readonly protocolVersion?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly tools?: number;
  readonly stderr?: readonly string[];
};

/** Fields of every explanation. */
type Explained = {
  readonly name: string;
  /** The answer in one sentence. */
  readonly answer: string;
  /** Whether the name is known, and whether it can be used. */
  readonly status: 'usable' | 'unusable' | 'unknown';
  /** What to do, the most likely step first: a command or an edit each. */
  readonly next: readonly string[];
};

/** Why a server runs or does not run: sources, approval, policy, connection. */
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
  /** How a remote server is authorized, without any secret value. */
  readonly auth?: AuthStatus;
  readonly timeouts: readonly LimitRow[];
  /** Problems in the files that concern the server, one per line. */
  readonly faults: readonly string[];
};

/** The timeouts of one server or tool. */
export type TimeoutExplanation = Explained & {
  readonly kind: 'timeout';
  readonly server?: string;
  readonly tool?: string;
  readonly limits: readonly LimitRow[];
};

/** One permission rule that matches the tool. */
export type RuleRow = {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly rule: string;
  /** The settings, flag or entry that contains the rule. */
  readonly of: string;
  readonly at?: Location;
  /** `not approved`: the rule is in a file of the project that is not approved. */
  readonly part: 'decides' | 'overridden' | 'not approved' | 'other arguments';
};

/** A hook that runs before rules and mode are checked: it may deny, ask, or allow a call that no rule asks about. */
export type HookRow = { readonly matcher?: string; readonly command: string; readonly at: Location };

/** Whether a call may run. */
export type PermissionExplanation = Explained & {
  readonly kind: 'permission';
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly reason: string;
  readonly mode: { readonly mode: string; readonly says: string };
  /** The deciding rule first. */
  readonly rules: readonly RuleRow[];
  /** The hooks for the call, in the order in which they run. An explanation does not run them. */
  readonly hooks: readonly HookRow[];
  /** The arguments, if they were parsed from a text such as `Bash(git push)`. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** The real path of the call, if it differs from the given one. */
  readonly path?: string;
};

/** One tool: where it comes from and whether it is offered to models. */
export type ToolExplanation = Explained & {
  readonly kind: 'tool';
  readonly server?: string;
  /** The name that the server lists. */
  readonly tool?: string;
  /** The name that models see. */
  readonly pooledName?: string;
  readonly naming?: string;
  readonly offered: { readonly is: boolean; readonly says: string };
  readonly deferred?: { readonly is: boolean; readonly says: string };
  readonly tokens?: number;
  /** How the tool differs from the accepted definition. */
  readonly changed?: string;
  readonly connection: ConnectionRow | 'not asked';
  readonly permission?: PermissionExplanation;
  readonly timeouts: readonly LimitRow[];
};

export type Explanation = ServerExplanation | ToolExplanation | PermissionExplanation | TimeoutExplanation;

/** The location of an entry. */
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

/** The location of a value in the settings of this label. */
export function locationInSettings(
  sources: readonly SettingsSource[],
  { scope, label }: { readonly scope?: Scope; readonly label: string },
  path: readonly (string | number)[],
): Location {
  const source = sources.find((it) => it.label === label && (scope === undefined || it.scope === scope));
  return locationAt(source?.scope ?? scope ?? 'user', label, source?.locate(path));
}

/** `path:line:column`; line and column if they are known. */
export function formatLocation({ label, line, column }: Location): string {
  return formatPosition(label, line === undefined || column === undefined ? undefined : { line, column });
}
