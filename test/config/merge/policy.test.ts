import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Configuration, readConfiguration } from '../../../src/config/configuration.ts';
import { formatDiagnostic } from '../../../src/config/files/diagnostics.ts';
import { newlyForbidden, readPolicy } from '../../../src/config/merge/policy.ts';
import { RunningConfiguration } from '../../../src/config/running-configuration.ts';
import type { SettingsSource } from '../../../src/config/sources/source-types.ts';
import type { ExternalServerEntry } from '../../../src/protocol/server-entry.ts';
import { configPlace } from '../config-place.ts';

describe('policy', () => {
  const managed = (value: Record<string, unknown>, label = 'managed-settings.json'): SettingsSource => ({
    scope: 'managed',
    label,
    value,
    locate: (way) => (way.length > 1 ? { line: 10 + Number(way[1]), column: 3 } : { line: 2, column: 1 }),
  });

  const RUN: ExternalServerEntry = { command: 'npx', args: ['-y', 'tool'] };
  const HUB: ExternalServerEntry = { type: 'http', url: 'https://hub.example.com/mcp' };

  /** The decision at the start of a server: the rule that forbids it, or "allowed". */
  const last = (value: Record<string, unknown>, name: string, entry: ExternalServerEntry) =>
    readPolicy([managed(value)]).policy.forbids(name, entry) ?? 'allowed';

  const name = (serverName: string) => ({ serverName });
  const command = (...serverCommand: string[]) => ({ serverCommand });
  const address = (serverUrl: string) => ({ serverUrl });

  test('without a list every server is allowed', () => {
    const { policy, faults } = readPolicy([managed({}), managed({ permissions: {} })]);
    expect([policy.judge('x', RUN), policy.forbids('x', HUB), faults]).toEqual([
      { kind: 'allowed' },
      undefined,
      [],
    ]);
  });

  describe('a deny list', () => {
    const rule = (index: number) => `deniedMcpServers[${index}] of managed-settings.json`;
    test.each([
      [[name('x')], 'x', RUN, rule(0)],
      [[name('a'), name('x')], 'x', HUB, rule(1)],
      [[name('git_hub')], 'git.hub', RUN, rule(0)],
      [[name('x')], 'y', RUN, 'allowed'],
      [[command('npx', '-y', 'tool')], 'x', RUN, rule(0)],
      [[command('npx', '-y', 'tool')], 'x', { command: 'npx -y tool' }, 'allowed'],
      [[command('npx', '-y')], 'x', RUN, 'allowed'],
      [[command('npx')], 'x', { command: 'npx' }, rule(0)],
      [[address('https://*.example.com/*')], 'x', HUB, rule(0)],
      [
        [address('https://*.example.com/*')],
        'x',
        { type: 'sse', url: 'https://HUB.example.com.:8443/' },
        rule(0),
      ],
      [[address('https://*.example.com/*')], 'x', { type: 'http', url: 'no address' }, rule(0)],
      [[address('https://*.example.com/*')], 'x', RUN, 'allowed'],
      [[address('ws://127.0.0.1:*/*')], 'x', { type: 'ws-ide', url: 'ws://127.0.0.1:9' }, rule(0)],
      [[], 'x', RUN, 'allowed'],
    ] as const)('%j: %s %j: %s', (deniedMcpServers, key, entry, expected) => {
      expect(last({ deniedMcpServers }, key, entry as ExternalServerEntry)).toBe(expected);
    });

    test('takes precedence over an allow list', () => {
      const both = { allowedMcpServers: [name('x')], deniedMcpServers: [name('x')] };
      expect(last(both, 'x', RUN)).toBe('deniedMcpServers[0] of managed-settings.json');
    });
  });

  describe('an allow list', () => {
    const not = 'allowedMcpServers of managed-settings.json';
    test.each([
      ['an empty list allows no server', [], 'x', RUN, not],
      ['by name', [name('x')], 'x', RUN, 'allowed'],
      ['by name', [name('x')], 'y', RUN, not],
      ['to the letter', [name('git_hub')], 'git.hub', RUN, not],
      ['to the letter', [name('x')], 'X', RUN, not],
      ['a name is no way around commands', [name('x'), command('other')], 'x', RUN, not],
      ['a command under any name', [name('x'), command('npx', '-y', 'tool')], 'y', RUN, 'allowed'],
      ['an argument more', [command('npx', '-y')], 'x', RUN, not],
      ['an argument less', [command('npx', '-y', 'tool', '')], 'x', RUN, not],
      ['commands say nothing of addresses', [command('other')], 'x', HUB, not],
      ['commands leave addresses to names', [command('other'), name('x')], 'x', HUB, 'allowed'],
      [
        'a name is no way around addresses',
        [name('x'), address('https://other.example.com/*')],
        'x',
        HUB,
        not,
      ],
      ['an address under any name', [address('https://*.example.com/*')], 'y', HUB, 'allowed'],
      [
        'addresses leave commands to names',
        [address('https://other.example/*'), name('x')],
        'x',
        RUN,
        'allowed',
      ],
      [
        'a command beside an address that is dialled',
        [command('npx', '-y', 'tool'), address('https://a.example/*')],
        'x',
        { ...HUB, ...RUN },
        not,
      ],
      ['an editor without a known address', [address('https://*/*')], 'x', { type: 'ws-ide' }, not],
      ['an editor by name', [name('x')], 'x', { type: 'ws-ide' }, 'allowed'],
      ['no address', [address('https://*/*')], 'x', { type: 'http', url: 'nowhere' }, not],
      ['nothing that could be dialled', [address('https://*/*')], 'x', {}, not],
    ] as const)('%s: %j: %s %j: %s', (_, allowedMcpServers, key, entry, expected) => {
      expect(last({ allowedMcpServers }, key, entry as ExternalServerEntry)).toBe(expected);
    });
  });

  test('one deny list is enough, and every allow list must allow', () => {
    const [wide, narrow] = [
      { allowedMcpServers: [name('x'), name('y')] },
      { allowedMcpServers: [name('y')] },
    ];
    const { policy } = readPolicy([
      managed(wide, 'a'),
      managed(narrow, 'b'),
      managed({ deniedMcpServers: [name('z')] }, 'c'),
      managed({ deniedMcpServers: [command('npx', '-y', 'tool')] }, 'd'),
    ]);
    expect([
      policy.forbids('y', HUB),
      policy.forbids('x', HUB),
      policy.forbids('y', RUN),
      policy.forbids('z', HUB),
    ]).toEqual([undefined, 'allowedMcpServers of b', 'deniedMcpServers[0] of d', 'allowedMcpServers of a']);
  });

  describe('an entry as written', () => {
    const open: ExternalServerEntry = { command: 'npx', args: ['-y', `\${TOOL}`] };
    const openHub: ExternalServerEntry = { type: 'http', url: `\${HUB:-https://hub.example.com}/mcp` };
    test.each([
      ['denied by name', { deniedMcpServers: [name('x')] }, open, 'forbidden'],
      ['may be the denied command', { deniedMcpServers: [command('npx', '-y', 'tool')] }, open, 'undecided'],
      ['cannot be the denied command', { deniedMcpServers: [command('uvx', '-y', 'tool')] }, open, 'allowed'],
      [
        'may be at the denied address',
        { deniedMcpServers: [address('https://a.example/*')] },
        openHub,
        'undecided',
      ],
      [
        'may be the allowed command',
        { allowedMcpServers: [command('npx', '-y', 'tool')] },
        open,
        'undecided',
      ],
      ['cannot be the allowed command', { allowedMcpServers: [command('npx', 'tool')] }, open, 'forbidden'],
      [
        'is not allowed by its letters',
        { allowedMcpServers: [command('npx', '-y', `\${TOOL}`)] },
        open,
        'undecided',
      ],
      [
        'may be at the allowed address',
        { allowedMcpServers: [address('https://a.example/*')] },
        openHub,
        'undecided',
      ],
      ['allowed by name', { allowedMcpServers: [name('x')] }, openHub, 'allowed'],
      ['not allowed by name', { allowedMcpServers: [name('y')] }, openHub, 'forbidden'],
      [
        'denied for certain beside what is open',
        { allowedMcpServers: [command('npx', '-y', 'tool')], deniedMcpServers: [name('x')] },
        open,
        'forbidden',
      ],
      [
        'nothing is open in what counts',
        { allowedMcpServers: [command('npx', '-y', 'tool')] },
        RUN,
        'allowed',
      ],
      [
        'variables elsewhere are of no interest',
        { allowedMcpServers: [command('npx', '-y', 'tool')] },
        { ...RUN, env: { TOKEN: `\${TOKEN}` } },
        'allowed',
      ],
    ] as const)('%s: %j %j: %s', (_, value, entry, expected) => {
      const { policy } = readPolicy([managed(value)]);
      expect(policy.judge('x', entry as ExternalServerEntry).kind).toBe(expected);
    });

    test('compares an expanded entry literally', () => {
      const value = {
        allowedMcpServers: [command('npx', '-y', 'tool'), address('https://hub.example.com/*')],
      };
      expect(last(value, 'x', { command: 'npx', args: ['-y', 'tool'] })).toBe('allowed');
      expect(last(value, 'x', { command: 'npx', args: ['-y', 'evil'] })).toMatch(/^allowedMcpServers/);
      expect(last(value, 'x', open)).toMatch(/^allowedMcpServers/);
      expect(last(value, 'x', openHub)).toMatch(/^allowedMcpServers/);
      expect(last(value, 'x', HUB)).toBe('allowed');
    });

    test('a decision about the written entry does not change after substitution', () => {
      const text = fc.constantFrom('a', 'b', `\${V}`, `a\${V}`);
      const row = fc.oneof(
        fc.constantFrom('a', 'b').map(name),
        fc
          .array(fc.constantFrom('a', 'b', 'aa'), { minLength: 1, maxLength: 2 })
          .map((argv) => command(...argv)),
        fc.constantFrom('https://a.example/*', 'https://*.a.example/*', '*://b.example').map(address),
      );
      const entry = fc.oneof(
        fc.record({ command: text, args: fc.array(text, { maxLength: 1 }) }),
        fc.record({
          url: fc.constantFrom('https://a.example/', `https://\${V}.a.example/`, `https://\${V}/`, '*'),
        }),
      );
      const lists = fc.record(
        {
          allowedMcpServers: fc.array(row, { maxLength: 3 }),
          deniedMcpServers: fc.array(row, { maxLength: 3 }),
        },
        { requiredKeys: [] },
      );
      const value = fc.constantFrom('a', 'b', 'b.example', 'a.example/');
      fc.assert(
        fc.property(lists, fc.constantFrom('a', 'b', 'c'), entry, value, (said, key, written, put) => {
          const { policy } = readPolicy([managed(said)]);
          const dialled = JSON.parse(JSON.stringify(written).replaceAll(`\${V}`, put)) as ExternalServerEntry;
          const { kind } = policy.judge(key, written as ExternalServerEntry);
          const isForbidden = policy.forbids(key, dialled) !== undefined;
          if (kind !== 'undecided') expect(isForbidden).toBe(kind === 'forbidden');
        }),
        { numRuns: 2000 },
      );
    });
  });

  describe('invalid lists forbid everything', () => {
    const list = 'no server may be used until this is fixed';
    test.each([
      [{}, '2:1: deniedMcpServers: must be a list of rows such as { "serverName": "docs" }'],
      [null, '2:1: deniedMcpServers: must be a list of rows such as { "serverName": "docs" }'],
      ['x', '2:1: deniedMcpServers: must be a list of rows such as { "serverName": "docs" }'],
      [
        ['x'],
        '10:3: deniedMcpServers[0]: a row must have exactly one of serverName, serverCommand and serverUrl; only serverCommand may also have cwd and env',
      ],
      [
        [{}],
        '10:3: deniedMcpServers[0]: a row must have exactly one of serverName, serverCommand and serverUrl; only serverCommand may also have cwd and env',
      ],
      [
        [name('a'), { ...name('a'), ...command('b') }],
        '11:3: deniedMcpServers[1]: a row must have exactly one of serverName, serverCommand and serverUrl; only serverCommand may also have cwd and env',
      ],
      [
        [{ ...name('a'), note: 'b' }],
        '10:3: deniedMcpServers[0]: a row must have exactly one of serverName, serverCommand and serverUrl; only serverCommand may also have cwd and env',
      ],
      [
        [{ servername: 'a' }],
        '10:3: deniedMcpServers[0]: only serverName, serverCommand and serverUrl are supported',
      ],
      [
        [{ __proto__: null, toString: 'a' }],
        '10:3: deniedMcpServers[0]: only serverName, serverCommand and serverUrl are supported',
      ],
      [[name('')], '10:3: deniedMcpServers[0]: serverName must be the name of a server'],
      [[{ serverName: 1 }], '10:3: deniedMcpServers[0]: serverName must be the name of a server'],
      [
        [name('*')],
        '10:3: deniedMcpServers[0]: serverName does not support patterns; use serverCommand or serverUrl, or name each server',
      ],
      [
        [command()],
        '10:3: deniedMcpServers[0]: serverCommand must be a list: the command and each of its arguments',
      ],
      [
        [{ serverCommand: 'npx' }],
        '10:3: deniedMcpServers[0]: serverCommand must be a list: the command and each of its arguments',
      ],
      [
        [{ serverCommand: ['npx', 1] }],
        '10:3: deniedMcpServers[0]: serverCommand must be a list: the command and each of its arguments',
      ],
      [
        [address('evil.example')],
        '10:3: deniedMcpServers[0]: serverUrl must be a pattern such as https://*.example.com/*, without user, fragment or spaces',
      ],
    ])('%j', (deniedMcpServers, expected) => {
      const { policy, faults } = readPolicy([managed({ deniedMcpServers })]);
      expect(faults.map(formatDiagnostic)).toEqual([`managed-settings.json:${expected}; ${list}`]);
      expect(faults[0]).toMatchObject({ level: 'error', scope: 'managed' });
      expect(policy.forbids('anybody', RUN)).toMatch(
        /^the unreadable deniedMcpServers.* of managed-settings.json$/,
      );
      expect(policy.judge('anybody', HUB).kind).toBe('forbidden');
    });

    test('also in an allow list, whatever its other rows allow', () => {
      const { policy, faults } = readPolicy([managed({ allowedMcpServers: [name('x'), 7] })]);
      expect(policy.forbids('x', RUN)).toBe('the unreadable allowedMcpServers[1] of managed-settings.json');
      expect(faults).toHaveLength(1);
    });

    test('also unreadable settings', () => {
      const { policy, faults } = readPolicy([managed({})], ['/etc/toolplane/managed-settings.json']);
      expect(policy.judge('x', RUN)).toEqual({
        kind: 'forbidden',
        rule: 'the unreadable /etc/toolplane/managed-settings.json',
      });
      // The caller reports the reason.
      expect(faults).toEqual([]);
    });
  });

  test('warns about an allowed URL without a path', () => {
    const { faults } = readPolicy([managed({ allowedMcpServers: [address('https://a.example')] })]);
    expect(faults.map((it) => `${it.level} ${formatDiagnostic(it)}`)).toEqual([
      'warning managed-settings.json:10:3: allowedMcpServers[0]: allows only the path /; end the pattern with /* to allow all paths',
    ]);
  });

  test('an unvalidated entry of a program does not throw', () => {
    const { policy } = readPolicy([managed({ allowedMcpServers: [command('a'), address('https://*/*')] })]);
    for (const entry of [
      { command: 1 },
      { command: 'a', args: 'b' },
      { url: 7 },
      { type: 'http' },
      { command: undefined, url: undefined },
    ])
      expect(policy.forbids('x', entry as never)).toBe('allowedMcpServers of managed-settings.json');
  });
});

