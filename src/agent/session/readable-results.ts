import { matchesCall } from '../../permissions/match.ts';
import { patternOf, type Workspace } from '../../permissions/path.ts';
import type { Rule } from '../../permissions/rule.ts';
import type { RuleSet, RuleStore } from '../../permissions/rule-store.ts';

/**
 * The rules, and more: what a session, or one that it goes on from, has put aside of its results may be read and
 * searched without a question, for the model got it in answer to a call. They cannot be removed; a deny or ask rule
 * beats them, as any other that allows.
 */
export function withReadableResults(
  store: RuleStore,
  directories: readonly string[],
  workspace: Workspace,
): RuleStore {
  const own = directories.map(
    (directory): Rule => ({
      tool: 'Read',
      content: patternOf(directory, workspace),
      effect: 'allow',
      source: 'session',
    }),
  );
  let last: { readonly given: RuleSet; readonly set: RuleSet } | undefined;
  return {
    apply: store.apply,
    ...(store.keeps && { keeps: store.keeps }),
    // The same object while nothing changes: whoever keeps what it made of rules compares them.
    current: () => {
      const given = store.current();
      if (last?.given.rules === given.rules) {
        last = { given, set: { ...given, rules: last.set.rules } };
      } else {
        last = { given, set: { ...given, rules: [...given.rules, ...own] } };
      }
      return last.set;
    },
  };
}

/** Whether no rule forbids to read what is put aside there. */
export function mayReadResults(rules: readonly Rule[], directory: string, workspace: Workspace): boolean {
  const call = { name: 'Read', input: { file_path: `${directory}/${'0'.repeat(32)}.txt` } };
  return !rules.some((rule) => rule.effect === 'deny' && matchesCall(rule, call, workspace));
}
