import { isRecord } from '../base/is-record.ts';
import type { Server } from '../mcp/servers/server-status.ts';
import type { Rule } from './rule.ts';

/** What the entries of servers say about their own tools, as rules; what is no policy says nothing. */
export function policyRules(servers: ReadonlyMap<string, Pick<Server, 'entry'>>): Rule[] {
  return [...servers].flatMap(([server, { entry }]) => {
    const policies: unknown = 'tools' in entry ? entry.tools : undefined;
    return (Array.isArray(policies) ? policies : []).flatMap((policy: unknown) => ruleOf(server, policy));
  });
}

function ruleOf(server: string, policy: unknown): Rule[] {
  if (!isRecord(policy) || typeof policy.name !== 'string') return [];
  const said = [POLICIES.get(policy.permission_policy), LIMITS.get(policy.org_max_permission)];
  const effect = BY_STRICTNESS.find((it) => said.includes(it));
  return effect ? [{ tool: `mcp__${server}__${policy.name}`, effect, source: 'serverPolicy' }] : [];
}

const BY_STRICTNESS = ['deny', 'ask', 'allow'] as const;

const POLICIES: ReadonlyMap<unknown, Rule['effect']> = new Map([
  ['always_allow', 'allow'],
  ['always_ask', 'ask'],
  ['always_deny', 'deny'],
]);

/** What an organisation lets anybody do at most. */
const LIMITS: ReadonlyMap<unknown, Rule['effect']> = new Map([
  ['ask', 'ask'],
  ['blocked', 'deny'],
]);