describe('newlyForbidden', () => {
  const ENTRIES = {
    open: { type: 'http' as const, url: `\${HUB}/mcp` },
    plain: { type: 'http' as const, url: 'https://a.example/mcp' },
  };

  /** The servers that must end when the managed files change to these. */
  async function ended(managed: Record<string, unknown>): Promise<string[]> {
    const place = configPlace();
    place.write(join(place.home, 'settings.json'), { version: 1, mcpServers: ENTRIES });
    const read = () => readConfiguration(place.world({ HUB: 'https://hub.example' }));
    const before = await read();
    for (const [name, content] of Object.entries(managed)) place.write(join(place.managed, name), content);
    const now = await read();
    return newlyForbidden(
      before,
      now,
      Object.entries(new RunningConfiguration(before).servers),
      mayDial(now),
    );
  }

  const mayDial = (now: Configuration) => {
    const running = new RunningConfiguration(now);
    return (...given: Parameters<RunningConfiguration['expand']>) => {
      try {
        running.expand(...given);
        return true;
      } catch {
        return false;
      }
    };
  };

  test('finds a running server that is forbidden after substitution', async () => {
    const deniedMcpServers = [{ serverUrl: 'https://hub.example/*' }];
    expect(await ended({ 'managed-settings.json': { deniedMcpServers } })).toEqual(['open']);
  });

  test('finds nothing if the new list forbids none', async () => {
    const deniedMcpServers = [{ serverUrl: 'https://other.example/*' }];
    expect(await ended({ 'managed-settings.json': { deniedMcpServers } })).toEqual([]);
  });

  test('a new managed file forbids all others', async () => {
    expect(await ended({ 'managed-mcp.json': { mcpServers: {} } })).toEqual(['open', 'plain']);
  });

  test('does not check servers while the policy is unchanged', async () => {
    const place = configPlace();
    place.write(join(place.managed, 'managed-settings.json'), { deniedMcpServers: [{ serverName: 'x' }] });
    const before = await readConfiguration(place.world());
    place.write(join(place.managed, 'managed-settings.json'), {
      model: 'other',
      deniedMcpServers: [{ serverName: 'x' }],
    });
    const now = await readConfiguration(place.world());
    expect(newlyForbidden(before, now, [['a', 1]], () => expect.unreachable())).toEqual([]);
  });
});
