import { isRecord } from '../../../base/json-value.ts';
import { diffLines } from '../../../base/text/line-diff.ts';
import { keptLine, line, type Piece, type Tone } from '../render.ts';

/** The changed parts of a file as rows with line numbers, and the numbers of added and removed lines. */
export type ShownDiff = {
  readonly pieces: readonly Piece[];
  readonly added: number;
  readonly removed: number;
};

type Hunk = { readonly oldStart: number; readonly newStart: number; readonly lines: readonly string[] };

/** Parses the hunks of a tool result; `undefined` if there are none. */
export function parseHunks(value: unknown): Hunk[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const hunks = value.filter(isRecord).flatMap(({ oldStart, newStart, lines }) => {
    const isValid = typeof oldStart === 'number' && typeof newStart === 'number' && Array.isArray(lines);
    return isValid ? [{ oldStart, newStart, lines: lines.map(String) }] : [];
  });
  return hunks.length > 0 ? hunks : undefined;
}

/** The hunks of a change from one part of a text to another. */
export function hunksBetween(before: string, after: string): Hunk[] {
  return diffLines(ended(before), ended(after));
}

/** Adds a line end, so that the diff of a part of a text does not report a missing one. */
function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Shows hunks. Each row has the number of its line in the new file, or of a removed line in the old one. */
export function showDiff(hunks: readonly Hunk[], indent = '    '): ShownDiff {
  const widest = String(
    Math.max(1, ...hunks.map(({ newStart, oldStart, lines }) => Math.max(newStart, oldStart) + lines.length)),
  ).length;
  let added = 0;
  let removed = 0;
  const pieces = hunks.flatMap(({ oldStart, newStart, lines }, index) => {
    let old = oldStart;
    let now = newStart;
    const rows = lines.map((text) => {
      const sign = text[0] ?? ' ';
      // The mark of a missing line end has no line number.
      if (sign === '\\') return line([`${indent}${' '.repeat(widest)} ${text}`, 'dim']);
      const number = sign === '-' ? old : now;
      if (sign !== '+') old += 1;
      if (sign !== '-') now += 1;
      if (sign === '+') added += 1;
      if (sign === '-') removed += 1;
      return keptLine(indent, [`${String(number).padStart(widest)} `, 'dim'], [text, TONES[sign] ?? 'plain']);
    });
    return index === 0 ? rows : [line([`${indent}${'⋮'.padStart(widest)}`, 'dim']), ...rows];
  });
  return { pieces, added, removed };
}

const TONES: Readonly<Record<string, Tone>> = { '+': 'added', '-': 'removed' };
