import { isRecord } from '../../base/json-value.ts';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import { mcpToolName } from '../../protocol/tool-name.ts';
import { formatKeyPath } from '../files/diagnostics.ts';
import {
  type ConfigDiagnostic,
  type ConfiguredServer,
  hasOwnDirectory,
  type Scope,
  type ServerOverride,
  type Verdict,
  type WrittenServer,
} from '../model.ts';
import type { Candidate } from './eligibility.ts';
import type { Policy } from './policy.ts';

type ResolveContext = {
  readonly policy: Pick<Policy, 'judge'>;
  readonly overrides: readonly ServerOverride[];
  /** Whether managed settings have lower precedence than the managed file of an entry. */
  isBelow(override: ServerOverride, written: WrittenServer): boolean;
};

/** Applies settings and then the policy to the entry that holds a name. */
export function resolveServer(
  candidate: Candidate,
  { policy, overrides, isBelow }: ResolveContext,
): { readonly server: Omit<ConfiguredServer, 'lost'>; readonly faults: readonly ConfigDiagnostic[] } {
  const { written } = candidate;
  const { name } = written;
  const own = overrides.filter((override) => override.name === name);
  const effective = written.entry && dropClaims(written, written.entry);
  const { entry, settled } = effective
    ? applyOverrides(effective.entry, own, (override) => powerOf(override, written, isBelow))
    : { settled: [] };
  const verdict = verdictOf(candidate, entry, policy, own);
  const server = { name, written, verdict, ...(entry && { entry }), settled };
  const isReported = ({ member }: IgnoredMember) => settled.some((it) => it.member === member);
  const ineffective =
    verdict.kind === 'ready' ? (effective?.ignored ?? []).filter((it) => !isReported(it)) : [];
  const relative = verdict.kind === 'ready' && entry ? relativePath(written.scope, entry) : undefined;
  return {
    server,
    faults: [
      ...ineffective.map(({ member, message }) => entryDiagnostic(written, 'warning', message, [member])),
      ...(relative ? [entryDiagnostic(written, 'warning', relative.message, relative.where)] : []),
    ],
  };
}

function verdictOf(
  { written, eligibility, choice = 'new' }: Candidate,
  entry: ExternalServerEntry | undefined,
  policy: Pick<Policy, 'judge'>,
  own: readonly ServerOverride[],
): Verdict {
  const off = own.findLast(
    ({ members, isForProject }) =>
      members.disabled !== undefined && (!isForProject || written.scope === 'project'),
  );
  if (eligibility === 'rejected') return { kind: 'rejected' };
  // An invalid entry must be fixed before it can be approved.
  if (!entry)
    return {
      kind: 'broken',
      fault: written.fault ?? entryDiagnostic(written, 'error', 'not a server entry'),
    };
  if (eligibility === 'pending' && off?.isForProject) return { kind: 'disabled', label: off.label };
  if (eligibility === 'pending') return { kind: 'pending', choice };
  const judged = policy.judge(written.name, entry);
  if (judged.kind === 'forbidden') return { kind: 'blocked', rule: judged.rule };
  // An entry of any scope may disable itself.
  if (written.off !== undefined) return { kind: 'disabled', label: written.label };
  return off?.members.disabled ? { kind: 'disabled', label: off.label } : { kind: 'ready' };
}

/**
 * What an override may change. Only managed settings may change members of a managed entry; managed settings with lower
 * precedence and project settings can add to `excludeTools`, but not replace it.
 */
type Power = { readonly sets: 'any member' | 'missing members'; readonly adds: boolean };

function powerOf(
  override: ServerOverride,
  written: WrittenServer,
  isBelow: ResolveContext['isBelow'],
): Power {
  const { scope, isAdded } = override;
  if (written.scope === 'managed' && scope !== 'managed') return { sets: 'missing members', adds: false };
  if (written.scope === 'managed' && isBelow(override, written))
    return { sets: 'missing members', adds: true };
  return { sets: 'any member', adds: isAdded === true || IN_PROJECT.has(scope) };
}

