import { matchesTool, type ToolRef } from './match.ts';
import { type Rule, ruleText } from './rule.ts';

/** A deny rule that protects from nothing, most likely misspelt. */
export type UnmatchedRule = { readonly rule: Rule; readonly message: string };

/** Deny rules that are about no known tool; to be asked once the servers are connected, whose tools then count. */
export function unmatchedDenyRules(rules: readonly Rule[], known: readonly ToolRef[]): UnmatchedRule[] {
  return rules
    .filter((rule) => rule.effect === 'deny' && !known.some((ref) => matchesTool(rule, ref)))
    .map((rule) => ({
      rule,
      message: `deny rule "${ruleText(rule)}" of ${rule.source} matches no known tool: check its spelling`,
    }));
}

/** The rule that keeps a tool out of the pool altogether: a deny rule for the whole of it. */
export function removingRule(rules: readonly Rule[], ref: ToolRef): Rule | undefined {
  return rules.find((rule) => rule.effect === 'deny' && rule.content === undefined && matchesTool(rule, ref));
}
