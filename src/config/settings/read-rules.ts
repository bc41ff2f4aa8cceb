import { parseRule, type Rule, type RuleSource } from '../../permissions/rule.ts';
import type { PermissionBehavior } from '../../protocol/permission.ts';
import { misspeltTool } from './misspelt-tool.ts';

/** One text as a rule, or why it is none; `remark` is told of either. */
export type ReadRule = { readonly rule?: Rule; readonly fault?: string; readonly remark?: string };

/**
 * A rule that cannot be read is a fault if it would forbid or ask, and only told if it would have allowed. One about a
 * tool nobody knows is kept and told.
 */
export function readRule(text: string, effect: PermissionBehavior, source: RuleSource): ReadRule {
  const parsed = parseRule(text, effect, source);
  if (parsed.ok) {
    const remark = misspeltTool(parsed.rule);
    return { rule: parsed.rule, ...(remark !== undefined && { remark }) };
  }
  const { message } = parsed.diagnostic;
  return effect === 'allow' ? { remark: `${message}; it allows nothing` } : { fault: message };
}

/** Many of them. */
export function readRules(
  texts: readonly string[],
  effect: PermissionBehavior,
  source: RuleSource,
): { readonly rules: Rule[]; readonly faults: string[]; readonly notes: string[] } {
  const read = texts.map((text) => readRule(text, effect, source));
  return {
    rules: read.flatMap(({ rule }) => rule ?? []),
    faults: read.flatMap(({ fault }) => fault ?? []),
    notes: read.flatMap(({ remark }) => remark ?? []),
  };
}
