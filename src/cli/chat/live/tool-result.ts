import { isRecord } from '../../../base/json-value.ts';
import { parseHunks, showDiff } from '../../terminal/markdown/diff.ts';
import { keptLine, line, type Piece, type Span } from '../../terminal/render.ts';
import { withoutColors } from '../../terminal/terminal-text.ts';

type ResultBlock = { readonly type: string; readonly text?: string };

/** A tool result as the chat shows it. */
export type ShownResult = {
  /** Shown beside the name of the tool: the first line, or what changed in a file. */
  readonly head: readonly Span[];
  /** The first rows, shown below `head`. */
  readonly body: readonly Piece[];
  /** All rows, if `body` does not have all of them. */
  readonly all?: readonly Piece[];
};

/** How many rows of an output, and of a change of a file, are shown. */
const FIRST_ROWS = 3;
const FIRST_DIFF_ROWS = 20;
/** How many rows of one result are kept, and how many characters of a row. */
const MAX_ROWS = 2000;
const MAX_ROW_LENGTH = 2000;
/** How many characters of a row are shown at the start of an output. */
const MAX_FIRST_LENGTH = 240;
const HOW_TO_EXPAND = 'Ctrl-O or /expand shows';

/** Shows the start of a result; `output` is its structured form. The text of an error is shown in full. */
export function showResult(
  content: string | readonly ResultBlock[] | undefined,
  output: unknown,
  indent = '    ',
  isError = false,
): ShownResult {
  const maxLength = isError ? MAX_ROW_LENGTH : MAX_FIRST_LENGTH;
  const change = isRecord(output) ? showChange(output, indent) : undefined;
  if (change) return change;
  const given = typeof content === 'string' ? content : (content ?? []).map(textOf).join('\n');
  const every = withoutColors(given).replace(/\n+$/, '').split('\n');
  const rows = every.filter((row) => row.trim() !== '');
  const [first = '(no output)', ...rest] = rows;
  const outputRow = (row: string) => keptLine(indent, [row, 'dim']);
  const all = () => every.slice(0, MAX_ROWS).map((row) => outputRow(shorten(row, MAX_ROW_LENGTH)));
  const read = isRecord(output) && isRecord(output.file) ? output.file.numLines : undefined;
  // The user can read the content in the file, so that only the number of lines is shown.
  if (typeof read === 'number') {
    return { head: [`${read} ${read === 1 ? 'line' : 'lines'}`], body: [], all: all() };
  }
  const { body, isFolded } = fold(
    rest.slice(0, MAX_ROWS).map((row) => outputRow(shorten(row, maxLength))),
    FIRST_ROWS - 1,
    indent,
  );
  const isCut = rows.slice(0, FIRST_ROWS + 1).some((row) => row.length > maxLength);
  const hint = isCut && !isFolded ? [line([`${indent}… shortened (${HOW_TO_EXPAND} it)`, 'dim'])] : [];
  return {
    head: [shorten(first, maxLength)],
    body: [...body, ...hint],
    ...((isFolded || isCut) && { all: all() }),
  };
}

function shorten(row: string, max: number): string {
  return row.length > max ? `${row.slice(0, max).replace(/[\ud800-\udbff]$/, '')}…` : row;
}

/** What Edit and Write changed. A new file has no parts, and its whole content is new. */
function showChange(output: Readonly<Record<string, unknown>>, indent: string): ShownResult | undefined {
  const { filePath, structuredPatch, type, content } = output;
  if (typeof filePath !== 'string') return undefined;
  const isNew = type === 'create' && typeof content === 'string';
  const lines = isNew
    ? content
        .replace(/\n$/, '')
        .split('\n')
        .map((row) => `+${row}`)
    : [];
  const hunks = isNew ? [{ oldStart: 1, newStart: 1, lines }] : parseHunks(structuredPatch);
  if (!hunks) return undefined;
  const { pieces, added, removed } = showDiff(hunks, indent);
  const head: Span[] = [
    `${filePath} `,
    [`+${added}`, 'added'],
    ...(isNew ? [' new file'] : [' ', [`−${removed}`, 'removed'] as const]),
  ];
  const kept = pieces.slice(0, MAX_ROWS);
  const { body, isFolded } = fold(kept, FIRST_DIFF_ROWS, indent);
  return { head, body, ...(isFolded && { all: kept }) };
}

function fold(
  all: readonly Piece[],
  first: number,
  indent: string,
): { readonly body: readonly Piece[]; readonly isFolded: boolean } {
  // A single further row is shown, since the line about hidden rows would take the same place.
  if (all.length <= first + 1) return { body: all, isFolded: false };
  const more = line([`${indent}… ${all.length - first} more lines (${HOW_TO_EXPAND} them)`, 'dim']);
  return { body: [...all.slice(0, first), more], isFolded: true };
}

function textOf(block: ResultBlock): string {
  return block.type === 'text' ? (block.text ?? '') : `[${block.type}]`;
}
