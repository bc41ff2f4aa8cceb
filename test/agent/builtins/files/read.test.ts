import { execFileSync } from 'node:child_process';
import { symlinkSync, truncateSync } from 'node:fs';
import { expect, test } from 'vitest';
import { READ } from '../../../../src/agent/builtins/files/read.ts';
import { digestOf } from '../../../../src/agent/builtins/files/real-file.ts';
import { call, directoryWith, done, failed, worldIn } from '../built-in-world.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

function lines(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`).join('\n');
}

const REST = '1\trest';
const PAIR = `1\t${'x'.repeat(1999)} [2 more characters of this line omitted: use Read with offset 1 and column 2000]`;

test.each<[string, string, Record<string, unknown>, string]>([
  ['numbers lines from one', 'a\nb\n', {}, '1\ta\n2\tb\n3\t'],
  ['keeps empty lines', '\n\nx', {}, '1\t\n2\t\n3\tx'],
  ['hides line ends and the byte order mark', '\uFEFFa\r\nb\r\n', {}, '1\ta\n2\tb\n3\t'],
  ['starts at the offset', lines(1, 3), { offset: 3 }, '3\tline 3'],
  ['starts at the first line with offset 0', lines(1, 3), { offset: 0, limit: 1 }, '1\tline 1'],
  ['ends at the limit', lines(1, 5), { offset: 2, limit: 1 }, '2\tline 2'],
  [
    'cuts long lines',
    'x'.repeat(2007),
    {},
    `1\t${'x'.repeat(2000)} [7 more characters of this line omitted: use Read with offset 1 and column 2001]`,
  ],
  ['gives the rest of a long line', `${'x'.repeat(2000)}rest\nb`, { column: 2001, limit: 1 }, REST],
  ['keeps pairs of surrogates together', `${'x'.repeat(1999)}😀`, {}, PAIR],
  ['begins later lines at their beginning', 'abc\nabc', { column: 3 }, '1\tc\n2\tabc'],
])('%s', async (_, text, part, expected) => {
  const cwd = directoryWith({ f: text });
  expect(await call(READ, { file_path: 'f', ...part }, worldIn(cwd))).toMatchObject(done(expected));
});

test('an offset beyond the end is a result without lines', async () => {
  const cwd = directoryWith({ f: 'a\nb\n' });
  expect(await call(READ, { file_path: 'f', offset: 3 }, worldIn(cwd))).toMatchObject({
    content: `<system-reminder>${cwd}/f has 2 lines: offset 3 is beyond its end</system-reminder>`,
    isError: false,
    programResult: { file: { content: '', numLines: 0, startLine: 3, totalLines: 3 } },
  });
});

test('gives 2000 lines when no limit is given', async () => {
  const cwd = directoryWith({ f: lines(1, 2001) });
  const { content } = await call(READ, { file_path: 'f' }, worldIn(cwd));
  expect(String(content).split('\n').slice(-2)).toEqual([
    '2000\tline 2000',
    '[Lines 2001 to 2001 omitted: use Read with offset 2001 for more.]',
  ]);
});

test('a result is limited in length and names the next offset', async () => {
  const cwd = directoryWith({ f: `${'y'.repeat(1992)}\n`.repeat(2000) });
  const { content } = await call(READ, { file_path: 'f' }, worldIn(cwd));
  expect(String(content).split('\n').at(-1)).toBe(
    '[Lines 129 to 2000 omitted: use Read with offset 129 for more.]',
  );
});

test('a line of any length can be read to its end', async () => {
  const whole = Array.from({ length: 40_000 }, (_, at) => `${at}€😀`).join('');
  const world = worldIn(directoryWith({ f: whole }));
  let read = '';
  let column = 1;
  for (let calls = 0; calls < 20; calls++) {
    const { content } = await call(READ, { file_path: 'f', column }, world);
    const [, part, next] = /^1\t(.*?)(?: \[\d+ more .* column (\d+)\])?$/s.exec(String(content)) ?? [];
    read += part;
    if (next === undefined) break;
    column = Number(next);
  }
  expect(read === whole).toBe(true);
});

test.each<[string, Buffer, string]>([
  ['png', PNG, 'image/png'],
  ['jpg', Buffer.from('ffd8ffc0000b080001000101000000ffda0002ffd9', 'hex'), 'image/jpeg'],
  ['gif', Buffer.from('GIF89a\x01\x00\x01\x00\x00\x00\x00;', 'latin1'), 'image/gif'],
  ['webp', Buffer.from(`RIFF\x16\0\0\0WEBPVP8L\x0a\0\0\0${'\x01'.repeat(10)}`, 'latin1'), 'image/webp'],
])('a %s comes as an image, whatever its name', async (_, data, type) => {
  const cwd = directoryWith({ 'picture.dat': data });
  const source = { type: 'base64', media_type: type, data: data.toString('base64') };
  expect(await call(READ, { file_path: 'picture.dat' }, worldIn(cwd))).toEqual({
    content: [{ type: 'image', source }],
    isError: false,
    programResult: {
      type: 'image',
      file: {
        base64: source.data,
        type,
        originalSize: data.length,
        dimensions: expect.objectContaining({ originalWidth: expect.any(Number) }),
      },
    },
  });
});

test('an empty file is reported as empty and counts as read', async () => {
  const cwd = directoryWith({ f: '' });
  const world = worldIn(cwd);
  expect(await call(READ, { file_path: 'f' }, world)).toMatchObject(done(`${cwd}/f is empty (0 bytes)`));
  expect(world.files.knows(`${cwd}/f`, digestOf(Buffer.alloc(0)))).toBe('current');
});

test.each<[string, Record<string, unknown>, string]>([
  ['a directory', { file_path: 'd' }, 'CWD/d is a directory: list its files with Glob'],
  [
    'a binary file',
    { file_path: 'd/binary' },
    'CWD/d/binary is a binary file: use Bash with a program that supports its format',
  ],
  ['a missing file', { file_path: 'nothing' }, 'CWD/nothing does not exist'],
  [
    'a slip of the pen',
    { file_path: 'd/txet.md' },
    'CWD/d/txet.md does not exist: did you mean CWD/d/text.md?',
  ],
  ['no word of what is hidden', { file_path: 'd/hiden' }, 'CWD/d/hiden does not exist'],
  [
    'a column too far',
    { file_path: 'd/text.md', offset: 2, column: 2 },
    'Line 2 of CWD/d/text.md has 1 characters: column 2 is beyond its end',
  ],
  [
    'half an image',
    { file_path: 'd/half.png' },
    'CWD/d/half.png is a binary file: use Bash with a program that supports its format',
  ],
  ['below a file', { file_path: 'd/text.md/x' }, 'A parent of the path is not a directory: CWD/d/text.md/x'],
  [
    'a link',
    { file_path: 'link' },
    'CWD/link leads through a symbolic link to CWD/d/text.md: use a path without symbolic links instead',
  ],
  [
    'through a link',
    { file_path: 'l/text.md' },
    'CWD/l/text.md leads through a symbolic link to CWD/d/text.md: use a path without symbolic links instead',
  ],
  ['a pipe', { file_path: 'pipe' }, 'CWD/pipe is not a regular file'],
  [
    'a huge file',
    { file_path: 'huge' },
    'CWD/huge has 33554433 bytes, more than the limit of 33554432: use Grep or Bash instead',
  ],
  [
    'an image without its end',
    { file_path: 'd/cut.png' },
    'CWD/d/cut.png is a truncated image: create or download it again',
  ],
  [
    'a huge image',
    { file_path: 'huge.png' },
    'CWD/huge.png is an image of 3750001 bytes, more than 3750000: reduce its size first',
  ],
])('refuses, and explains: %s', async (_, input, fault) => {
  const cwd = directoryWith({
    'd/text.md': 'a\nb\n',
    'd/binary': Buffer.from([1, 0, 2]),
    'd/hidden': '',
    'd/half.png': PNG.subarray(0, 20),
    'd/cut.png': PNG.subarray(0, 40),
    huge: '',
    'huge.png': PNG,
  });
  symlinkSync('d/text.md', `${cwd}/link`);
  symlinkSync('d', `${cwd}/l`);
  execFileSync('sh', ['-c', 'mkfifo "$0"', `${cwd}/pipe`]);
  truncateSync(`${cwd}/huge`, 33_554_433);
  truncateSync(`${cwd}/huge.png`, 3_750_001);
  const world = worldIn(cwd, { isReadable: (path) => !path.endsWith('hidden') });
  expect(await call(READ, input, world)).toEqual(failed(fault.replaceAll('CWD', cwd)));
});
