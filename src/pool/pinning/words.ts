import { sliceText } from '../../base/text/display-text.ts';
import { type Effort, fullEffort } from './effort.ts';
import { showHidden } from './hidden-text.ts';

/** What one text has that the other has not, as people read it. */
export type WordChanges = { readonly removed: readonly string[]; readonly added: readonly string[] };

/** Above this product of words the ends that differ are shown as one piece. */
const MAX_CELLS = 250_000;

/** The runs of words that were taken out and put in, in order; as one piece where that takes more than is left. */
export function wordChanges(before: string, after: string, effort: Effort): WordChanges {
  const [old, fresh] = [split(before), split(after)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  const most = Math.min(old.length, fresh.length) - start;
  while (end < most && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end++;
  const left = old.slice(start, old.length - end);
  const right = fresh.slice(start, fresh.length - end);
  const cells = left.length * right.length;
  if (cells > MAX_CELLS || cells > effort.cells) {
    return { removed: joined([left]), added: joined([right]) };
  }
  effort.cells -= cells;
  return byLongestCommon(left, right);
}

/** `added "…", removed "…"`: a few of the pieces, each cut, and how many words are not shown. */
export function sayWordChanges(before: string, after: string, effort: Effort = fullEffort()): string {
  const { removed, added } = wordChanges(before, after, effort);
  const parts = [
    ...(added.length > 0 ? [`added ${quote(added)}`] : []),
    ...(removed.length > 0 ? [`removed ${quote(removed)}`] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : 'only its spacing changed';
}

const MAX_PIECES = 3;
const MAX_PIECE = 120;

function quote(pieces: readonly string[]): string {
  const cut = pieces.slice(0, MAX_PIECES).map((piece) => pieceExcerpt(piece));
  const rest = pieces.slice(MAX_PIECES).flatMap(split).length;
  const hidden = cut.reduce((sum, { left }) => sum + left, rest);
  const texts = cut.map(({ text }) => `"${text}"`).join(' and ');
  return hidden === 0 ? texts : `${texts} and ${hidden} more ${hidden === 1 ? 'word' : 'words'}`;
}

/** Only the beginning is put in form: a piece may be all of a long text. */
function pieceExcerpt(piece: string): { text: string; left: number } {
  const begin = sliceText(piece, MAX_PIECE * 4);
  const text = showHidden(begin);
  if (text.length <= MAX_PIECE && begin.length === piece.length) return { text, left: 0 };
  const head = text.slice(0, MAX_PIECE).replace(/\S*$/, '').trimEnd();
  const begun = head === '' ? sliceText(text, MAX_PIECE - 20) : head;
  const said = head === '' ? 0 : split(head).length;
  return { text: `${begun}…`, left: Math.max(1, split(piece).length - said) };
}

function split(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== '');
}

function joined(runs: readonly (readonly string[])[]): string[] {
  return runs.filter((run) => run.length > 0).map((run) => run.join(' '));
}

/** The pieces between the words both have, found by their longest common subsequence. */
function byLongestCommon(left: readonly string[], right: readonly string[]): WordChanges {
  const [rows, columns] = numbered(left, right);
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] as number;
  for (let row = left.length - 1; row >= 0; row--) {
    for (let column = right.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        rows[row] === columns[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const removed: string[][] = [[]];
  const added: string[][] = [[]];
  let [row, column] = [0, 0];
  while (row < left.length || column < right.length) {
    if (row < left.length && column < right.length && left[row] === right[column]) {
      removed.push([]);
      added.push([]);
      row++;
      column++;
    } else if (column < right.length && (row === left.length || at(row, column + 1) >= at(row + 1, column))) {
      added.at(-1)?.push(right[column++] as string);
    } else removed.at(-1)?.push(left[row++] as string);
  }
  return { removed: joined(removed), added: joined(added) };
}

/** A number for each word, the same for the same: they are compared many times. */
function numbered(left: readonly string[], right: readonly string[]): [Uint32Array, Uint32Array] {
  const numbers = new Map<string, number>();
  const numberOf = (word: string) => {
    const known = numbers.get(word) ?? numbers.size;
    numbers.set(word, known);
    return known;
  };
  return [Uint32Array.from(left, numberOf), Uint32Array.from(right, numberOf)];
}
