import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { explainServer } from '../../../src/config/explain/explain-server.ts';
import { formatDiagnostic } from '../../../src/config/files/diagnostics.ts';
import { signatureOf } from '../../../src/config/merge/merge-servers.ts';
import { readPolicy } from '../../../src/config/merge/policy.ts';
import type { Scope, ServerOverride, Source } from '../../../src/config/model.ts';
import { RunningConfiguration } from '../../../src/config/running-configuration.ts';
import type { ExternalServerEntry } from '../../../src/protocol/server-entry.ts';
import { configPlace } from '../config-place.ts';
import { merge, sourceOf, told, written } from './written.ts';

describe('merge', () => {
  const faults = (merged: ReturnType<typeof merge>) =>
    merged.faults.map((it) => `${it.level} ${it.scope} ${formatDiagnostic(it)}`);

  const none = (scope: Source['scope'], state: Source['state']): Source => ({
    scope,
    label: scope,
    state,
    servers: [],
    faults: [],
  });

  describe('precedence', () => {
    test('the nearer project file and the later flag take precedence', () => {
      const merged = merge([
        sourceOf(written('project', 'x', undefined, 'far')),
        sourceOf(written('project', 'x', undefined, 'near')),
        sourceOf(written('program', 'y', undefined, 'first')),
        sourceOf(written('program', 'y', undefined, 'second')),
      ]);
      expect(told(merged)).toEqual([
        'x: near ready; lost: far shadowed to near',
        'y: second ready; lost: first shadowed to second',
      ]);
    });

    test('a server has its entry and all ignored ones, highest precedence first', () => {
      const [user, project, local] = [written('user', 'x'), written('project', 'x'), written('local', 'x')];
      expect(merge([sourceOf(user), sourceOf(project), sourceOf(local)])).toEqual({
        servers: [
          {
            name: 'x',
            written: local,
            verdict: { kind: 'ready' },
            entry: { command: 'local-command' },
            settled: [],
            lost: [
              { written: project, why: 'shadowed', winner: local },
              { written: user, why: 'shadowed', winner: local },
            ],
          },
        ],
        lost: [],
        faults: [],
      });
    });

    test('names are sorted by code units', () => {
      const names = ['b', 'B', 'a', 'ä', '10', '9', '😀x'];
      const [first, ...rest] = names.map((name) => written('user', name)) as [never];
      expect(merge([sourceOf(first, ...rest)]).servers.map(({ name }) => name)).toEqual([
        '10',
        '9',
        'B',
        'a',
        'b',
        'ä',
        '😀x',
      ]);
    });
  });

  describe('unapproved entries do not shadow others (R169, C18)', () => {
    test('alone, a pending entry is shown and not started', () => {
      const merged = merge([sourceOf(written('project', 'x')), sourceOf(written('local', 'y'))], {
        choices: { project: 'new', local: 'changed' },
      });
      expect(merged.servers.map(({ verdict }) => verdict)).toEqual([
        { kind: 'pending', choice: 'new' },
        { kind: 'pending', choice: 'changed' },
      ]);
    });

    test('of several pending entries, the highest one that can be approved is shown', () => {
      const sources = [
        sourceOf(written('project', 'x', undefined, 'far')),
        sourceOf(written('project', 'x', undefined, 'near')),
        sourceOf(written('local', 'x')),
      ];
      expect(told(merge(sources, { choices: { far: 'new', near: 'changed', local: 'rejected' } }))).toEqual([
        'x: near pending; lost: local rejected, far pending',
      ]);
      expect(
        told(merge(sources, { choices: { far: 'rejected', near: 'rejected', local: 'rejected' } })),
      ).toEqual(['x: local rejected; lost: near rejected, far rejected']);
    });

    test('an invalid project entry cannot shadow a user’s server', () => {
      const sources = [sourceOf(written('user', 'x')), sourceOf(written('project', 'x', 'broken'))];
      expect(told(merge(sources, { choices: { project: 'new' } }))).toEqual([
        'x: user ready; lost: project pending to user',
      ]);
      expect(told(merge(sources))).toEqual(['x: project broken; lost: user shadowed to project']);
    });

    test('alone, an invalid entry is broken rather than pending; a rejected one stays rejected', () => {
      const source = sourceOf(written('project', 'x', 'broken'));
      expect(told(merge([source], { choices: { project: 'new' } }))).toEqual(['x: project broken']);
      expect(told(merge([source], { choices: { project: 'rejected' } }))).toEqual(['x: project rejected']);
    });

    test('a pending entry whose name conflicts does not shadow the other', () => {
      const sources = [sourceOf(written('user', 'a_b')), sourceOf(written('project', 'a.b'))];
      const merged = merge(sources, { choices: { project: 'new' } });
      expect(told(merged)).toEqual(['a.b: project pending', 'a_b: user ready']);
      expect(merged.faults).toEqual([]);
    });
  });

  describe('a managed file (R168)', () => {
    const others = [sourceOf(written('user', 'x')), sourceOf(written('program', 'y'))];

    test('excludes all others, also those of the program, and also if it is empty', () => {
      expect(told(merge([...others, none('managed', 'read')]))).toEqual([
        'without a holder, y: program managed',
        'without a holder, x: user managed',
      ]);
    });

    test('excludes nothing if it is missing', () => {
      expect(told(merge([...others, none('managed', 'absent')]))).toEqual([
        'x: user ready',
        'y: program ready',
      ]);
    });

    test('starts nothing if it cannot be read, with one message', () => {
      const merged = merge([...others, none('managed', 'unusable')]);
      expect(merged.servers).toEqual([]);
      expect(faults(merged)).toEqual([
        'error managed managed: no server is started until this file can be read: fix or remove it',
      ]);
    });

    test('cannot be changed by a managed file that a variable adds', () => {
      const system = sourceOf(written('managed', 'x', undefined, 'system'));
      const more = sourceOf(
        written('managed', 'x', undefined, 'more'),
        written('managed', 'z', undefined, 'more'),
      );
      expect(told(merge([system, more]))).toEqual([
        'x: system ready; lost: more managed to system',
        'without a holder, z: more managed',
      ]);
      expect(merge([none('managed', 'unusable'), more]).servers).toEqual([]);
      expect(told(merge([none('managed', 'absent'), more]))).toEqual(['x: more ready', 'z: more ready']);
    });
  });

  test('an unusable file of another scope affects no other server', () => {
    expect(told(merge([sourceOf(written('user', 'x')), none('local', 'unusable')]))).toEqual([
      'x: user ready',
    ]);
  });

  describe('connectors are deduplicated (R167)', () => {
    const at = (url: string, more = {}) => ({ type: 'http' as const, url, ...more });

    test('a connector to the server of another scope is a duplicate, whatever its name', () => {
      const merged = merge([
        sourceOf(written('connector', 'hub', at('https://HUB.example.com:443/mcp', { headers: { a: 'b' } }))),
        sourceOf(written('user', 'mine', { url: 'https://hub.example.com/mcp' })),
      ]);
      expect(told(merged)).toEqual([
        'mine: user ready',
        'without a holder, hub: connector duplicate to user',
      ]);
    });

    test('compares only used entries: neither pending nor shadowed ones', () => {
      const sources = [
        sourceOf(written('connector', 'hub', at('https://hub.example.com/mcp'))),
        sourceOf(written('user', 'other', at('https://hub.example.com/mcp'))),
        sourceOf(written('project', 'waits', at('https://hub.example.com/mcp'))),
        sourceOf(written('local', 'other')),
      ];
      expect(told(merge(sources, { choices: { project: 'new' } }))).toEqual([
        'hub: connector ready',
        'other: local ready; lost: user shadowed to local',
        'waits: project pending',
      ]);
    });

    test('among connectors the later one is used, and a duplicate shadows nothing', () => {
      const merged = merge([
        sourceOf(written('connector', 'b', at('https://z.example.com/'), 'one')),
        sourceOf(
          written('connector', 'a', at('https://x.example.com/'), 'two'),
          written('connector', 'b', at('https://y.example.com/'), 'two'),
        ),
        sourceOf(written('connector', 'c', at('https://x.example.com/'), 'three')),
        sourceOf(written('plugin', 'p', at('https://y.example.com/'))),
      ]);
      expect(told(merged)).toEqual([
        'b: one ready; lost: two duplicate to plugin',
        'c: three ready',
        'p: plugin ready',
        'without a holder, a: two duplicate to three',
      ]);
    });

    test('a connector does not bypass a disabled or forbidden server', () => {
      const url = at('https://hub.example.com/mcp');
      const sources = [sourceOf(written('connector', 'hub', url)), sourceOf(written('user', 'mine', url))];
      const off = { name: 'mine', label: 'settings', scope: 'user' as const, members: { disabled: true } };
      expect(told(merge(sources, { overrides: [off] }))).toEqual([
        'mine: user disabled',
        'without a holder, hub: connector duplicate to user',
      ]);
      const { policy } = readPolicy([
        {
          scope: 'managed',
          label: 'm',
          value: { deniedMcpServers: [{ serverName: 'mine' }] },
          locate: () => undefined,
        },
      ]);
      expect(told(merge(sources, { policy }))).toEqual([
        'mine: user blocked',
        'without a holder, hub: connector duplicate to user',
      ]);
    });

    test('other scopes may have duplicates; a connector is a duplicate of the highest one', () => {
      const url = at('https://hub.example.com/mcp');
      const sources = [sourceOf(written('plugin', 'a', url)), sourceOf(written('user', 'b', url))];
      expect(told(merge(sources))).toEqual(['a: plugin ready', 'b: user ready']);
      expect(told(merge([sourceOf(written('connector', 'c', url)), ...sources]))).toEqual([
        'a: plugin ready',
        'b: user ready',
        'without a holder, c: connector duplicate to user',
      ]);
    });
  });

  describe('names that normalize to the same identifier', () => {
    test('uses the higher one, with one message that has both positions', () => {
      const merged = merge([
        sourceOf(written('user', 'git hub', undefined, 'user.json')),
        sourceOf(written('project', 'git hub', undefined, '.mcp.json')),
        sourceOf(written('local', 'git_hub', undefined, 'local.json')),
      ]);
      expect(told(merged)).toEqual([
        'git_hub: local.json ready',
        'without a holder, git hub: .mcp.json same-name to local.json',
        'without a holder, git hub: user.json same-name to local.json',
      ]);
      expect(faults(merged)).toEqual([
        'error project .mcp.json:3:5: mcpServers["git hub"]: ignored: its name and ' +
          'git_hub of local.json:3:5 normalize to the same identifier; rename one of them',
      ]);
    });

    test('uses the later one in one file', () => {
      const merged = merge([
        sourceOf(written('user', 'a.b'), written('user', 'a_b'), written('user', 'a b')),
      ]);
      expect(told(merged)).toEqual([
        'a b: user ready',
        'without a holder, a_b: user same-name to user',
        'without a holder, a.b: user same-name to user',
      ]);
      expect(merged.faults).toHaveLength(2);
    });

    test('normalizes an emoji as two code units', () => {
      expect(told(merge([sourceOf(written('user', '__')), sourceOf(written('local', '😀'))]))).toEqual([
        '😀: local ready',
        'without a holder, __: user same-name to local',
      ]);
    });
  });

  describe('server settings', () => {
    const says = (
      members: ServerOverride['members'],
      more: Partial<ServerOverride> = {},
    ): ServerOverride => ({
      name: 'x',
      label: 'user settings',
      scope: 'user',
      members,
      ...more,
    });
    const one = (scope: Parameters<typeof written>[0], entry: object, ...overrides: ServerOverride[]) => {
      const merged = merge([sourceOf(written(scope, 'x', entry as never))], { overrides });
      const [{ entry: got, settled, verdict } = {}] = merged.servers;
      return {
        entry: got,
        settled: settled?.map((it) => `${it.member} by ${it.label}`),
        verdict,
        faults: faults(merged),
      };
    };

    test('override the entry member by member, in order of precedence', () => {
      expect(
        one(
          'user',
          { command: 'run', timeout: 1, includeTools: ['a'] },
          says({ timeout: 2, connectTimeoutMs: 3, trust: true }),
          says({ timeout: 4 }, { label: 'local settings', scope: 'local' }),
          says({ timeout: 5 }, { name: 'y' }),
        ),
      ).toEqual({
        entry: { command: 'run', timeout: 4, includeTools: ['a'], connectTimeoutMs: 3, trust: true },
        settled: ['timeout by local settings', 'connectTimeoutMs by user settings', 'trust by user settings'],
        verdict: { kind: 'ready' },
        faults: [],
      });
    });

    test.each([
      [[says({ disabled: true })], { kind: 'disabled', label: 'user settings' }],
      [[says({ disabled: true }), says({ disabled: false }, { label: 'higher' })], { kind: 'ready' }],
      [
        [says({ disabled: false }), says({ disabled: true }, { label: 'higher' })],
        { kind: 'disabled', label: 'higher' },
      ],
      [
        [says({ disabled: true }), says({ timeout: 1 }, { label: 'higher' })],
        { kind: 'disabled', label: 'user settings' },
      ],
    ] as const)('turn it off or on again: case %#', (overrides, verdict) => {
      expect(one('user', { command: 'run' }, ...overrides)).toMatchObject({
        verdict,
        entry: { command: 'run' },
      });
    });

    test.each([
      ['user', true],
      ['local', true],
      ['program', true],
      ['managed', true],
      ['project', undefined],
      ['plugin', undefined],
      ['connector', undefined],
    ] as const)('%s: an entry that asks to be trusted', (scope, trust) => {
      const asked = one(scope, { command: 'run', trust: true });
      expect(asked.entry?.trust).toBe(trust);
      expect(asked.faults).toEqual(
        trust
          ? []
          : [
              `warning ${scope} ${scope}:3:5: mcpServers.x.trust: a server of a ${scope} cannot set "trust"; ` +
                'if you trust the server, set "trust" in "serverSettings" of your own settings',
            ],
      );
      const said = scope === 'managed' ? scope : 'user';
      const overruled = one(scope, { command: 'run', trust: true }, says({ trust: false }, { scope: said }));
      expect(overruled.entry).toEqual({ command: 'run', trust: false });
      expect(overruled.faults).toEqual([]);
      expect(one(scope, { command: 'run', trust: true }, says({ trust: true })).entry?.trust).toBe(true);
      expect(one(scope, { command: 'run', trust: false }).faults).toEqual([]);
    });

    test('do not warn about servers that are not started', () => {
      const source = sourceOf(written('project', 'x', { command: 'run', trust: true }));
      const merged = merge([source], { choices: { project: 'new' } });
      expect(merged.servers[0]?.entry).toEqual({ command: 'run' });
      expect(merged.faults).toEqual([]);
    });

    test('cannot change a managed entry, unless they are managed too', () => {
      const entry = { command: 'run', excludeTools: ['delete'] };
      const lift = { excludeTools: [], timeout: 9 };
      expect(one('managed', entry, says(lift)).entry).toEqual({ ...entry, timeout: 9 });
      expect(one('managed', entry, says(lift, { scope: 'managed' })).entry).toEqual({
        command: 'run',
        ...lift,
      });
      expect(
        one('managed', entry, says({ excludeTools: ['more'] }, { scope: 'managed' }), says(lift)).entry,
      ).toEqual({
        command: 'run',
        excludeTools: ['more'],
        timeout: 9,
      });
    });

    test.each(['project', 'local'] as const)(
      'of scope %s exclude more tools, and give none back that lower ones exclude',
      (scope) => {
        const entry = { command: 'run', excludeTools: ['a'] };
        const mine = says({ excludeTools: ['b'] }, { scope: 'user', label: 'mine' });
        const theirs = (excludeTools: string[]) => says({ excludeTools }, { scope, label: 'theirs' });
        const tools = (...own: ServerOverride[]) => one('user', entry, ...own).entry?.excludeTools;
        expect(tools(theirs([]))).toEqual(['a']);
        expect(tools(mine, theirs([]))).toEqual(['b']);
        expect(tools(mine, theirs(['b', 'c']))).toEqual(['b', 'c']);
        expect(tools(mine, theirs(['c']), says({ excludeTools: [] }, { scope: 'program' }))).toEqual([]);
        expect(one('user', { command: 'run' }, theirs(['c'])).entry?.excludeTools).toEqual(['c']);
        // Settings that add nothing are not listed as the source of a member.
        const merged = merge([sourceOf(written('user', 'x', entry))], { overrides: [mine, theirs([])] });
        expect(merged.servers[0]?.settled).toEqual([{ member: 'excludeTools', label: 'mine' }]);
      },
    );

    test('change neither the approval nor the written entry', () => {
      const entry = Object.freeze({ command: 'run', trust: true });
      const merged = merge([sourceOf(written('project', 'x', entry))], { overrides: [says({ timeout: 1 })] });
      expect(merged.servers[0]?.written.entry).toBe(entry);
      expect(merged.servers[0]?.written.raw).toEqual({ command: 'run', trust: true });
    });
  });

  test('the policy applies to the holder of the name, which is not replaced', () => {
    const sources = [
      sourceOf(written('user', 'x')),
      sourceOf(written('local', 'x')),
      sourceOf(written('user', 'y', 'broken')),
    ];
    const off: ServerOverride = { name: 'x', label: 's', scope: 'user', members: { disabled: true } };
    const asked: unknown[] = [];
    const merged = merge(sources, {
      overrides: [off],
      policy: {
        judge(name, entry) {
          asked.push([name, entry]);
          return { kind: 'forbidden', rule: 'deniedMcpServers[0] of m' };
        },
      },
    });
    expect(told(merged)).toEqual(['x: local blocked; lost: user shadowed to local', 'y: user broken']);
    expect(merged.servers[0]?.verdict).toEqual({ kind: 'blocked', rule: 'deniedMcpServers[0] of m' });
    expect(asked).toEqual([['x', { command: 'local-command' }]]);
  });

  test('an undecided entry is ready; the policy decides when it is started', () => {
    const merged = merge([sourceOf(written('user', 'x'))], {
      policy: { judge: () => ({ kind: 'undecided' }) },
    });
    expect(told(merged)).toEqual(['x: user ready']);
  });

  test('an invalid entry without a fault is broken', () => {
    const { entry: _, ...bare } = written('user', 'x');
    expect(merge([sourceOf(bare)]).servers[0]?.verdict).toEqual({
      kind: 'broken',
      fault: {
        level: 'error',
        scope: 'user',
        label: 'user',
        key: 'mcpServers.x',
        position: { line: 3, column: 5 },
        message: 'not a server entry',
      },
    });
  });

  test('merges 500 servers in every scope quickly', () => {
    const scopes = ['connector', 'plugin', 'user', 'project', 'local', 'program'] as const;
    const sources = scopes.map((scope) => {
      const [first, ...rest] = Array.from({ length: 500 }, (_, index) =>
        written(scope, `server-${index}`),
      ) as [never];
      return sourceOf(first, ...rest);
    });
    const merged = merge(sources);
    expect(merged.servers).toHaveLength(500);
    expect(
      merged.servers.every(({ written: { scope }, lost }) => scope === 'program' && lost.length === 5),
    ).toBe(true);
  });
});

