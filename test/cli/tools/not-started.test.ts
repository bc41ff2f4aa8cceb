import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configPlace } from '../../config/config-place.ts';
import { CLI, fixture, runCli } from '../run-cli.ts';

const docs = { command: process.execPath, args: [CLI, 'serve', fixture('docs.ts'), '--export', 'docs'] };

test('programs hear of servers that are configured and were not started, and why', async () => {
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

test('a managed file excludes what flags and names ask for, and says so (R168)', async () => {
  const place = configPlace();
  const managed = place.write(join(place.managed, 'managed-mcp.json'), { mcpServers: { server: docs } });
  place.write(join(place.home, 'settings.json'), { mcpServers: { mine: docs } });
  const file = place.write(join(place.project, 'servers.json'), { mcpServers: { own: docs } });
  const run = (...args: string[]) => runCli(args, '', { cwd: place.project, env: place.env });
  const line = (name: string, where: string) =>
    new RegExp(
      `^toolplane: "${name}" does not count: ${managed} excludes ${where}.* and all other files; ask `,
    );
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
  const other = await run('call', '--stdio', 'npx x', 'nobody', 'search');
  expect(other.stderr).toContain('there is no server "nobody" (there are server)');
  const unknown = await run('call', 'nobody', 'search');
  expect(unknown.stderr).toContain('there is no server "nobody" (there are server)');
}, 60_000);
