import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { browserCommand, openBrowser } from '../../../src/cli/mcp/ask-sign-in.ts';
import { configPlace } from '../../config/config-place.ts';

test.each<[string, NodeJS.ProcessEnv, NodeJS.Platform, readonly string[]]>([
  ['macOS', {}, 'darwin', ['open']],
  ['Windows', {}, 'win32', ['rundll32', 'url.dll,FileProtocolHandler']],
  ['Linux with X11', { DISPLAY: ':0' }, 'linux', ['xdg-open']],
  ['Linux with Wayland', { WAYLAND_DISPLAY: 'wayland-0' }, 'linux', ['xdg-open']],
  ['Linux without a display', {}, 'linux', []],
  ['an SSH session', { DISPLAY: ':0', SSH_CONNECTION: '1 2 3 4' }, 'linux', []],
  ['an SSH session to macOS', { SSH_CONNECTION: '1 2 3 4' }, 'darwin', []],
  ['BROWSER in an SSH session', { BROWSER: '/bin/b --x', SSH_CONNECTION: '1' }, 'linux', ['/bin/b --x']],
])('the browser of %s', (_, env, platform, command) => {
  expect(browserCommand(env, platform)).toEqual(command);
});

test('the browser gets the address as one argument, without a shell', async () => {
  const { project } = configPlace();
  const [program, seen] = [join(project, 'my browser'), join(project, 'seen')];
  writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > '${seen}.new' && mv '${seen}.new' '${seen}'\n`,
  );
  chmodSync(program, 0o755);
  const url = new URL("https://login.test/?a=1&b=$(touch x)&c='`;|");
  expect(openBrowser(url, { env: { ...process.env, BROWSER: program }, platform: 'linux' })).toBe(true);
  await expect.poll(() => existsSync(seen), { timeout: 30_000 }).toBe(true);
  expect(readFileSync(seen, 'utf8').split('\n')).toEqual(['1', url.href, '']);
});

test('a browser that cannot be started is no error', () => {
  const env = { BROWSER: '/nowhere/browser' };
  expect(openBrowser(new URL('https://login.test'), { env, platform: 'linux' })).toBe(false);
});
