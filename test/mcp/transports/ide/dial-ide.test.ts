import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findEditors, lockDirectory } from '../../../../src/mcp/transports/ide/find-editors.ts';
import { reach, unreached } from '../../connection/reach.ts';
import { testWorld } from '../../connection/servers.ts';
import { startEverything } from '../http/everything.ts';
import { startWs } from '../ws/ws-server.ts';

/** A directory of settings with lock files, and a world whose editors are there. */
async function editors() {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'editors-')));
  await mkdir(join(dir, 'ide'));
  const noise: string[] = [];
  const env = { PATH: process.env.PATH, CLAUDE_CONFIG_DIR: dir };
  return {
    dir,
    noise,
    world: testWorld({ env, cwd: dir, onNoise: (_, what) => noise.push(what) }),
    async lock(port: number | string, more: object = {}, mode = 0o600) {
      const value = { pid: process.pid, workspaceFolders: [dir], ideName: 'Ed', transport: 'ws', ...more };
      const path = join(dir, 'ide', `${port}.lock`);
      await writeFile(path, JSON.stringify(value));
      await chmod(path, mode);
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

const dead = () => spawnSync(process.execPath, ['-e', '']).pid;
const admits = (headers: object) => Object.entries(headers).some((it) => it.join() === `${HEADER},word`);
const HEADER = 'x-claude-code-ide-authorization';

test('an editor is found by its lock file and shown its token', async () => {
  await using own = await editors();
  await using web = await startWs({ admits });
  await own.lock(web.port, { authToken: 'word' });
  await own.lock(1, { pid: dead() });
  await using far = await reach({ type: 'ws-ide' }, own.world);
  expect((await far.call('act', { what: 'hi' })).content).toEqual([{ type: 'text', text: 'hi' }]);
  expect(own.noise).toEqual([]);
});

test('an editor over SSE is found as well (R157)', async () => {
  await using own = await editors();
  await using everything = await startEverything('sse');
  await own.lock(new URL(everything.url).port, { transport: 'sse' });
  await using far = await reach({ type: 'sse-ide' }, own.world);
  expect((await far.call('echo', { message: 'hi' })).content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
});

test('the editor of our terminal is preferred', async () => {
  await using own = await editors();
  await using web = await startWs();
  await own.lock(web.port, { workspaceFolders: ['/'] });
  await own.lock(1);
  const env = { ...own.world.env, CLAUDE_CODE_SSE_PORT: String(web.port) };
  await using far = await reach({ type: 'ws-ide' }, { ...own.world, env });
  await far.call('act', { what: 'hi' });
});

test('one that is named is not looked for, and is on this machine', async () => {
  await using web = await startWs({ admits });
  await using far = await reach({ type: 'ws-ide', url: web.url, authToken: 'word' });
  await far.call('act', { what: 'hi' });
  const elsewhere = { type: 'ws-ide' as const, url: 'ws://mcp.test/', authToken: 'word' };
  expect(await unreached(elsewhere)).toMatchObject({ name: 'HostError', code: 'bad-config' });
});

test('without an editor it is said what to do', async () => {
  await using own = await editors();
  await own.lock(1, { workspaceFolders: ['/elsewhere'] });
  expect(await unreached({ type: 'ws-ide' }, own.world)).toMatchObject({
    code: 'unreachable',
    message: `MCP server "srv": no editor that runs has ${own.dir} open; open it there, or give "url" and "authToken"`,
  });
});

test('lock files that are broken, or that others may write, are told and ignored', async () => {
  await using own = await editors();
  await own.lock(1, { pid: 'x' });
  await own.lock(2, {}, 0o666);
  await own.lock('name');
  await unreached({ type: 'ws-ide' }, own.world);
  expect(own.noise).toEqual([
    'lock file 1.lock is ignored: it is none of an editor',
    'lock file 2.lock is ignored: others may write it',
    'lock file name.lock is ignored: it is none of an editor',
  ]);
  expect(await findEditors(join(own.dir, 'nowhere'))).toEqual({ editors: [], notes: [] });
});

test.each([
  [{ CLAUDE_CONFIG_DIR: '/c', HOME: '/h' }, join('/c', 'ide')],
  [{ HOME: '/h' }, join('/h', '.claude', 'ide')],
  [{ USERPROFILE: '/u' }, join('/u', '.claude', 'ide')],
  [{}, undefined],
])('with %j lock files are in %s', (env, directory) => {
  expect(lockDirectory(env)).toBe(directory);
});