describe('settings of unknown servers', () => {
  const override = (scope: Scope, name: string): ServerOverride => ({
    name,
    scope,
    label: `${scope} settings`,
    members: { timeout: 5 },
  });
  const everything = sourceOf(written('user', 'everything'));
  const empty = (more: Partial<Source>): Source => ({
    scope: 'project',
    label: '.mcp.json',
    state: 'read',
    servers: [],
    faults: [],
    ...more,
  });

  test('warns about settings of an unknown server, with a suggestion', () => {
    const overrides = [
      override('user', 'everthing'),
      override('user', 'everthing'),
      override('local', 'zzz'),
    ];
    const { faults } = merge([everything], { overrides, placeOf: () => ({ line: 7, column: 3 }) });
    expect(faults.map((it) => [it.level, formatDiagnostic(it)])).toEqual([
      [
        'warning',
        'user settings:7:3: serverSettings.everthing: no server has this name; did you mean "everything"?',
      ],
      ['warning', 'local settings:7:3: serverSettings.zzz: no server has this name'],
    ]);
  });

  test('user settings may have servers of other projects', () => {
    const overrides = [override('user', 'zzz'), override('managed', 'zzz')];
    expect(merge([everything], { overrides }).faults).toEqual([]);
  });

  test.each<[string, Parameters<typeof merge>[0], Parameters<typeof merge>[1]]>([
    ['waits for approval', [sourceOf(written('project', 'x'))], { choices: { project: 'new' } }],
    ['is rejected', [sourceOf(written('project', 'x'))], { choices: { project: 'rejected' } }],
    ['is broken', [sourceOf(written('user', 'x', 'broken'))], {}],
    ['is left out', [sourceOf(written('user', 'x'))], { isStrict: true }],
    ['a managed file excludes', [sourceOf(written('user', 'x')), sourceOf(written('managed', 'y'))], {}],
    ['is in the program', [], { programNames: ['x'] }],
    ['may stand in what cannot be read', [empty({ state: 'unusable' })], {}],
    ['may stand in what was not looked at', [empty({ state: 'absent', leftOut: true })], {}],
    ['a catalogue may have', [empty({ scope: 'connector', state: 'absent' })], {}],
  ])('does not warn about settings of one that %s', (_what, sources, more) => {
    const { faults } = merge(sources, { overrides: [override('local', 'x')], ...more });
    expect(faults.filter(({ key }) => key === 'serverSettings.x')).toEqual([]);
  });

  test('the warning has a position', async () => {
    const place = configPlace();
    place.write(join(place.home, 'settings.json'), {
      mcpServers: { everything: { command: 'node' } },
      serverSettings: { everthing: { timeout: 5 } },
    });
    const { faults } = await readConfiguration(place.world());
    expect(faults.map(formatDiagnostic)).toEqual([
      expect.stringMatching(
        /settings\.json:\d+:\d+: serverSettings\.everthing: no server has this name; did you mean "everything"\?$/,
      ),
    ]);
  });
});

