import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { trustable } from '../../../../src/cli/mcp/approve/approve.ts';
import { CTRL_C, CTRL_D } from '../../support/fake-terminal.ts';
import {
  type McpPlace,
  marker,
  mcpPlace,
  mcpTerminal,
  projectFile,
  userFile,
} from '../../support/mcp-place.ts';
import { hasScript } from '../../support/terminal-process.ts';

describe('approve', () => {
  const A = { command: 'a' };

  /** Name and state of every server. */
  async function states(place: McpPlace): Promise<string[]> {
    const { stdout } = await place.mcp('list', '--no-connect', '--json');
    const { servers } = JSON.parse(stdout) as { servers: { name: string; state: string }[] };
    return servers.map(({ name, state }) => `${name} ${state}`);
  }

  test('approves and rejects by name; a changed entry is pending again; decisions can be reset (R169, C18)', async () => {
    const place = mcpPlace();
    place.write(projectFile(place), { mcpServers: { a: A, b: A, c: A } });
    const approved = await place.mcp('approve', 'a', 'b');
    expect(approved).toMatchObject({ code: 0, stderr: '' });
    expect(approved.stdout).toMatch(/^✓ approved a \(project, \.mcp\.json:\d+:\d+\)\n✓ approved b \(/);
    const rejected = await place.mcp('reject', 'b', '--json');
    expect(JSON.parse(rejected.stdout)).toMatchObject({
      approved: [],
      rejected: [{ name: 'b', path: projectFile(place) }],
    });
    expect(await states(place)).toEqual(['a ready', 'b rejected', 'c pending']);
    place.write(projectFile(place), { mcpServers: { a: { command: 'other' }, b: A, c: A } });
    const { stdout } = await place.mcp('list', '--no-connect');
    expect(stdout).toMatch(/^⏸ a .* changed since you approved it: toolplane mcp approve a\n/);
    const reset = await place.mcp('reset-project-choices');
    expect(reset.stdout).toBe(
      `removed 2 decisions about ${place.project}; its servers and settings are pending approval again\n`,
    );
    expect(await states(place)).toEqual(['a pending', 'b pending', 'c pending']);
    expect((await place.mcp('reset-project-choices', '--json')).stdout).toContain('"forgotten": 0');
  }, 60_000);

  test('approves only the pending entry of highest precedence of a name, and rejects all of them', async () => {
    const place = mcpPlace();
    place.write(join(place.project, '.mcp.json'), { mcpServers: { db: { command: 'far' } } });
    const near = place.write(join(place.project, 'sub/.mcp.json'), {
      mcpServers: { db: { command: 'near' } },
    });
    const cwd = join(place.project, 'sub');
    const approve = (...args: string[]) => place.mcpWith({ cwd }, ...args);
    const first = await approve('approve', 'db');
    expect(first.stdout).toMatch(/^✓ approved db \(project, \.mcp\.json:\d+:\d+\)\n$/);
    expect(first.stderr).toMatch(
      /^toolplane: another entry "db" \(project, \.\.\/\.mcp\.json:\d+:\d+\) is still pending; to review it, run toolplane mcp approve\n$/,
    );
    expect(place.json(join(place.home, 'choices.json'))).toMatchObject({
      servers: [{ scope: 'project', path: near, name: 'db', choice: 'approved' }],
    });
    const again = await approve('approve', 'db', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ approved: [{ label: '../.mcp.json' }] });
    expect(JSON.parse((await approve('reject', 'db', '--json')).stdout).rejected).toHaveLength(2);
    const back = JSON.parse((await approve('approve', 'db', '--json')).stdout);
    expect(back).toMatchObject({ approved: [{ label: '.mcp.json', path: near }] });
  }, 60_000);

  test('resets decisions about a trusted repository from any directory in it', async () => {
    const place = mcpPlace();
    place.write(join(place.project, 'sub/.mcp.json'), { mcpServers: { a: A } });
    await place.mcp('approve', '--trust-repository');
    const inner = join(place.project, 'sub');
    const reset = (cwd: string) => place.mcpWith({ cwd }, 'reset-project-choices', '--json');
    expect(JSON.parse((await reset(inner)).stdout)).toEqual({ directory: place.project, forgotten: 1 });
    await place.mcp('approve', '--trust-repository');
    rmSync(join(place.project, '.git'), { recursive: true });
    expect(JSON.parse((await reset(inner)).stdout)).toEqual({ directory: inner, forgotten: 0 });
    expect((await place.mcp('reset-project-choices')).stdout).toMatch(
      /^removed 1 decision about .*; its servers and settings are pending approval again\n$/,
    );
  }, 60_000);

  test('another repository at the path of a trusted one is pending', async () => {
    const place = mcpPlace();
    place.write(projectFile(place), { mcpServers: { a: A } });
    await place.mcp('approve', '--trust-repository');
    expect(await states(place)).toEqual(['a ready']);
    rmSync(place.project, { recursive: true });
    place.write(projectFile(place), { mcpServers: { a: A } });
    place.write(join(place.project, '.git/HEAD'), 'ref: refs/heads/main\n');
    expect(await states(place)).toEqual(['a pending']);
  }, 60_000);

  test('reports an unreadable project file if nothing is pending', async () => {
    const place = mcpPlace();
    place.write(projectFile(place), '{ "mcpServers": ');
    const { code, stdout, stderr } = await place.mcp('approve');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'nothing is pending approval\n' });
    expect(stderr).toMatch(/^toolplane: \.mcp\.json:\d+:\d+: .*\n$/);
  });

  test('--settings shows the settings that it approves', async () => {
    const place = mcpPlace();
    place.write(join(place.project, '.claude', 'settings.json'), {
      permissions: { deny: ['Bash(rm *)'] },
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'echo planted' }] }] },
    });
    const { code, stdout } = await place.mcp('approve', '--settings');
    expect({ code, lines: stdout.split('\n') }).toMatchObject({
      code: 0,
      lines: expect.arrayContaining([
        '✓ approved the settings in .claude/settings.json:',
        expect.stringContaining('"command": "echo planted"'),
      ]),
    });
    expect(stdout).not.toContain('rm *');
  });

  test('everything in a trusted repository is active, also after a change, except rejected entries', async () => {
    const place = mcpPlace();
    place.write(projectFile(place), { mcpServers: { a: A, b: A } });
    await place.mcp('reject', 'b');
    const trusted = await place.mcp('approve', '--trust-repository');
    expect(trusted.stdout).toBe(
      `✓ trusted: every server, hook, allow rule and variable in ${place.project} will be active without approval, now and after every pull\n`,
    );
    place.write(projectFile(place), { mcpServers: { a: { command: 'other' }, b: A, c: A } });
    expect(await states(place)).toEqual(['a ready', 'b rejected', 'c ready']);
  }, 60_000);

  test.each<[string, string[], RegExp]>([
    ['a typo', ['approve', 'serve'], /unknown server "serve"; did you mean "server"\?/],
    ['one that needs no approval', ['approve', 'mine'], /"mine" needs no approval: it is defined in user, /],
    ['a broken one', ['approve', 'bad'], /"bad" is broken and cannot be approved: \.mcp\.json:\d+:\d+: /],
    ['names and all', ['approve', 'server', '--all'], /name servers or use --all, not both/],
  ])('%s is a usage error, and nothing is approved', async (_, args, message) => {
    const place = mcpPlace();
    place.write(userFile(place), { mcpServers: { mine: A } });
    place.write(projectFile(place), { mcpServers: { server: A, bad: { command: 3 } } });
    const { code, stderr } = await place.mcp(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(place.json(join(place.home, 'choices.json'))).toBeUndefined();
  });
});

