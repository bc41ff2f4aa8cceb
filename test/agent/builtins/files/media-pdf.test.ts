import { expect, test } from 'vitest';
import { parsePageRange } from '../../../../src/agent/builtins/files/media-pdf.ts';
import { openPdf } from '../../../../src/agent/builtins/files/media-pdf-pages.ts';
import { READ } from '../../../../src/agent/builtins/files/read.ts';
import type { ToolOutcome } from '../../../../src/agent/loop/run-calls.ts';
import { isRecord } from '../../../../src/base/json-value.ts';
import { call, directoryWith, failed, worldIn } from '../built-in-world.ts';
import { pdfFile } from './pdf-file.ts';

/** The PDF file in an outcome. */
function documentOf({ content }: ToolOutcome): Buffer {
  const block = Array.isArray(content) ? content.find(({ type }) => type === 'document') : undefined;
  const source = block && 'source' in block && isRecord(block.source) ? block.source : {};
  return Buffer.from(String(source.data), 'base64');
}

function pageCount(bytes: Buffer): number {
  const opened = openPdf(bytes);
  return opened.kind === 'pages' ? opened.pages.count : 0;
}

test('a PDF file comes as a document with its bytes', async () => {
  const bytes = pdfFile(25);
  const cwd = directoryWith({ 'a.pdf': bytes });
  const data = bytes.toString('base64');
  expect(await call(READ, { file_path: 'a.pdf' }, worldIn(cwd))).toEqual({
    content: [
      { type: 'text', text: `PDF file read: ${cwd}/a.pdf (${bytes.length} bytes)` },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } },
    ],
    isError: false,
    programResult: {
      type: 'pdf',
      file: { filePath: 'a.pdf', base64: data, originalSize: bytes.length },
    },
  });
});

test('a range of pages comes as a document of these pages only', async () => {
  const cwd = directoryWith({ 'a.pdf': pdfFile(25) });
  const outcome = await call(READ, { file_path: 'a.pdf', pages: '3-5' }, worldIn(cwd));
  const part = documentOf(outcome);
  expect(outcome.isError).toBe(false);
  expect(pageCount(part)).toBe(3);
  expect(
    part
      .toString('latin1')
      .match(/Page \d+\./g)
      ?.toSorted(),
  ).toEqual(['Page 3.', 'Page 4.', 'Page 5.']);
});

test('a file whose tables are damaged is searched for its pages', async () => {
  const bytes = Buffer.from(
    pdfFile(3)
      .toString('latin1')
      .replace(/startxref\n\d+/, 'startxref\n7'),
    'latin1',
  );
  const cwd = directoryWith({ 'a.pdf': bytes });
  const outcome = await call(READ, { file_path: 'a.pdf', pages: '2' }, worldIn(cwd));
  expect(
    documentOf(outcome)
      .toString('latin1')
      .match(/Page \d+\./g),
  ).toEqual(['Page 2.']);
});

test('a text file that contains the header of PDF files is read as text', async () => {
  const cwd = directoryWith({ 'notes.md': 'The header is %PDF-1.7\n' });
  expect(await call(READ, { file_path: 'notes.md' }, worldIn(cwd))).toMatchObject({
    programResult: { type: 'text' },
  });
});

test.each<[string, Record<string, unknown>, string]>([
  [
    'too many pages',
    { file_path: 'long.pdf' },
    'CWD/long.pdf has 101 pages: set "pages" to at most 20 of them, such as "1-20"',
  ],
  [
    'too long a range',
    { file_path: 'long.pdf', pages: '5-25' },
    '"pages" selects 21 pages: set "pages" to at most 20 of them, such as "5-24"',
  ],
  [
    'a range that is none',
    { file_path: 'long.pdf', pages: 'all' },
    'Cannot read "pages" "all" of CWD/long.pdf: use a page or a range, such as "3" or "3-7"',
  ],
  [
    'an encrypted file',
    { file_path: 'secret.pdf' },
    'CWD/secret.pdf is an encrypted PDF: save a copy without a password and read that',
  ],
  [
    'a damaged file',
    { file_path: 'bad.pdf' },
    expect.stringMatching(
      /^Cannot read .*bad\.pdf as a PDF: .+\. Extract its text with Bash, or create the file again$/,
    ),
  ],
])('refuses, and explains: %s', async (_, input, fault) => {
  const cwd = directoryWith({
    'long.pdf': pdfFile(101),
    'secret.pdf': pdfFile(1, { trailer: '/Encrypt << /Filter /Standard >> ' }),
    'bad.pdf': '%PDF-1.4 nothing',
  });
  const expected = typeof fault === 'string' ? fault.replaceAll('CWD', cwd) : fault;
  expect(await call(READ, input, worldIn(cwd))).toEqual(failed(expected));
});

test.each([
  ['3', { first: 3, last: 3 }],
  ['3-7', { first: 3, last: 7 }],
  [' 3 - 99 ', { first: 3, last: 10 }],
  ['8-', { first: 8, last: 10 }],
  ['0', { fault: 'pages are counted from 1' }],
  ['11', { fault: 'the file has 10 pages' }],
  ['7-3', { fault: 'the range ends before it begins' }],
  ['1,3', { fault: 'use a page or a range, such as "3" or "3-7"' }],
  ['3 7', { fault: 'use a page or a range, such as "3" or "3-7"' }],
])('the pages %j of ten', (range, expected) => {
  expect(parsePageRange(range, 10)).toEqual(expected);
});