describe('program names', () => {
  test('an in-process server shadows all others and is not a configured server', () => {
    const sources = [
      sourceOf(written('connector', 'x', { type: 'http', url: 'https://a.example/' })),
      sourceOf(written('user', 'x'), written('user', 'y')),
      sourceOf(written('program', 'x')),
    ];
    const merged = merge(sources, { programNames: ['x', 'z'] });
    expect(told(merged)).toEqual([
      'y: user ready',
      'without a holder, x: program shadowed to the program itself',
      'without a holder, x: user shadowed to the program itself',
      'without a holder, x: connector shadowed to the program itself',
    ]);
    expect(merged.faults).toEqual([]);
  });

  test('reports an entry whose name conflicts with an in-process server', () => {
    const merged = merge([sourceOf(written('user', 'a b'))], { programNames: ['a_b'] });
    expect(told(merged)).toEqual(['without a holder, a b: user same-name to the program itself']);
    expect(merged.faults.map(formatDiagnostic)).toEqual([
      'user:3:5: mcpServers["a b"]: ignored: its name and a_b of the program itself normalize to the same identifier; ' +
        'rename one of them',
    ]);
  });

  test('in-process servers may have conflicting names', () => {
    const sources = [sourceOf(written('user', 'a b'), written('user', 'a_b'))];
    expect(merge(sources, { programNames: ['a b', 'a_b'] }).servers).toEqual([]);
  });

  test('pending and left-out entries are not shown in its place', () => {
    const sources = [sourceOf(written('project', 'x'))];
    const programNames = ['x'];
    expect(told(merge(sources, { programNames, choices: { project: 'new' } }))).toEqual([
      'without a holder, x: project pending to the program itself',
    ]);
    expect(told(merge(sources, { programNames, isStrict: true }))).toEqual([
      'without a holder, x: project left-out to the program itself',
    ]);
  });

  test('explain names the holder and the remedy', async () => {
    const { home, write, world } = configPlace();
    write(join(home, 'settings.json'), {
      version: 1,
      mcpServers: { x: { command: 'run' }, 'a b': { command: 'run' } },
    });
    const sdk = { type: 'sdk' };
    const mcpConfigs = [JSON.stringify({ mcpServers: { x: sdk, a_b: sdk, alone: sdk } })];
    const configuration = await readConfiguration(world(), { mcpConfigs });
    expect(configuration.merged.servers).toEqual([]);
    const running = new RunningConfiguration(configuration);
    expect(Object.keys(running.servers)).toEqual(['x', 'a_b', 'alone']);
    expect(running.scopeOf('x')).toBeUndefined();
    expect(explainServer(configuration, 'x')).toMatchObject({
      verdict: 'lost',
      answer:
        '"x" in ~/.toolplane/settings.json:4:5 (user) is ignored: shadowed by the server of this name in the program itself.',
      next: ['to use both servers, rename the entry at ~/.toolplane/settings.json:4:5'],
    });
    expect(explainServer(configuration, 'a b').answer).toBe(
      '"a b" in ~/.toolplane/settings.json:7:5 (user) is ignored: its name and "a_b" in the program itself normalize to the same identifier.',
    );
    expect(explainServer(configuration, 'alone').answer).toBe(
      '"alone" is an in-process server of the program and is not configured in a file.',
    );
  });
});