const IN_PROJECT: ReadonlySet<string> = new Set(['project', 'local']);

function applyOverrides(
  given: ExternalServerEntry,
  own: readonly ServerOverride[],
  power: (override: ServerOverride) => Power,
): Pick<ConfiguredServer, 'settled'> & { readonly entry: ExternalServerEntry } {
  const applied = new Map<string, { readonly value: unknown; readonly label: string }>();
  for (const override of own) {
    const { sets, adds } = power(override);
    for (const [member, value] of Object.entries(override.members)) {
      if (member === 'disabled' || value === undefined) continue;
      const isAdded = member === 'excludeTools' && adds;
      if (!isAdded && sets === 'missing members' && Object.hasOwn(given, member)) continue;
      const before = applied.get(member)?.value ?? (given as Readonly<Record<string, unknown>>)[member];
      const next = isAdded ? joined(before, value) : value;
      if (!isAdded || next !== before) applied.set(member, { value: next, label: override.label });
    }
  }
  const over = Object.fromEntries([...applied].map(([member, { value }]) => [member, value]));
  const settled = [...applied].map(([member, { label }]) => ({ member, label }));
  return { entry: { ...given, ...over } as ExternalServerEntry, settled };
}

/** Both lists joined; the first list itself if the second adds nothing; `value` if one of them is not a list. */
function joined(before: unknown, value: unknown): unknown {
  if (!Array.isArray(before) || !Array.isArray(value)) return value;
  const more = value.filter((it) => !before.includes(it));
  return more.length === 0 ? before : [...before, ...more];
}

/** A diagnostic about an entry, or about the member of it at `path`. */
export function entryDiagnostic(
  { scope, label, position, name }: WrittenServer,
  level: ConfigDiagnostic['level'],
  message: string,
  path: readonly (string | number)[] = [],
): ConfigDiagnostic {
  const key = formatKeyPath(['mcpServers', name, ...path]);
  return { level, scope, label, key, ...(position && { position }), message };
}

/** A member that is ignored, and the warning about it. */
type IgnoredMember = { readonly member: string; readonly message: string };

/**
 * Removes the members that servers of projects, plugins and connectors cannot set for themselves: approving or installing
 * such a server only lets it run. Members that restrict the server are kept.
 */
function dropClaims(
  { scope, name }: Pick<WrittenServer, 'scope' | 'name'>,
  entry: ExternalServerEntry,
): { readonly entry: ExternalServerEntry; readonly ignored: readonly IgnoredMember[] } {
  const context: Readonly<Record<string, unknown>> = entry;
  const claims = CLAIMS.filter(
    ({ member, scopes, isClaimed }) =>
      scopes.has(scope) && Object.hasOwn(context, member) && isClaimed(context[member]),
  );
  if (claims.length === 0) return { entry, ignored: [] };
  const effective: Record<string, unknown> = { ...context };
  for (const { member, rest } of claims) {
    if (rest) effective[member] = rest(context[member]);
    else delete effective[member];
  }
  return {
    entry: effective as ExternalServerEntry,
    ignored: claims.map(({ member, action }) => ({
      member,
      message: `a server of a ${scope} cannot ${action(name)}`,
    })),
  };
}

type Claim = {
  readonly member: string;
  /** The scopes in which it is ignored. */
  readonly scopes: ReadonlySet<Scope>;
  isClaimed(value: unknown): boolean;
  /** The part of the value that is kept. */
  rest?(value: unknown): unknown;
  action(name: string): string;
};

const FROM_OTHERS: ReadonlySet<Scope> = new Set(['project', 'plugin', 'connector']);
/** Entries that no local user has reviewed. */
const FROM_THE_NETWORK: ReadonlySet<Scope> = new Set(['connector']);

const IN_YOUR_SETTINGS = 'in "serverSettings" of your own settings';
const isTrue = (value: unknown) => value === true;
const isAnything = () => true;

