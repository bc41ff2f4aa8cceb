import { patternOf, type Workspace } from './permission/path.ts';
import type { Rule } from './permission/rule.ts';
import type { RuleSet, RuleStore } from './permission/rule-store.ts';

/**
 * The rules, and one more: what a session has put aside of its results may be read and searched without a question, for
 * the model got it in answer to a call. It cannot be removed; a deny or ask rule beats it, as any other that allows.
 */
export function withReadableResults(store: RuleStore, directory: string, workspace: Workspace): RuleStore {
  const own: Rule = {
    tool: 'Read',
    content: patternOf(directory, workspace),
    effect: 'allow',
    source: 'session',
  };
  let last: { readonly given: RuleSet; readonly set: RuleSet } | undefined;
  return {
    apply: store.apply,
    // The same object while nothing changes: whoever keeps what it made of rules compares them.
    current: () => {
      const given = store.current();
      if (last?.given.rules === given.rules) {
        last = { given, set: { ...given, rules: last.set.rules } };
      } else {
        last = { given, set: { ...given, rules: [...given.rules, own] } };
      }
      return last.set;
    },
  };
}
