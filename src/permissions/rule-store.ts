import { isEqualJson } from '../base/json-value.ts';
import type {
  PermissionMode,
  PermissionUpdate,
  PermissionUpdateDestination,
} from '../protocol/permission.ts';
import { type Rule, type RuleDiagnostic, type RuleSource, ruleOf } from './rule.ts';

/** All that is in force, each part with the place it was written in. */
export type RuleSet = {
  readonly rules: readonly Rule[];
  readonly modes: Readonly<Partial<Record<RuleSource, PermissionMode>>>;
  readonly directories: readonly { readonly path: string; readonly source: RuleSource }[];
};

/** Where "always allow" goes: in memory for a session, in files for settings. */
export type RuleStore = {
  readonly current: () => RuleSet;
  /** Settles once the change would survive as long as its destination promises; faulty rules come back unapplied. */
  readonly apply: (updates: readonly PermissionUpdate[]) => Promise<readonly RuleDiagnostic[]>;
  /** Whether what goes there outlasts the session; nothing does by default. */
  readonly keeps?: (destination: PermissionUpdateDestination) => boolean;
};

/** Nothing said anywhere: everything that is not known to read is asked about. */
export const EMPTY_RULES: RuleSet = { rules: [], modes: {}, directories: [] };

/** A store that forgets: every destination lasts as long as the object. */
export function memoryRuleStore(initial: RuleSet = EMPTY_RULES): RuleStore {
  let set = initial;
  return {
    current: () => set,
    apply: async (updates) => {
      const diagnostics: RuleDiagnostic[] = [];
      for (const update of updates) {
        const applied = applyUpdate(set, update);
        set = applied.set;
        diagnostics.push(...applied.diagnostics);
      }
      return diagnostics;
    },
  };
}

/** The set after one change, which touches only its destination; rules that are none are left out and reported. */
export function applyUpdate(
  set: RuleSet,
  update: PermissionUpdate,
): { readonly set: RuleSet; readonly diagnostics: readonly RuleDiagnostic[] } {
  const source = update.destination;
  switch (update.type) {
    case 'setMode':
      return { set: { ...set, modes: { ...set.modes, [source]: update.mode } }, diagnostics: [] };
    case 'addDirectories':
    case 'removeDirectories': {
      const kept = set.directories.filter(
        (it) => it.source !== source || !update.directories.includes(it.path),
      );
      const added = update.type === 'addDirectories' ? [...new Set(update.directories)] : [];
      const directories = [...kept, ...added.map((path) => ({ path, source }))];
      return { set: { ...set, directories }, diagnostics: [] };
    }
    case 'addRules':
    case 'replaceRules':
    case 'removeRules':
      return applyRules(set, update, source);
  }
}

/** The mode in force: the most particular place that names one. */
export function modeOf(set: RuleSet): PermissionMode {
  const place = BY_PARTICULARITY.find((source) => set.modes[source] !== undefined);
  return (place && set.modes[place]) ?? 'default';
}

const BY_PARTICULARITY: readonly RuleSource[] = [
  'policySettings',
  'session',
  'cliArg',
  'localSettings',
  'projectSettings',
  'userSettings',
];

function applyRules(
  set: RuleSet,
  update: Extract<PermissionUpdate, { behavior: unknown }>,
  source: PermissionUpdateDestination,
): { set: RuleSet; diagnostics: RuleDiagnostic[] } {
  const parsed = update.rules.map((value) => ruleOf(value, update.behavior, source));
  const given = parsed.flatMap((it) => (it.ok ? [it.rule] : []));
  const diagnostics = parsed.flatMap((it) => (it.ok ? [] : [it.diagnostic]));
  // A replacement that lost a rule would be wider or narrower than the person meant: it is not made at all.
  if (update.type === 'replaceRules' && diagnostics.length > 0) return { set, diagnostics };
  const stays = (rule: Rule): boolean => {
    if (rule.source !== source || rule.effect !== update.behavior) return true;
    return update.type === 'removeRules'
      ? !given.some((it) => isEqualJson(it, rule))
      : update.type === 'addRules';
  };
  const rules = set.rules.filter(stays);
  for (const rule of update.type === 'removeRules' ? [] : given) {
    if (!rules.some((it) => isEqualJson(it, rule))) rules.push(rule);
  }
  return { set: { ...set, rules }, diagnostics };
}
