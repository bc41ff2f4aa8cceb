import { chmodSync, readFileSync, statSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EDIT, replaceText } from '../../../../src/agent/builtins/files/edit.ts';
import { READ } from '../../../../src/agent/builtins/files/read.ts';

import { call, directoryWith, done, failed, put, worldIn } from '../built-in-world.ts';

async function worldThatRead(content: string | Buffer) {
  const cwd = directoryWith({ f: content });
  const world = worldIn(cwd);
  await call(READ, { file_path: 'f' }, world);
  return { cwd, world, now: () => readFileSync(`${cwd}/f`, 'utf8') };
}

test('replaces one place, keeps the mode, and knows the file afterwards', async () => {
  const { cwd, world, now } = await worldThatRead('a b a\n');
  chmodSync(`${cwd}/f`, 0o754);
  const first = { file_path: 'f', old_string: 'b', new_string: "$& $1 $$ $` $'" };
  expect(await call(EDIT, first, world)).toMatchObject(done(`The file f has been updated successfully.`));
  expect(now()).toBe("a $& $1 $$ $` $' a\n");
  const second = { file_path: 'f', old_string: 'a', new_string: '', replace_all: true };
  expect(await call(EDIT, second, world)).toMatchObject(
    done(`The file f has been updated. All occurrences were successfully replaced.`),
  );
  expect(now()).toBe(" $& $1 $$ $` $' \n");
  expect(statSync(`${cwd}/f`).mode & 0o777).toBe(0o754);
});

test.each<[string, Record<string, unknown>, string]>([
  [
    'text that is not there',
    { old_string: 'c' },
    'old_string was not found in CWD/f: the text must match exactly, including white space',
  ],
  [
    'text that is there twice',
    { old_string: 'a' },
    'old_string occurs 2 times in CWD/f: include more context, or set replace_all',
  ],
  [
    'a replacement that is the same',
    { new_string: 'b' },
    'old_string and new_string are identical: change one of them',
  ],
  [
    'nothing to replace in a file with content',
    { old_string: '' },
    'CWD/f has content already: name the text to replace in old_string',
  ],
  ['a missing file', { file_path: 'g' }, 'CWD/g does not exist: create it with Write'],
])('changes nothing, and explains: %s', async (_, input, fault) => {
  const { cwd, world, now } = await worldThatRead('a b a\n');
  const outcome = await call(EDIT, { file_path: 'f', old_string: 'b', new_string: 'x', ...input }, world);
  expect(outcome).toEqual(failed(fault.replace('CWD', cwd)));
  expect(now()).toBe('a b a\n');
});

test('an empty old_string creates a file', async () => {
  const { cwd, world } = await worldThatRead('a');
  const input = { file_path: 'd/new', old_string: '', new_string: 'text' };
  expect(await call(EDIT, input, world)).toMatchObject(done('The file d/new has been updated successfully.'));
  expect(readFileSync(`${cwd}/d/new`, 'utf8')).toBe('text');
});

test('a file that was not read, or changed since, is not edited', async () => {
  const { cwd, world, now } = await worldThatRead('a');
  const input = { file_path: 'f', old_string: 'a', new_string: 'b' };
  expect(await call(EDIT, input, worldIn(cwd))).toEqual(
    failed(`${cwd}/f has not been read in this conversation: read it with Read first`),
  );
  put(`${cwd}/f`, 'aa');
  expect(await call(EDIT, input, world)).toEqual(
    failed(`${cwd}/f has changed since it was read: read it again with Read before changing it`),
  );
  expect(now()).toBe('aa');
});

test('bytes that are no text are not damaged', async () => {
  const bytes = Buffer.from([0x61, 0xe9, 0x62]);
  const { cwd, world } = await worldThatRead(bytes);
  expect(await call(EDIT, { file_path: 'f', old_string: 'a', new_string: 'c' }, world)).toEqual(
    failed(`${cwd}/f is not UTF-8 text and Edit would corrupt it: change the file with Bash`),
  );
  expect(readFileSync(`${cwd}/f`)).toEqual(bytes);
});

test.each<[string, string, string, string, string]>([
  ['a line end in both', 'a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz', 'x\r\ny\r\nz\r\nc\r\n'],
  ['a line end put in', 'a\r\nb\r\n', 'a', 'x\ny', 'x\r\ny\r\nb\r\n'],
  ['a line end as it is in the file', 'a\r\nb\r\n', 'a\r\nb', 'x\r\ny', 'x\r\ny\r\n'],
  ['the lesser kind in a mixed file', 'a\nb\r\nc\r\nd\r\n', 'a\nb', 'x\ny', 'x\ny\r\nc\r\nd\r\n'],
  ['signs of patterns', 'a.*\r\n$1\r\n', 'a.*\n$1', '$&\n$1', '$&\r\n$1\r\n'],
])('files with CRLF keep their line ends: %s', async (_, before, from, to, after) => {
  const { world, now } = await worldThatRead(before);
  expect((await call(EDIT, { file_path: 'f', old_string: from, new_string: to }, world)).isError).toBe(false);
  expect(now()).toBe(after);
});

const piece = fc.string({
  unit: fc.constantFrom('a', 'b', '$', '&', '\\', '.', '*', '(', '[', '\n'),
  maxLength: 6,
});

test('replacing is literal: the result is that of split and join', () => {
  fc.assert(
    fc.property(
      piece,
      piece.filter((it) => it !== ''),
      piece,
      piece,
      (head, from, to, tail) => {
        const text = head + from + tail;
        const parts = text.split(from);
        expect(replaceText(text, from, to)).toEqual({ text: parts.join(to), times: parts.length - 1 });
      },
    ),
  );
});

test('a file with CRLF is edited as the same file with LF would be', () => {
  const crlf = (text: string) => text.replaceAll('\n', '\r\n');
  fc.assert(
    fc.property(
      piece,
      piece.filter((it) => it !== ''),
      piece,
      piece,
      (head, from, to, tail) => {
        const text = `${head}${from}${tail}\nend\n`;
        const { text: expected, times } = replaceText(text, from, to);
        expect(replaceText(crlf(text), from, to)).toEqual({ text: crlf(expected), times });
      },
    ),
  );
});

test.each([
  ['LF', 'a'.repeat(2_000_000)],
  ['CRLF', `${'a'.repeat(2_000_000)}\r\n`],
])('a text that almost occurs at every place is looked for in linear time (%s)', (_, text) => {
  expect(replaceText(text, `b${'a'.repeat(500_000)}`, 'x')).toEqual({ text, times: 0 });
});
