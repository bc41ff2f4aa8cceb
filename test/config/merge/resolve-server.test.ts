import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/config/files/diagnostics.ts';
import { SCOPES, type Scope, type ServerOverride } from '../../../src/config/model.ts';
import { policyRules } from '../../../src/permissions/rule.ts';
import type { ExternalServerEntry } from '../../../src/protocol/server-entry.ts';
import { merge, sourceOf, written } from './written.ts';

describe('claims of servers', () => {
  const HEARD = ['user', 'local', 'program', 'managed'] as const;
  const UNHEARD = ['project', 'plugin', 'connector'] as const;

  /** The resolved entry, and its diagnostics. */
  function settled(scope: Scope, entry: object, members?: ServerOverride['members']) {
    const url = { type: 'http', url: 'https://a.example/mcp' };
    const overrides = members ? [{ name: 'my x', label: 's', scope: 'user' as const, members }] : [];
    const source = sourceOf(written(scope, 'my x', { ...url, ...entry } as ExternalServerEntry));
    const merged = merge([source], { overrides });
    const { type: _, url: __, ...rest } = (merged.servers[0]?.entry ?? {}) as Record<string, unknown>;
    return { entry: rest, faults: merged.faults.map((it) => `${it.level} ${formatDiagnostic(it)}`) };
  }

  const TOOLS = [
    { name: '*', permission_policy: 'always_allow' },
    { name: 'a', permission_policy: 'always_ask' },
    { name: 'b', permission_policy: 'always_deny' },
    { name: 'c', permission_policy: 'always_allow', org_max_permission: 'ask' },
    { name: 'd', org_max_permission: 'blocked' },
    7,
  ];

  describe.each(UNHEARD)('an entry of a %s', (scope) => {
    const place = `warning ${scope}:3:5: mcpServers["my x"].`;

    test('cannot allow its own tools; ask and deny policies stay', () => {
      const { entry, faults } = settled(scope, { tools: TOOLS });
      const rules = policyRules(new Map([['x', { entry: entry as never }]]));
      expect(rules.map(({ effect, tool }) => `${effect} ${tool}`)).toEqual([
        'ask mcp__x__a',
        'deny mcp__x__b',
        'ask mcp__x__c',
        'deny mcp__x__d',
      ]);
      expect(faults).toEqual([
        `${place}tools: a server of a ${scope} cannot allow its own tools; to allow them, add a rule to "permissions.allow" of ` +
          'your own settings, such as "mcp__my_x__*"',
      ]);
      expect(settled(scope, { tools: TOOLS.slice(1, 3) })).toEqual({
        entry: { tools: TOOLS.slice(1, 3) },
        faults: [],
      });
      expect(settled(scope, { tools: 'always_allow' }).faults).toEqual([]);
    });

    test('cannot make itself required; settings can', () => {
      expect(settled(scope, { required: true })).toEqual({
        entry: {},
        faults: [
          `${place}required: a server of a ${scope} cannot set "required"; ` +
            'if the server is required, set "required" in "serverSettings" of your own settings',
        ],
      });
      for (const required of [true, false])
        expect(settled(scope, { required: true }, { required })).toEqual({ entry: { required }, faults: [] });
    });

    test('may set everything else', () => {
      const harmless = {
        required: false,
        trust: false,
        alwaysLoad: true,
        start: 'on-demand',
        timeout: 5,
        includeTools: ['a'],
        excludeTools: ['b'],
      };
      expect(settled(scope, harmless)).toEqual({ entry: harmless, faults: [] });
    });

    test('the written entry is unchanged', () => {
      const entry = Object.freeze({
        command: 'run',
        required: true,
        tools: Object.freeze([{ ...(TOOLS[0] as object) }]),
      });
      const merged = merge([sourceOf(written(scope, 'x', entry as never))]);
      expect(merged.servers[0]?.written.entry).toBe(entry);
    });
  });

  test.each(HEARD)('an entry of %s is heard', (scope) => {
    const claims = { trust: true, required: true, tools: TOOLS, connectTimeoutMs: 9, maxFrameBytes: 9 };
    expect(settled(scope, claims)).toEqual({ entry: claims, faults: [] });
  });

  test('a connector cannot set its connect timeout or the maximum size of its messages', () => {
    const claims = { connectTimeoutMs: 1e9, maxFrameBytes: 1e12 };
    const { entry, faults } = settled('connector', claims);
    expect(entry).toEqual({});
    expect(faults).toEqual([
      'warning connector:3:5: mcpServers["my x"].connectTimeoutMs: a server of a connector cannot set its own ' +
        'connect timeout; if you need one, set "connectTimeoutMs" in "serverSettings" of your own settings',
      'warning connector:3:5: mcpServers["my x"].maxFrameBytes: a server of a connector cannot set the maximum ' +
        'size of its messages; if you need another limit, add an entry for the server to "mcpServers" of your own settings and set "maxFrameBytes" there',
    ]);
    expect(settled('connector', { connectTimeoutMs: 1e9 }, { connectTimeoutMs: 5 })).toEqual({
      entry: { connectTimeoutMs: 5 },
      faults: [],
    });
    for (const scope of ['project', 'plugin'] as const)
      expect(settled(scope, claims)).toEqual({ entry: claims, faults: [] });
  });
});

describe('disabled', () => {
  test.each(SCOPES)(
    'an entry of scope %s that turns itself off is not started, whatever settings say',
    (scope) => {
      const off = { ...written(scope, 'x'), off: 'disabled' as const };
      const overrides = [{ name: 'x', label: 'mine', scope: 'user' as const, members: { disabled: false } }];
      const { servers } = merge([sourceOf(off)], { overrides });
      expect(servers.map(({ verdict }) => verdict)).toEqual([{ kind: 'disabled', label: scope }]);
    },
  );

  test('keeps its name; policy and approval come first', () => {
    const off = { ...written('local', 'x'), off: 'enabled' as const };
    const both = [sourceOf(written('user', 'x')), sourceOf(off)];
    expect(merge(both).servers[0]?.verdict).toEqual({ kind: 'disabled', label: 'local' });
    expect(merge(both, { choices: { local: 'new' } }).servers[0]?.verdict).toEqual({ kind: 'ready' });
    const policy = { judge: () => ({ kind: 'forbidden', rule: 'r' }) as const };
    expect(merge(both, { policy }).servers[0]?.verdict).toEqual({ kind: 'blocked', rule: 'r' });
  });
});
