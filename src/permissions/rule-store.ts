import { isEqualJson } from '../base/json-value.ts';
import type {
  PermissionMode,
  PermissionUpdate,
  PermissionUpdateDestination,
} from '../protocol/permission.ts';
import { type Rule, type RuleDiagnostic, type RuleSource, ruleOf } from './rule.ts';

/** The active rules, modes and directories, each with its source. */
export type RuleSet = {
  readonly rules: readonly Rule[];
  readonly modes: Readonly<Partial<Record<RuleSource, PermissionMode>>>;
  readonly directories: readonly { readonly path: string; readonly source: RuleSource }[];
  /** What file tools must not do outside of the workspace; no rule or mode overrides this restriction. */
  readonly blocksOutside?: BlockedOutside;
};

export type BlockedOutside = { readonly reads?: true; readonly writes?: true };

/** Stores permission updates: in memory for a session, in files for settings. */
export type RuleStore = {
  readonly current: () => RuleSet;
  /** Resolves when the change is stored in its destination; returns the invalid rules, which are not applied. */
  readonly apply: (updates: readonly PermissionUpdate[]) => Promise<readonly RuleDiagnostic[]>;
  /** Whether changes of the destination outlast the session; by default none does. */
  readonly keeps?: (destination: PermissionUpdateDestination) => boolean;
};

/** No rules: every tool that is not read-only needs approval. */
export const EMPTY_RULES: RuleSet = { rules: [], modes: {}, directories: [] };

/** A store in memory: every destination lasts as long as the store. */
export function memoryRuleStore(initial: RuleSet = EMPTY_RULES): RuleStore {
  let set = initial;
  return {
    current: () => set,
    apply: async (updates) => {
      const applied = applyUpdates(set, updates);
      set = applied.set;
      return applied.diagnostics;
    },
  };
}

/** Applies updates in order. Each changes only its destination; invalid rules are left out and reported. */
export function applyUpdates(
  initial: RuleSet,
  updates: readonly PermissionUpdate[],
): { readonly set: RuleSet; readonly diagnostics: readonly RuleDiagnostic[] } {
  let set = initial;
  const diagnostics = updates.flatMap((update) => {
    const applied = applyUpdate(set, update);
    set = applied.set;
    return applied.diagnostics;
  });
  return { set, diagnostics };
}

function applyUpdate(
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

/** The active mode: that of the source with the highest precedence. */
export function modeOf(set: RuleSet): PermissionMode {
  const source = BY_PRECEDENCE.find((source) => set.modes[source] !== undefined);
  return (source && set.modes[source]) ?? 'default';
}

const BY_PRECEDENCE: readonly RuleSource[] = [
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
  // An incomplete replacement could allow more or less than intended, so it is not applied at all.
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
