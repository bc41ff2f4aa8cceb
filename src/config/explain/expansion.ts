import type { Configuration } from '../configuration.ts';
import { expandEntry, type Lookup, type Use } from '../expand/expand-entry.ts';
import { withSettingsEnv } from '../expand/settings-env.ts';
import type { ConfiguredServer } from '../model.ts';
import type { UseRow } from './explanation.ts';

/** What `${…}` of an entry becomes, without any value, and why it cannot be used then. */
export type Expansion = { readonly uses: readonly UseRow[]; readonly faults: readonly string[] };

/** What an entry leads to once it is expanded must be allowed, too; what comes from the network is taken as it is written. */
export function expansionOf(
  { name, written, entry }: ConfiguredServer,
  configuration: Pick<Configuration, 'policy' | 'settings' | 'settingsSources' | 'world'>,
  lookup: Lookup | undefined,
): Expansion {
  if (lookup === undefined || entry === undefined || written.scope === 'connector') return NOTHING;
  const expanded = expandEntry(entry, lookup);
  const uses = expanded.uses.map(({ where, from, ...use }) => ({
    where,
    reference: referenceOf(use),
    from,
  }));
  if (expanded.kind === 'faulty') return { uses, faults: expanded.faults };
  const { policy } = configuration;
  const rule = policy.forbids(name, withSettingsEnv(expanded.entry, configuration));
  const isToldElsewhere = policy.judge(name, entry).kind === 'forbidden';
  if (rule === undefined || isToldElsewhere) return { uses, faults: [] };
  return { uses, faults: [`what it leads to is forbidden by ${rule}`] };
}

const NOTHING: Expansion = { uses: [], faults: [] };

function referenceOf({ kind, name }: Pick<Use, 'kind' | 'name'>): string {
  return kind === 'secret' ? `\${secret:${name}}` : `\${${name}}`;
}