const CLAIMS: readonly Claim[] = [
  {
    member: 'trust',
    scopes: FROM_OTHERS,
    isClaimed: isTrue,
    action: () => `set "trust"; if you trust the server, set "trust" ${IN_YOUR_SETTINGS}`,
  },
  {
    member: 'required',
    scopes: FROM_OTHERS,
    isClaimed: isTrue,
    action: () => `set "required"; if the server is required, set "required" ${IN_YOUR_SETTINGS}`,
  },
  {
    member: 'tools',
    scopes: FROM_OTHERS,
    isClaimed: (value) => Array.isArray(value) && value.some(allows),
    rest: (value) => (Array.isArray(value) ? value.map(withoutAllowing) : value),
    action: (name) =>
      `allow its own tools; to allow them, add a rule to "permissions.allow" of your own settings, such as "${mcpToolName(name, '')}*"`,
  },
  {
    member: 'connectTimeoutMs',
    scopes: FROM_THE_NETWORK,
    isClaimed: isAnything,
    action: () => `set its own connect timeout; if you need one, set "connectTimeoutMs" ${IN_YOUR_SETTINGS}`,
  },
  {
    member: 'maxFrameBytes',
    scopes: FROM_THE_NETWORK,
    isClaimed: isAnything,
    action: () =>
      'set the maximum size of its messages; if you need another limit, add an entry for the server to "mcpServers" of your own settings and set "maxFrameBytes" there',
  },
];

function allows(policy: unknown): boolean {
  return isRecord(policy) && policy.permission_policy === 'always_allow';
}

/** Removes the permission that allows a tool from its policy; `org_max_permission` stays. */
function withoutAllowing(policy: unknown): unknown {
  if (!isRecord(policy) || !allows(policy)) return policy;
  const { permission_policy: _, ...rest } = policy;
  return rest;
}

/** A relative path in an entry that is not relative to the project, and the warning about it. */
type RelativePath = { readonly where: readonly (string | number)[]; readonly message: string };

/** The first relative path in an entry whose server runs in a directory of its own, if any. */
export function relativePath(scope: Scope, entry: ExternalServerEntry): RelativePath | undefined {
  if (!hasOwnDirectory(scope) || !('command' in entry) || entry.command === undefined) return undefined;
  const { command, args = [], cwd } = entry;
  if (cwd !== undefined) {
    if (isFixed(cwd)) return undefined;
    const message = `the path is relative to the directory of this file, not to the project; write an absolute path or ${PROJECT}`;
    return { where: ['cwd'], message };
  }
  const instead = scope === 'plugin' ? '${TOOLPLANE_PLUGIN_ROOT}' : PROJECT;
  const message = `the path is relative to the server's own directory, because a server of scope ${scope} does not run in the project; write an absolute path or ${instead}, or set "cwd"`;
  if (/[\\/]/.test(command) && !isFixed(command)) return { where: ['command'], message };
  const at = args.findIndex((arg, index) => DOTTED.test(arg) || isScript(command, args, index));
  return at < 0 ? undefined : { where: ['args', at], message };
}

const PROJECT = '${TOOLPLANE_PROJECT_DIR}';

/** `.`, `../x`, or a flag with such a value. */
const DOTTED = /^(?:--?[\w-]+=)?\.{1,2}(?:[\\/]|$)/;

/** Whether the path is absolute or starts with a variable. */
function isFixed(path: string): boolean {
  return /^(?:\$\{|[\\/]|[a-z]:[\\/])/i.test(path);
}

/** Whether an argument is the file that an interpreter runs. */
function isScript(command: string, args: readonly string[], index: number): boolean {
  const arg = args[index] as string;
  const isFirst = args.slice(0, index).every((it) => it.startsWith('-'));
  return isFirst && INTERPRETER.test(command) && SCRIPT.test(arg) && !isFixed(arg) && !arg.includes('://');
}

const INTERPRETER =
  /(?:^|[\\/])(?:node|tsx|bun|deno|python[\d.]*|ruby|perl|php|java|bash|sh|zsh)(?:\.exe)?$/i;
const SCRIPT = /^[^-].*\.(?:[cm]?[jt]sx?|py|rb|pl|php|sh|jar)$/i;