describe('approve terminal', () => {
  const CHOICES = 'choices.json';

  /** What was decided, by name. */
  function choices(place: McpPlace): Record<string, string> {
    const file = place.json(join(place.home, CHOICES)) as { servers: { name: string; choice: string }[] };
    return Object.fromEntries(file.servers.map(({ name, choice }) => [name, choice]));
  }

  function project(place: McpPlace): string {
    const ran = join(place.project, 'ran');
    place.write(projectFile(place), {
      mcpServers: { a: marker(ran), b: { url: 'https://b.test/${TOKEN}' }, c: { command: 'c' } },
    });
    return ran;
  }

  test.runIf(hasScript)(
    'in a terminal: approves, rejects and skips, and starts nothing',
    async () => {
      const place = mcpPlace();
      const ran = project(place);
      place.write(join(place.project, '.toolplane', 'settings.json'), {
        permissions: { allow: ['Bash(make *)'] },
      });
      const terminal = mcpTerminal(place, ['approve']);
      const first = await terminal.shows(/\napprove\?$/);
      expect(first).toMatch(/server .*a.* of project, \.mcp\.json:\d+:\d+/);
      expect(first).toContain(JSON.stringify(process.execPath));
      expect(first).toContain('writeFileSync');
      terminal.type('y\r');
      expect(await terminal.shows(/\napprove\?$/)).toContain('"url": "https://b.test/${TOKEN}"');
      terminal.type('n\r');
      await terminal.shows(/\napprove\?$/);
      terminal.type('s\r');
      expect(await terminal.shows(/\napprove\?$/)).toContain('Bash(make *)');
      terminal.type('y\r');
      await terminal.until('approved the settings in .toolplane/settings.json');
      expect(await terminal.closed).toEqual([0, null]);
      expect(choices(place)).toEqual({ a: 'approved', b: 'rejected' });
      expect(existsSync(ran)).toBe(false);
    },
    30_000,
  );

  test.runIf(hasScript)(
    'in a terminal: trust is explained and confirmed',
    async () => {
      const place = mcpPlace();
      project(place);
      const terminal = mcpTerminal(place, ['approve']);
      await terminal.until('approve? ');
      terminal.type('t\r');
      const explained = await terminal.shows(/trust the whole repository\? \(yes or no\)$/);
      // The text is wrapped between words.
      expect(explained.replace(/\s+/g, ' ')).toContain(
        `every server, hook, allow rule and variable in ${place.project} will be active without approval, now and after every pull`,
      );
      terminal.type('yes\r');
      await terminal.until('trusted: ');
      expect(await terminal.closed).toEqual([0, null]);
      expect(place.json(join(place.home, CHOICES))).toMatchObject({
        servers: [],
        trusted: [{ path: place.project }],
      });
    },
    30_000,
  );

  test.runIf(hasScript).each([
    ['Ctrl-C', CTRL_C, 130],
    ['the end of the input', CTRL_D, 1],
  ])(
    'in a terminal: %s after an answer changes nothing',
    async (_, key, code) => {
      const place = mcpPlace();
      project(place);
      const terminal = mcpTerminal(place, ['approve']);
      await terminal.until('approve? ');
      terminal.type('y\r');
      await terminal.until('approve? ');
      terminal.type(key);
      await terminal.until('nothing was approved or rejected');
      expect(await terminal.closed).toEqual([code, null]);
      expect(existsSync(join(place.home, CHOICES))).toBe(false);
    },
    30_000,
  );

  test.runIf(hasScript)(
    'approves the content that was shown, even if the file changes meanwhile',
    async () => {
      const place = mcpPlace();
      place.write(projectFile(place), { mcpServers: { a: { command: 'good' } } });
      const terminal = mcpTerminal(place, ['approve']);
      await terminal.until('approve? ');
      writeFileSync(projectFile(place), JSON.stringify({ mcpServers: { a: { command: 'evil' } } }));
      terminal.type('y\r');
      await terminal.closed;
      expect(await place.mcp('list', '--no-connect')).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^⏸ a .* changed since you approved it/),
        stderr: '',
      });
    },
    30_000,
  );
});

describe('trustable', () => {
  const at = (root: string | undefined, userHome = '/home/me') =>
    trustable({ ...(root !== undefined && { root }), context: { cwd: '/home/me/p/a', userHome } });

  test('a repository may be trusted', () => {
    expect(at('/home/me/p')).toEqual({ directory: '/home/me/p' });
  });

  test.each<[string, string | undefined, RegExp]>([
    ['no repository', undefined, /is not in a repository/],
    ['a home that is one', '/home/me', /contains your home directory with all projects/],
    ['what holds the home', '/', /contains your home directory/],
  ])('%s cannot be trusted', (_, root, fault) => {
    expect(at(root)).toEqual({ fault: expect.stringMatching(fault) });
  });
});
