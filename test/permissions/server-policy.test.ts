import { expect, test } from 'vitest';
import type { ServerEntry } from '../../src/mcp/connection/connect-context.ts';
import { policyRules } from '../../src/permissions/server-policy.ts';

const withPolicy = (policy: unknown) =>
  new Map([['s', { entry: { type: 'sdk', name: 's', tools: [policy] } as unknown as ServerEntry }]]);

test.each([
  [{ name: 't', permission_policy: 'always_allow' }, 'allow'],
  [{ name: 't', permission_policy: 'always_ask' }, 'ask'],
  [{ name: 't', permission_policy: 'always_deny' }, 'deny'],
  [{ name: 't', org_max_permission: 'blocked', permission_policy: 'always_allow' }, 'deny'],
  [{ name: 't', org_max_permission: 'ask', permission_policy: 'always_allow' }, 'ask'],
  [{ name: 't', org_max_permission: 'ask', permission_policy: 'always_deny' }, 'deny'],
  [{ name: 't', org_max_permission: 'allow', permission_policy: 'always_ask' }, 'ask'],
  [{ name: 't', org_max_permission: 'allow' }, undefined],
  [{ name: 't', permission_policy: 'constructor', org_max_permission: '__proto__' }, undefined],
  [{ name: 7, permission_policy: 'always_deny' }, undefined],
  [null, undefined],
])('%j: %s', (policy, effect) => {
  const expected = effect === undefined ? [] : [{ tool: 'mcp__s__t', effect, source: 'serverPolicy' }];
  expect(policyRules(withPolicy(policy))).toEqual(expected);
});

test('entries without policies say nothing', () => {
  const servers = new Map<string, { entry: ServerEntry }>([
    ['a', { entry: { command: 'x' } }],
    ['b', { entry: { type: 'http', url: 'http://x', tools: 'all' } as unknown as ServerEntry }],
  ]);
  expect(policyRules(servers)).toEqual([]);
});
