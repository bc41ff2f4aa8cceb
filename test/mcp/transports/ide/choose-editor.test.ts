import { expect, test } from 'vitest';
import { chooseEditor, type EditorWish } from '../../../../src/mcp/transports/ide/choose-editor.ts';
import type { Editor } from '../../../../src/mcp/transports/ide/lock-file.ts';

const editor = (port: number, ...workspaceFolders: string[]): Editor => ({
  port,
  pid: 1,
  transport: 'ws',
  workspaceFolders,
  ideName: `Ed${port}`,
  authToken: undefined,
});

test.each<[string, Editor[], Partial<EditorWish>, number | undefined]>([
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
