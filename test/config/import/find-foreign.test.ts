import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { faultText } from '../../../src/config/fault-text.ts';
import { findForeign } from '../../../src/config/import/find-foreign.ts';
import type { ForeignWorld } from '../../../src/config/import/foreign.ts';
import { FOREIGN_TOOLS } from '../../../src/config/import/foreign-tools.ts';
import { configPlace } from '../config-place.ts';

/** Every place of every program, by its word. */
function places(world: ForeignWorld): Record<string, string[]> {
  return Object.fromEntries(
    FOREIGN_TOOLS.map((tool) => [tool.id, tool.places(world).map(({ path }) => path)]),
  );
}

const HOME = { cwd: '/p/src', project: '/p', userHome: '/h', env: {} };

test('each program’s files are looked for where it keeps them on Linux', () => {
  expect(places({ ...HOME, platform: 'linux' })).toEqual({
    'claude-code': ['/h/.claude.json'],
    'claude-desktop': ['/h/.config/Claude/claude_desktop_config.json'],
    cursor: ['/h/.cursor/mcp.json', '/p/.cursor/mcp.json'],
    vscode: [
      '/h/.config/Code/User/mcp.json',
      '/h/.config/Code/User/settings.json',
      '/p/.vscode/mcp.json',
      '/p/.vscode/settings.json',
    ],
    codex: ['/h/.codex/config.toml', '/p/.codex/config.toml'],
    gemini: ['/h/.gemini/settings.json', '/p/.gemini/settings.json'],
    windsurf: ['/h/.codeium/windsurf/mcp_config.json'],
    zed: ['/h/.config/zed/settings.json', '/p/.zed/settings.json'],
  });
});

test('and elsewhere on other systems, or where variables say', () => {
  const mac = places({ ...HOME, platform: 'darwin' });
  expect([mac['claude-desktop']?.[0], mac.vscode?.[0], mac.zed?.[0]]).toEqual([
    '/h/Library/Application Support/Claude/claude_desktop_config.json',
    '/h/Library/Application Support/Code/User/mcp.json',
    '/h/.config/zed/settings.json',
  ]);
  const windows = places({ ...HOME, platform: 'win32', env: { APPDATA: '/roaming' } });
  expect([windows['claude-desktop']?.[0], windows.vscode?.[0], windows.zed?.[0]]).toEqual([
    '/roaming/Claude/claude_desktop_config.json',
    '/roaming/Code/User/mcp.json',
    '/roaming/Zed/settings.json',
  ]);
  const env = { CLAUDE_CONFIG_DIR: '/cc', CODEX_HOME: '/cx', XDG_CONFIG_HOME: '/xdg' };
  const moved = places({ ...HOME, platform: 'linux', env });
  expect([moved['claude-code']?.[0], moved.codex?.[0], moved.zed?.[0]]).toEqual([
    '/cc/.claude.json',
    '/cx/config.toml',
    '/xdg/zed/settings.json',
  ]);
});

test('files that are there are read, those that are not are no fault, and those that cannot be are one line', async () => {
  const { userHome, project, write, world } = configPlace();
  write(join(userHome, '.cursor/mcp.json'), '\ufeff{ "mcpServers": { "one": { "command": "x" } } }');
  mkdirSync(join(project, '.cursor/mcp.json'), { recursive: true });
  truncateSync(write(join(userHome, '.claude.json'), ''), 40 * 1024 * 1024);
  const found = await findForeign(FOREIGN_TOOLS, { ...world(), project });
  expect(
    found.map(({ tool, servers, faults }) => [tool.id, servers.map((it) => it.name), faults.map(faultText)]),
  ).toEqual([
    ['claude-code', [], [`${userHome}/.claude.json: it is bigger than 32 MiB, and nothing of it is read`]],
    ['cursor', ['one'], []],
    ['cursor', [], [`${project}/.cursor/mcp.json: it is a directory, not a file`]],
  ]);
});

test('nobody waits for a pipe, and a project’s files are small and lead nowhere else', async () => {
  const { userHome, project, write, world } = configPlace();
  const own = write(join(userHome, '.cursor/mcp.json'), { mcpServers: { mine: { command: 'x' } } });
  for (const folder of ['.cursor', '.vscode', '.zed']) mkdirSync(join(project, folder));
  execFileSync('mkfifo', [join(project, '.zed/settings.json')]);
  symlinkSync(own, join(project, '.cursor/mcp.json'));
  truncateSync(write(join(project, '.vscode/mcp.json'), ''), 2 ** 20 + 1);
  const found = await findForeign(FOREIGN_TOOLS, { ...world(), project });
  expect(found.flatMap(({ servers }) => servers.map((it) => it.name))).toEqual(['mine']);
  expect(found.flatMap(({ faults }) => faults.map(faultText))).toEqual([
    `${project}/.cursor/mcp.json: it is reached by a link that leads out of ${project}, and such links are not followed`,
    `${project}/.vscode/mcp.json: it is bigger than 1 MiB, and nothing of it is read`,
    `${project}/.zed/settings.json: it is no regular file`,
  ]);
});

test('a TOML file may begin with a byte order mark', async () => {
  const { userHome, project, write, world } = configPlace();
  write(join(userHome, '.codex/config.toml'), '\ufeff[mcp_servers.one]\ncommand = "x"\n');
  const [found] = await findForeign(FOREIGN_TOOLS, { ...world(), project });
  expect(found).toMatchObject({ servers: [{ name: 'one' }], faults: [] });
});
