import type { Decision } from '../../permissions/decide.ts';
import type { ToolRef } from '../../permissions/match.ts';
import type { CallFacts } from './call-facts.ts';

/** Whether nobody knows what the tool claims of itself: its server was not asked, or there is none. */
export function isUnasked(
  { server }: Pick<ToolRef, 'server'>,
  { isAsked, isBuiltIn }: Pick<CallFacts, 'isAsked' | 'isBuiltIn'>,
): boolean {
  return isAsked !== true && (server !== undefined || isBuiltIn !== true);
}

/** The same decision without telling as a fact what only its server could say. */
export function withoutClaim(
  decision: Decision,
  { name, server }: Pick<ToolRef, 'name' | 'server'>,
): Decision {
  const { reason } = decision;
  if (reason.annotation !== 'destructiveHint') return decision;
  const why = server === undefined ? 'nobody knows what it does' : 'its server was not asked what it does';
  const text = reason.text.replace(`${name} may be destructive`, `no rule allows it, and ${why}`);
  return { ...decision, reason: { ...reason, text } };
}
