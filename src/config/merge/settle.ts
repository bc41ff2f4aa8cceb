import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import type { ConfigFault, ConfiguredServer, ServerOverride, Verdict, WrittenServer } from '../model.ts';
import { keyText } from '../sources/key-text.ts';
import type { Policy } from './policy.ts';
import { relativePath } from './relative-path.ts';
import type { Standing } from './standing.ts';
import { heardOf, type Unheard } from './unheard.ts';

type Said = {
  readonly policy: Pick<Policy, 'judge'>;
  readonly overrides: readonly ServerOverride[];
  /** Whether managed settings come after the managed file that an entry is of. */
  isBelow(override: ServerOverride, written: WrittenServer): boolean;
};

/** What becomes of the entry that has a name: what settings say of it, then what the policy does. */
export function settle(
  standing: Standing,
  { policy, overrides, isBelow }: Said,
): { readonly server: Omit<ConfiguredServer, 'lost'>; readonly faults: readonly ConfigFault[] } {
  const { written } = standing;
  const { name } = written;
  const own = overrides.filter((override) => override.name === name);
  const heard = written.entry && heardOf(written, written.entry);
  const { entry, settled } = heard
    ? layOver(heard.entry, own, (override) => powerOf(override, written, isBelow))
    : { settled: [] };
  const verdict = verdictOf(standing, entry, policy, own);
  const server = { name, written, verdict, ...(entry && { entry }), settled };
  const isSaid = ({ member }: Unheard) => settled.some((it) => it.member === member);
  const vain = verdict.kind === 'ready' ? (heard?.unheard ?? []).filter((it) => !isSaid(it)) : [];
  const relative = verdict.kind === 'ready' && entry ? relativePath(written.scope, entry) : undefined;
  return {
    server,
    faults: [
      ...vain.map((it) => unheardFault(written, it)),
      ...(relative ? [warning(written, relative.where, relative.message)] : []),
    ],
  };
}

function verdictOf(
  { written, stands, choice = 'new' }: Standing,
  entry: ExternalServerEntry | undefined,
  policy: Pick<Policy, 'judge'>,
  own: readonly ServerOverride[],
): Verdict {
  if (stands === 'rejected') return { kind: 'rejected' };
  // Whoever is to approve it needs to mend it first.
  if (!entry) return { kind: 'broken', fault: written.fault ?? noEntry(written) };
  if (stands === 'pending') return { kind: 'pending', choice };
  const judged = policy.judge(written.name, entry);
  if (judged.kind === 'forbidden') return { kind: 'blocked', rule: judged.rule };
  // What an entry says of itself holds in every scope: it only takes away.
  if (written.off !== undefined) return { kind: 'disabled', label: written.label };
  const off = own.findLast(({ members }) => members.disabled !== undefined);
  return off?.members.disabled ? { kind: 'disabled', label: off.label } : { kind: 'ready' };
}

/**
 * What an override may do to an entry. What those who run the machine say of a server of theirs is theirs to change, and
 * managed settings that come after it only exclude more; so does what lies in a project.
 */
type Power = { readonly sets: 'anything' | 'what is unsaid'; readonly adds: boolean };

function powerOf(override: ServerOverride, written: WrittenServer, isBelow: Said['isBelow']): Power {
  const { scope, isAdded } = override;
  if (written.scope === 'managed' && scope !== 'managed') return { sets: 'what is unsaid', adds: false };
  if (written.scope === 'managed' && isBelow(override, written))
    return { sets: 'what is unsaid', adds: true };
  return { sets: 'anything', adds: isAdded === true || IN_PROJECT.has(scope) };
}

const IN_PROJECT: ReadonlySet<string> = new Set(['project', 'local']);

function layOver(
  given: ExternalServerEntry,
  own: readonly ServerOverride[],
  power: (override: ServerOverride) => Power,
): Pick<ConfiguredServer, 'settled'> & { readonly entry: ExternalServerEntry } {
  const laid = new Map<string, { readonly value: unknown; readonly label: string }>();
  for (const override of own) {
    const { sets, adds } = power(override);
    for (const [member, value] of Object.entries(override.members)) {
      if (member === 'disabled' || value === undefined) continue;
      const isAdded = member === 'excludeTools' && adds;
      if (!isAdded && sets === 'what is unsaid' && Object.hasOwn(given, member)) continue;
      const before = laid.get(member)?.value ?? (given as Readonly<Record<string, unknown>>)[member];
      const next = isAdded ? joined(before, value) : value;
      if (!isAdded || next !== before) laid.set(member, { value: next, label: override.label });
    }
  }
  const over = Object.fromEntries([...laid].map(([member, { value }]) => [member, value]));
  const settled = [...laid].map(([member, { label }]) => ({ member, label }));
  return { entry: { ...given, ...over } as ExternalServerEntry, settled };
}

/** Both lists, or the first itself if the other adds nothing; what is no list gives way. */
function joined(before: unknown, value: unknown): unknown {
  if (!Array.isArray(before) || !Array.isArray(value)) return value;
  const more = value.filter((it) => !before.includes(it));
  return more.length === 0 ? before : [...before, ...more];
}

function unheardFault(written: WrittenServer, { member, message }: Unheard): ConfigFault {
  return warning(written, [member], message);
}

function warning(
  { scope, label, position, name }: WrittenServer,
  way: readonly (string | number)[],
  message: string,
): ConfigFault {
  const key = keyText(['mcpServers', name, ...way]);
  return { level: 'warning', scope, label, key, ...(position && { position }), message };
}

function noEntry({ scope, label, position, name }: WrittenServer): ConfigFault {
  const key = keyText(['mcpServers', name]);
  return {
    level: 'error',
    scope,
    label,
    key,
    ...(position && { position }),
    message: 'it is no server entry',
  };
}
