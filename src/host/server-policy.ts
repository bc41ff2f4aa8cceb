import type { Rule } from './permission/rule.ts';
import type { Server } from './servers.ts';

/** What the entries of servers say about their own tools, as rules. */
export function policyRules(servers: ReadonlyMap<string, Server>): Rule[] {
  return [...servers].flatMap(([server, { entry }]) =>
    ('tools' in entry ? (entry.tools ?? []) : []).flatMap(
      ({ name, permission_policy, org_max_permission }) => {
        const effect = LIMITS[org_max_permission ?? 'allow'] ?? EFFECTS[permission_policy ?? ''];
        return effect ? [{ tool: `mcp__${server}__${name}`, effect, source: 'serverPolicy' as const }] : [];
      },
    ),
  );
}

const EFFECTS: Readonly<Record<string, Rule['effect']>> = {
  always_allow: 'allow',
  always_ask: 'ask',
  always_deny: 'deny',
};

/** What an organisation lets anybody do at most. */
const LIMITS: Readonly<Record<string, Rule['effect']>> = { ask: 'ask', blocked: 'deny' };
