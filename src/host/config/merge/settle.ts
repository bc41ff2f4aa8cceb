import type { ExternalServerEntry } from '../../../protocol/server-entry.ts';
import type { ConfigFault, ConfiguredServer, ServerOverride, Verdict, WrittenServer } from '../model.ts';
import { keyText } from '../source/key-text.ts';
import type { Policy } from './policy.ts';
import type { Standing } from './standing.ts';

type Said = { readonly policy: Pick<Policy, 'judge'>; readonly overrides: readonly ServerOverride[] };

/** What becomes of the entry that has a name: what settings say of it, then what the policy does. */
export function settle(
  standing: Standing,
  { policy, overrides }: Said,
): { readonly server: Omit<ConfiguredServer, 'lost'>; readonly faults: readonly ConfigFault[] } {
  const { written } = standing;
  const { name } = written;
  const own = overrides.filter((override) => override.name === name);
  const { entry, settled } = written.entry ? layOver(written, written.entry, own) : { settled: [] };
  const verdict = verdictOf(standing, entry, policy, own);
  const server = { name, written, verdict, ...(entry && { entry }), settled };
  const isVain =
    verdict.kind === 'ready' &&
    written.entry?.trust === true &&
    !isHeard(written) &&
    !settled.some(({ member }) => member === 'trust');
  return { server, faults: isVain ? [vainTrust(written)] : [] };
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
  const off = own.findLast(({ members }) => members.disabled !== undefined);
  return off?.members.disabled ? { kind: 'disabled', label: off.label } : { kind: 'ready' };
}

function layOver(
  written: WrittenServer,
  given: ExternalServerEntry,
  own: readonly ServerOverride[],
): Pick<ConfiguredServer, 'settled'> & { readonly entry: ExternalServerEntry } {
  const { trust, ...rest } = given;
  const base = trust !== undefined && isHeard(written) ? { ...rest, trust } : rest;
  const laid = new Map<string, { readonly value: unknown; readonly label: string }>();
  for (const { members, label, scope, onlyForbids } of own) {
    for (const [member, value] of Object.entries(members)) {
      if (member === 'disabled' || value === undefined) continue;
      // What those who run the machine say of a server of theirs is theirs to change.
      if (written.scope === 'managed' && scope !== 'managed' && Object.hasOwn(given, member)) continue;
      const before = laid.get(member)?.value ?? (given as Readonly<Record<string, unknown>>)[member];
      laid.set(member, { value: onlyForbids ? joined(before, value) : value, label });
    }
  }
  const over = Object.fromEntries([...laid].map(([member, { value }]) => [member, value]));
  const settled = [...laid].map(([member, { label }]) => ({ member, label }));
  return { entry: { ...base, ...over } as ExternalServerEntry, settled };
}

/** Both lists; what is no list gives way. */
function joined(before: unknown, value: unknown): unknown {
  return Array.isArray(before) && Array.isArray(value) ? [...new Set([...before, ...value])] : value;
}

/** What comes from elsewhere cannot ask to be trusted. */
function isHeard({ scope }: WrittenServer): boolean {
  return scope !== 'project' && scope !== 'plugin' && scope !== 'connector';
}

function vainTrust(written: WrittenServer): ConfigFault {
  const { scope, label, position, name } = written;
  return {
    level: 'warning',
    scope,
    label,
    key: keyText(['mcpServers', name, 'trust']),
    ...(position && { position }),
    message: `a server of a ${scope} cannot ask to be trusted; if you do, say so in "serverSettings" of your own settings`,
  };
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
