import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  chooseEditor,
  type Editor,
  type EditorCriteria,
  findEditors,
  lockDirectory,
  readLockFile,
} from '../../../../src/mcp/transports/ide/dial-ide.ts';
import { reach, unreached } from '../../support/reach.ts';
import { testWorld } from '../../support/servers.ts';
import { startEverything } from '../http/support/everything.ts';
import { startWs } from '../ws/ws-server.ts';

describe('dial ide', () => {
  /** A settings directory with lock files, and a context that uses it. */
  async function editors() {
    const dir = await realpath(await mkdtemp(join(tmpdir(), 'editors-')));
    await mkdir(join(dir, 'ide'));
    const noise: string[] = [];
    const env = { PATH: process.env.PATH, CLAUDE_CONFIG_DIR: dir };
    return {
      dir,
      noise,
      world: testWorld({ env, cwd: dir, onUnexpectedOutput: (_, what) => noise.push(what) }),
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
      message: `MCP server "srv": no running editor has ${own.dir} open; open it in the editor, or set "url" and "authToken"`,
    });
  });

  test('lock files that are broken, or that others may write, are told and ignored', async () => {
    await using own = await editors();
    await own.lock(1, { pid: 'x' });
    await own.lock(2, {}, 0o666);
    await own.lock('name');
    await unreached({ type: 'ws-ide' }, own.world);
    expect(own.noise).toEqual([
      "lock file 1.lock is ignored: it is not an editor's lock file",
      'lock file 2.lock is ignored: other users can write to it',
      "lock file name.lock is ignored: it is not an editor's lock file",
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
});

describe('choose editor', () => {
  const editor = (port: number, ...workspaceFolders: string[]): Editor => ({
    port,
    pid: 1,
    transport: 'ws',
    workspaceFolders,
    ideName: `Ed${port}`,
    authToken: undefined,
  });

  test.each<[string, Editor[], Partial<EditorCriteria>, number | undefined]>([
    ['the folder itself', [editor(1, '/a/b')], {}, 1],
    ['a folder above', [editor(1, '/a')], {}, 1],
    ['the root', [editor(1, '/')], {}, 1],
    ['a folder below', [editor(1, '/a/b/c')], {}, undefined],
    ['a folder whose name only begins so', [editor(1, '/a/bc')], { cwd: '/a/bcd' }, undefined],
    ['no folder', [editor(1)], {}, undefined],
    ['the nearest of several', [editor(1, '/a'), editor(2, '/x', '/a/b'), editor(3, '/')], {}, 2],
    ['of equals the later port', [editor(1, '/a'), editor(2, '/a')], {}, 2],
    ['the one of our terminal', [editor(1, '/a'), editor(2, '/a/b')], { port: 1 }, 1],
    ['the one of our terminal only if it fits', [editor(1, '/x'), editor(2, '/a')], { port: 1 }, 2],
    ['another transport', [editor(1, '/a')], { transport: 'sse' }, undefined],
    ['the editor by its name', [editor(1, '/a'), editor(2, '/a/b')], { ideName: 'Ed1' }, 1],
    ['a slash at the end, dots', [editor(1, '/a/x/../b/')], { cwd: '/a/./b' }, 1],
    ['Windows, either slash and case', [editor(1, 'C:\\Code\\App')], { cwd: 'c:/code/app/src' }, 1],
    ['Windows, another drive', [editor(1, 'D:\\Work')], { cwd: 'C:\\Work' }, undefined],
    ['Windows, a share', [editor(1, '\\\\host\\share')], { cwd: '\\\\HOST\\share\\x' }, 1],
    ['POSIX, where case counts', [editor(1, '/A')], { cwd: '/a' }, undefined],
  ])('%s', (_name, editors, wish, port) => {
    const chosen = chooseEditor(editors, { transport: 'ws', cwd: '/a/b', ...wish });
    expect(chosen?.port).toBe(port);
  });
});

describe('lock file', () => {
  const good = { pid: 7, workspaceFolders: ['/a'], ideName: 'Ed', transport: 'ws', authToken: 't0' };

  test('a lock file is read with the port of its name', () => {
    expect(readLockFile('4242.lock', JSON.stringify({ ...good, more: 1 }))).toEqual({ port: 4242, ...good });
  });

  test('an editor that says less speaks SSE, has a plain name and no token', () => {
    expect(readLockFile('1.lock', '{"pid":7,"workspaceFolders":["/a",5,""]}')).toEqual({
      port: 1,
      pid: 7,
      transport: 'sse',
      workspaceFolders: ['/a'],
      ideName: 'editor',
      authToken: undefined,
    });
  });

  test.each([
    ['x.lock', good],
    ['70000.lock', good],
    ['0.lock', good],
    ['12.lock.bak', good],
    ['1.lock', { ...good, pid: -1 }],
    ['1.lock', { ...good, pid: '7' }],
    ['1.lock', { ...good, transport: 'tcp' }],
    ['1.lock', { ...good, workspaceFolders: '/a' }],
    ['1.lock', { ...good, authToken: 'a\r\nHost: b' }],
    ['1.lock', { ...good, authToken: 5 }],
    ['1.lock', []],
  ])('%s with %j is none', (name, value) => {
    expect(readLockFile(name, JSON.stringify(value))).toBeUndefined();
  });

  test('nothing a file may hold makes it throw', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        readLockFile('1.lock', text);
      }),
    );
  });
});