describe('signature', () => {
  type Pair = [ExternalServerEntry, ExternalServerEntry];

  describe('equal signatures (R167)', () => {
    test.each<Pair>([
      [{ url: 'https://a.example/mcp' }, { type: 'http', url: 'https://A.example:443/mcp' }],
      [
        { type: 'sse', url: 'https://a.example' },
        { type: 'http', url: 'https://a.example./#part' },
      ],
      [
        { url: 'https://user:password@a.example/' },
        { url: 'https://a.example/', headers: { authorization: 'x' } },
      ],
      [
        { url: 'https://a.example/', trust: true, timeout: 5000, includeTools: ['a'], required: true },
        { url: 'https://a.example/' },
      ],
      [{ url: `\${BASE}/mcp` }, { type: 'http', url: `\${BASE}/mcp` }],
      [{ command: 'run' }, { type: 'stdio', command: 'run', args: [] }],
      [
        { command: 'run', args: ['a'], env: { TOKEN: '1' } },
        { command: 'run', args: ['a'], env: { TOKEN: '2' } },
      ],
      [{ type: 'ws-ide' }, { type: 'sse-ide', authToken: 'x' }],
    ])('%j and %j', (a, b) => {
      expect(signatureOf(a)).toBe(signatureOf(b));
    });
  });

  describe('different signatures', () => {
    test.each<Pair>([
      [{ url: 'https://a.example/mcp' }, { url: 'https://a.example/mcp/' }],
      [{ url: 'https://a.example/mcp?team=a' }, { url: 'https://a.example/mcp?team=b' }],
      [{ url: 'https://a.example/' }, { url: 'http://a.example/' }],
      [{ url: 'https://a.example/' }, { url: 'https://a.example:8443/' }],
      [{ url: `https://\${HOST}/` }, { url: `https://\${host}/` }],
      [
        { command: 'run', args: ['a b'] },
        { command: 'run', args: ['a', 'b'] },
      ],
      [
        { command: 'run', args: ['a', 'b'] },
        { command: 'run', args: ['b', 'a'] },
      ],
      [{ command: 'run' }, { command: 'run', args: [''] }],
      [{ command: 'run a' }, { command: 'run', args: ['a'] }],
      [
        { command: './run', cwd: '/a' },
        { command: './run', cwd: '/b' },
      ],
      [
        { command: 'run', cwd: 'a' },
        { command: 'a', args: ['run'] },
      ],
      [{ command: 'https://a.example/' }, { url: 'https://a.example/' }],
      [
        { type: 'ws-ide', ideName: 'One' },
        { type: 'ws-ide', ideName: 'Two' },
      ],
    ])('%j and %j', (a, b) => {
      expect(signatureOf(a)).not.toBe(signatureOf(b));
    });
  });
});
