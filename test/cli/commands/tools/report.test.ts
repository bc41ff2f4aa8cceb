import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TOOL_SEARCH } from '../../../../src/agent/builtins/tool-search.ts';
import { formatRenamed, serverReports, totalsOf } from '../../../../src/cli/commands/tools/report.ts';
import type { HostTool } from '../../../../src/host/host-options.ts';
import { assemble } from '../../../../src/pool/assemble.ts';
import { tokenCost } from '../../../../src/pool/token-cost.ts';
import { configPlace } from '../../../config/config-place.ts';
import { CLI } from '../../../support/setup/built-package.ts';
import { fixture, runCli } from '../../support/run-cli.ts';

describe('report', () => {
  const tool = (server: string, name: string): HostTool => ({
    server,
    name,
    description: `${name} of ${server}`,
    inputSchema: { type: 'object' },
  });
  const status = (state: 'connected' | 'failed') => ({ state, since: 0, attempt: 1, stderr: [] });

  const TOOLS = [tool('a', 'x'), tool('a', 'x'), tool('a', 'y!'), tool('a', 'y?'), tool('b', 'z')];
  const pool = assemble({
    builtIns: [TOOL_SEARCH.listed],
    servers: Map.groupBy(TOOLS, ({ server }) => server),
    maxNameLength: 128,
    alwaysLoadServers: new Set(['b']),
  });
  const reports = serverReports({
    statuses: {
      a: status('connected'),
      b: { ...status('connected'), era: 'modern' },
      c: {
        ...status('failed'),
        cause: { code: 'timeout', message: 'MCP server "c": it is late', detail: 'it is late' },
      },
    },
    tools: TOOLS,
    warnings: [
      { server: 'a', message: 'odd' },
      { server: 'b', message: 'too' },
    ],
    pool,
    changes: [
      {
        server: 'b',
        place: 'p',
        tool: 'z',
        after: { name: 'z', inputSchema: {} },
        fingerprints: { after: '' },
        differences: [],
        findings: [],
        text: 'it changed',
      },
    ],
  });

  test('reports every offered tool once, with its full name', () => {
    expect(reports.map((it) => it.tools.map(({ pooledName }) => pooledName))).toEqual([
      ['mcp__a__x', 'mcp__a__y_', expect.stringMatching(/^mcp__a__y__\w{8}$/)],
      ['mcp__b__z'],
      [],
    ]);
  });

  test('reports tolerated, renamed and invalid tools at their server', () => {
    expect(reports.map(({ name, warnings, error }) => ({ name, warnings: warnings.length, error }))).toEqual([
      { name: 'a', warnings: 3, error: undefined },
      { name: 'b', warnings: 2, error: undefined },
      { name: 'c', warnings: 0, error: 'it is late' },
    ]);
    expect(reports[1]?.warnings).toEqual([
      'too',
      'tool "z": it changed; to accept it: toolplane tools accept b z',
    ]);
  });

  test('with tool search, only the search tool, names and always-loaded tools are sent', () => {
    const totals = totalsOf(reports, pool);
    const sum = (names: readonly string[]) =>
      names.reduce((all, name) => all + tokenCost(pool.byName.get(name) as never), 0);
    expect(totals.tokens).toBe(sum(pool.tools.map(({ name }) => name)) - sum(['ToolSearch']));
    expect(totals.withToolSearch).toBeGreaterThan(sum(['ToolSearch', 'mcp__b__z']));
    expect(totals).toMatchObject({ servers: 3, connected: 2, tools: 4, searchAbove: 20_000 });
  });

  test.each([
    ['listed-twice', 'tool "t" is listed more than once; the first is offered'],
    ['name-taken', 'tool "t" is offered as given: another tool already has the name wanted'],
    ['name-too-long', 'tool "t" is offered as given: its full name is too long for models'],
    ['name-empty', 'tool "t" is offered as given: its name is empty'],
  ] as const)('%s is said so', (fault, text) => {
    const origin = { kind: 'mcp', server: 's', tool: 't' } as const;
    expect(formatRenamed({ fault, origin, wanted: 'wanted', name: 'given' })).toBe(text);
  });
});

describe('not started', () => {
  const docs = { command: process.execPath, args: [CLI, 'serve', fixture('docs.ts'), '--export', 'docs'] };

  test('the JSON lists configured servers that were not started, and why', async () => {
    const place = configPlace();
    place.write(join(place.home, 'settings.json'), { mcpServers: { docs } });
    place.write(join(place.project, '.mcp.json'), { mcpServers: { waits: docs, bad: { command: 3 } } });
    const run = { cwd: place.project, env: place.env };
    const { code, stdout } = await runCli(['tools', '--json'], '', run);
    const { servers, notStarted } = JSON.parse(stdout) as Record<string, { name: string }[]>;
    expect(servers?.map(({ name }) => name)).toEqual(['docs']);
    expect(notStarted).toEqual([
      { name: 'waits', state: 'pending', why: expect.stringMatching(/toolplane mcp approve waits$/) },
      { name: 'bad', state: 'broken', why: expect.stringContaining('.mcp.json:') },
    ]);
    expect(code).toBe(1);
  });

  test('a managed file excludes servers of flags and arguments, with the reason (R168)', async () => {
    const place = configPlace();
    const managed = place.write(join(place.managed, 'managed-mcp.json'), { mcpServers: { server: docs } });
    place.write(join(place.home, 'settings.json'), { mcpServers: { mine: docs } });
    const file = place.write(join(place.project, 'servers.json'), { mcpServers: { own: docs } });
    const run = (...args: string[]) => runCli(args, '', { cwd: place.project, env: place.env });
    const line = (name: string, where: string) =>
      new RegExp(`^toolplane: "${name}" in (?:${where}).* is ignored: ${managed} excludes all other files; `);
    const named = await run('tools', '--mcp-config', file, '--json');
    expect(named.code).toBe(1);
    expect(named.stderr).toMatch(line('own', '--mcp-config servers.json|--mcp-config .*servers.json'));
    expect(JSON.parse(named.stdout)).toMatchObject({
      servers: [],
      notStarted: [{ name: 'own', state: 'blocked' }],
    });
    const alike = await run('tools', '--stdio', 'npx some-server');
    expect(alike).toMatchObject({ code: 1, stderr: expect.stringMatching(line('server', '--mcp-config')) });
    expect(alike.stdout).not.toContain('docs');
    const called = await run('call', 'mine', 'search');
    expect(called).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(line('mine', '~')) });
    const other = await run('call', '--stdio', 'npx x', 'absent', 'search');
    expect(other.stderr).toContain('unknown server "absent" (known: server)');
    const unknown = await run('call', 'absent', 'search');
    expect(unknown.stderr).toContain('unknown server "absent" (known: server)');
  }, 60_000);
});
