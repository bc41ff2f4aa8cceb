import { expect, test } from 'vitest';
import { configContext } from '../../src/config/config-context.ts';

const AROUND = { cwd: '/desk', userHome: '/h/me', platform: 'linux' } as const;

test.each<[Record<string, string>, string, readonly string[]]>([
  [{}, '/h/me/.toolplane', ['/etc/toolplane']],
  [{ TOOLPLANE_HOME: '' }, '/h/me/.toolplane', ['/etc/toolplane']],
  [{ TOOLPLANE_HOME: '/t' }, '/t', ['/etc/toolplane']],
  [{ TOOLPLANE_HOME: 't' }, '/desk/t', ['/etc/toolplane']],
  [{ TOOLPLANE_MANAGED_DIRECTORY: '/m' }, '/h/me/.toolplane', ['/etc/toolplane', '/m']],
  [{ TOOLPLANE_MANAGED_DIRECTORY: 'm' }, '/h/me/.toolplane', ['/etc/toolplane', '/desk/m']],
])('with %j the home is %s and the managed directories are %j', (env, home, managed) => {
  expect(configContext({ ...AROUND, env })).toEqual({
    ...AROUND,
    env,
    home,
    claudeHome: '/h/me/.claude',
    managed,
    claudeManaged: '/etc/claude-code',
  });
});

test.each<[Record<string, string>, string]>([
  [{ CLAUDE_CONFIG_DIR: '' }, '/h/me/.claude'],
  [{ CLAUDE_CONFIG_DIR: '/c' }, '/c'],
  [{ CLAUDE_CONFIG_DIR: 'c' }, '/desk/c'],
])('with %j the directory of the claude CLI is %s', (env, claudeHome) => {
  expect(configContext({ ...AROUND, env })).toMatchObject({ claudeHome });
});

test.each<[NodeJS.Platform, string, string]>([
  ['darwin', '/Library/Application Support/Toolplane', '/Library/Application Support/ClaudeCode'],
  ['win32', 'C:\\ProgramData\\Toolplane', 'C:\\Program Files\\ClaudeCode'],
  ['freebsd', '/etc/toolplane', '/etc/claude-code'],
])('on %s no variable changes the system directories', (platform, directory, claudeManaged) => {
  const env = { ProgramData: '/elsewhere', PROGRAMDATA: '/elsewhere', XDG_CONFIG_DIRS: '/elsewhere' };
  expect(configContext({ ...AROUND, env, platform })).toMatchObject({ managed: [directory], claudeManaged });
});
