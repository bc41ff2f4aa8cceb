import { sliceText } from '../../../base/text/display-text.ts';
import { absolutePath } from '../../../permissions/path.ts';
import type { FileReadOutput } from '../../../protocol/tools/file-tools.ts';
import { failedOutcome, type ToolOutcome } from '../../loop/run-calls.ts';
import { checkImage, type ImageType, imageSize } from '../../results/image-format.ts';
import { defineBuiltIn } from '../built-in.ts';

export const READ = defineBuiltIn({
  name: 'Read',
  description:
    'Reads a file. Text is returned as numbered lines (number, tab, line), at most 2000 lines per call: set offset and limit for ' +
    'more, and column for the rest of a long line. PNG, JPEG, GIF and WebP files are returned as an image, PDF files as ' +
    'a document: set pages for a part of a long one. Jupyter notebooks are returned as their cells and outputs. A file must be read before Edit or Write may change it.',
  annotations: { title: 'Read a file', readOnlyHint: true },
  required: {
    file_path: {
      type: 'string',
      minLength: 1,
      description: 'The path of the file; a relative path is resolved against the working directory.',
    },
  },
  optional: {
    offset: { type: 'integer', minimum: 0, description: 'The first line to return, counted from 1.' },
    limit: { type: 'integer', minimum: 1, description: 'The number of lines; 2000 by default.' },
    column: {
      type: 'integer',
      minimum: 1,
      description: 'The first character to return of the first line, counted from 1.',
    },
    pages: {
      type: 'string',
      description: 'For PDF files: a page or a range of at most 20 pages, such as "3" or "3-7".',
    },
  },
  pathMember: 'file_path',
  async run({ file_path, offset: given = 1, limit, column, pages }, context, signal) {
    const offset = Math.max(1, given);
    const path = absolutePath(file_path, context.workspace);
    const { readReal, missingFault } = await import('./real-file.ts');
    const file = await readReal(path, signal);
    if (file.kind === 'refused') return failedOutcome(file.fault);
    if (file.kind === 'missing') return failedOutcome(await missingFault(path, context));
    const names = { path, givenPath: context.givenPath ?? file_path };
    const outcome = await outcomeOf(names, file.bytes, { offset, limit, column, pages });
    if (!outcome.isError) context.files.remember(path, file.digest);
    return outcome;
  },
});

/** The real path, and the path as the model wrote it. */
type FileNames = { readonly path: string; readonly givenPath: string };

type FilePart = LinePart & { readonly pages?: string | undefined };

async function outcomeOf(names: FileNames, bytes: Buffer, part: FilePart): Promise<ToolOutcome> {
  const { path } = names;
  if (isPdf(path, bytes)) {
    const { pdfOutcome } = await import('./media-pdf.ts');
    return pdfOutcome(names, bytes, part.pages);
  }
  if (/\.ipynb$/i.test(path) && part.offset === 1 && part.limit === undefined) {
    const { parseNotebook, renderNotebook, describeCells } = await import('./notebook.ts');
    const notebook = parseNotebook(bytes.toString('utf8'));
    if (!('fault' in notebook)) {
      const file = { filePath: names.givenPath, cells: describeCells(notebook) };
      return { content: renderNotebook(notebook), isError: false, programResult: { type: 'notebook', file } };
    }
  }
  const seen = checkImage(bytes);
  if (seen.kind === 'none') return textOutcome(names, bytes, part);
  if (seen.kind === 'image') return imageOutcome(bytes, seen.type);
  if (seen.kind === 'truncated')
    return failedOutcome(`${path} is a truncated image: create or download it again`);
  return failedOutcome(`${path} is an image of ${seen.why}: reduce its size first`);
}

/** Whether a file is a PDF. Some programs write a few bytes before the header; a text file may contain the header too. */
function isPdf(path: string, bytes: Buffer): boolean {
  const at = bytes.subarray(0, MAX_PDF_HEADER_OFFSET).indexOf('%PDF-');
  return at === 0 || (at > 0 && /\.pdf$/i.test(path));
}

const MAX_PDF_HEADER_OFFSET = 1_024;

function imageOutcome(bytes: Buffer, type: ImageType): ToolOutcome {
  const source = { type: 'base64', media_type: type, data: bytes.toString('base64') };
  const size = imageSize(bytes, type);
  const dimensions = size && {
    originalWidth: size.width,
    originalHeight: size.height,
    displayWidth: size.width,
    displayHeight: size.height,
  };
  const programResult: FileReadOutput = {
    type: 'image',
    file: { base64: source.data, type, originalSize: bytes.length, ...(dimensions && { dimensions }) },
  };
  return { content: [{ type: 'image', source }], isError: false, programResult };
}

