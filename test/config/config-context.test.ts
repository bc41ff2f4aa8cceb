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
  expect(configContext({ ...AROUND, env })).toEqual({ ...AROUND, env, home, managed });
});

test.each<[NodeJS.Platform, string]>([
  ['darwin', '/Library/Application Support/Toolplane'],
  ['win32', 'C:\\ProgramData\\Toolplane'],
  ['freebsd', '/etc/toolplane'],
])('on %s no variable changes the system directory', (platform, directory) => {
  const env = { ProgramData: '/elsewhere', PROGRAMDATA: '/elsewhere', XDG_CONFIG_DIRS: '/elsewhere' };
  expect(configContext({ ...AROUND, env, platform }).managed).toEqual([directory]);
});
