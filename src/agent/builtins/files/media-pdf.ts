import type { FileReadOutput } from '../../../protocol/tools/file-tools.ts';
import { failedOutcome, type ToolOutcome } from '../../loop/run-calls.ts';
import { openPdf } from './media-pdf-pages.ts';

/** How many pages a range may have; a page takes about as many tokens as an image and the text of the page. */
const MAX_RANGE_PAGES = 20;
/** How many pages a model API accepts in one document. */
const MAX_DOCUMENT_PAGES = 100;
/** Limit of the data for the model; a request may have 32 MB, and base64 adds a third. */
const MAX_BYTES = 10_000_000;

/** The outcome of reading a PDF file: a document block with the whole file, or with the pages of a range such as `3-7`. */
export function pdfOutcome(
  { path, givenPath }: { readonly path: string; readonly givenPath: string },
  bytes: Buffer,
  range: string | undefined,
): ToolOutcome {
  const opened = openPdf(bytes);
  if (opened.kind === 'encrypted') {
    return failedOutcome(`${path} is an encrypted PDF: save a copy without a password and read that`);
  }
  if (opened.kind === 'damaged') {
    return failedOutcome(
      `Cannot read ${path} as a PDF: ${opened.why}. Extract its text with Bash, or create the file again`,
    );
  }
  const { count } = opened.pages;
  const pages = range ? parsePageRange(range, count) : { first: 1, last: count };
  if ('fault' in pages)
    return failedOutcome(`Cannot read "pages" ${JSON.stringify(range)} of ${path}: ${pages.fault}`);
  const { first, last } = pages;
  if (last - first >= (range ? MAX_RANGE_PAGES : MAX_DOCUMENT_PAGES)) {
    const requested = range ? `"pages" selects ${last - first + 1} pages` : `${path} has ${count} pages`;
    const example = `${first}-${first + MAX_RANGE_PAGES - 1}`;
    return failedOutcome(
      `${requested}: set "pages" to at most ${MAX_RANGE_PAGES} of them, such as "${example}"`,
    );
  }
  const data = first === 1 && last === count ? bytes : opened.pages.extract(first, last, MAX_BYTES);
  if (data === 'too-large' || data.length > MAX_BYTES) {
    const remedy =
      first === last ? 'reduce the size of the images in the file first' : 'set "pages" to fewer pages';
    return failedOutcome(`Pages ${first} to ${last} of ${path} have more than ${MAX_BYTES} bytes: ${remedy}`);
  }
  const source = { type: 'base64', media_type: 'application/pdf', data: data.toString('base64') };
  const part = data === bytes ? '' : `, pages ${first} to ${last} of ${count}`;
  const programResult: FileReadOutput = {
    type: 'pdf',
    file: { filePath: givenPath, base64: source.data, originalSize: bytes.length },
  };
  return {
    content: [
      { type: 'text', text: `PDF file read: ${path} (${bytes.length} bytes)${part}` },
      { type: 'document', source },
    ],
    isError: false,
    programResult,
  };
}

/** The pages of a range: `3`, `3-7`, or `3-` up to the last page. An end beyond the last page is the last page. */
export function parsePageRange(
  range: string,
  count: number,
): { readonly first: number; readonly last: number } | { readonly fault: string } {
  const [, start, dash, end] = /^\s*(\d{1,9})\s*(-)?\s*(\d{1,9})?\s*$/.exec(range) ?? [];
  if (start === undefined || (end !== undefined && dash === undefined)) {
    return { fault: 'use a page or a range, such as "3" or "3-7"' };
  }
  const first = Number(start);
  const last = dash === undefined ? first : Math.min(end === undefined ? count : Number(end), count);
  if (first < 1) return { fault: 'pages are counted from 1' };
  if (first > count) return { fault: `the file has ${count} pages` };
  return first > last ? { fault: 'the range ends before it begins' } : { first, last };
}
