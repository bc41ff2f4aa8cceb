import { unmatchedDenyRules } from '../../permissions/unmatched.ts';
import type { Session } from './session.ts';

/**
 * Deny rules about tools of servers that protect from nothing, in words. Only once every server is there: a rule may be
 * about one that is still to come. Names that are no server's tool were looked at when the rules were read.
 */
export function unmatchedRules({ servers, world }: Session): string[] {
  const all = [...servers.all];
  if (all.some(([, { state }]) => state.kind !== 'connected')) return [];
  const known = all.flatMap(([server, { state }]) =>
    state.kind === 'connected' ? state.tools.map(({ name: tool }) => ({ name: '', server, tool })) : [],
  );
  const rules = world.rules.current().rules.filter(({ tool }) => tool.startsWith('mcp__'));
  return unmatchedDenyRules(rules, known).map(({ message }) => message);
}