function textOutcome({ path, givenPath }: FileNames, bytes: Buffer, part: LinePart): ToolOutcome {
  const file = { filePath: givenPath, content: '', numLines: 1, startLine: 1, totalLines: 1 };
  if (bytes.length === 0) {
    const programResult: FileReadOutput = { type: 'text', file };
    return { content: `${path} is empty (0 bytes)`, isError: false, programResult };
  }
  if (bytes.subarray(0, 8192).includes(0)) {
    return failedOutcome(`${path} is a binary file: use Bash with a program that supports its format`);
  }
  const numbered = numberLines(bytes.toString('utf8'), part);
  if (numbered.kind === 'beyond') {
    const { lines, totalLines } = numbered;
    const empty = { ...file, numLines: 0, startLine: part.offset, totalLines };
    return {
      content: `<system-reminder>${path} has ${lines} lines: offset ${part.offset} is beyond its end</system-reminder>`,
      isError: false,
      programResult: { type: 'text', file: empty } satisfies FileReadOutput,
    };
  }
  if (numbered.kind === 'beyond-line') {
    const { offset, column } = part;
    return failedOutcome(
      `Line ${offset} of ${path} has ${numbered.characters} characters: column ${column} is beyond its end`,
    );
  }
  const { text, lines, totalLines } = numbered;
  const shown = { content: lines.join('\n').toWellFormed(), numLines: lines.length, startLine: part.offset };
  const programResult: FileReadOutput = { type: 'text', file: { ...file, ...shown, totalLines } };
  return { content: text, isError: false, programResult };
}

const MAX_LINES = 2000;
const MAX_LINE_LENGTH = 2000;
/** Limit for a line that is requested with `column`. */
const MAX_PART_LENGTH = 50_000;
/** Limit for all lines of one call. */
const MAX_CHARACTERS = 256_000;

/** The requested part; offset and column count from 1. */
type LinePart = {
  readonly offset: number;
  readonly limit?: number | undefined;
  /** Applies to the first line only. */
  readonly column?: number | undefined;
};

type NumberedLines =
  | {
      readonly kind: 'lines';
      readonly text: string;
      /** The shown part of each line, without numbers and notes; a line end at the end of the file begins a last, empty line. */
      readonly lines: readonly string[];
      readonly totalLines: number;
    }
  | { readonly kind: 'beyond'; readonly lines: number; readonly totalLines: number }
  | { readonly kind: 'beyond-line'; readonly characters: number };

/** A part of a text with the numbers of its lines, and with notes on how to read omitted parts. */
export function numberLines(text: string, part: LinePart): NumberedLines {
  const { offset, limit = MAX_LINES, column = 1 } = part;
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  const totalLines = lines.length;
  if (lines.at(-1) === '') lines.pop();
  if (offset > lines.length) return { kind: 'beyond', lines: lines.length, totalLines };
  const first = ended(lines[offset - 1] as string);
  if (column > 1 && column > first.length) return { kind: 'beyond-line', characters: first.length };
  const shown: string[] = [];
  const parts: string[] = [];
  let characters = 0;
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    const number = offset + shown.length;
    const { part: content, note } = cut(ended(line), number, shown.length === 0 ? column : 1);
    const numbered = `${number}\t${content}${note}`;
    characters += numbered.length + 1;
    if (characters > MAX_CHARACTERS) break;
    shown.push(numbered);
    parts.push(content);
  }
  const next = offset + shown.length;
  // A call with a limit needs no note: the model that set the limit knows that there may be more.
  if (next <= lines.length && parts.length !== part.limit) {
    shown.push(`[Lines ${next} to ${lines.length} omitted: use Read with offset ${next} for more.]`);
  }
  if (next > lines.length && totalLines > lines.length && parts.length < limit) {
    parts.push('');
    shown.push(`${totalLines}\t`);
  }
  return { kind: 'lines', text: shown.join('\n').toWellFormed(), lines: parts, totalLines };
}

function ended(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

function cut(line: string, number: number, column: number): { part: string; note: string } {
  const maxLength = column > 1 ? MAX_PART_LENGTH : MAX_LINE_LENGTH;
  const start = column - 1;
  if (line.length - start <= maxLength) return { part: line.slice(start), note: '' };
  const part = sliceText(line.slice(start), maxLength);
  const next = start + part.length;
  const more = `${line.length - next} more characters of this line omitted`;
  return { part, note: ` [${more}: use Read with offset ${number} and column ${next + 1}]` };
}
