/** A hunk of a unified diff; its lines begin with a space, `-` or `+`. */
export type DiffHunk = {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
};

/** Beyond this number of changed lines, the whole changed part is shown as replaced: the search takes quadratic time. */
const MAX_EDITS = 1_000;
const NO_NEWLINE = '\\ No newline at end of file';

/** The differences of two texts as hunks with `context` unchanged lines around each change. */
export function diffLines(before: string, after: string, context = 3): DiffHunk[] {
  const old = splitLines(before);
  const now = splitLines(after);
  const hunks: DiffHunk[] = [];
  for (const group of groupEdits(findEdits(old, now), context)) {
    const first = group[0] as Edit;
    const last = group.at(-1) as Edit;
    const lead = Math.min(context, first.oldStart);
    const oldEnd = Math.min(old.length, last.oldEnd + context);
    const lines: string[] = [];
    let at = first.oldStart - lead;
    for (const edit of group) {
      push(lines, ' ', old, at, edit.oldStart);
      push(lines, '-', old, edit.oldStart, edit.oldEnd);
      push(lines, '+', now, edit.newStart, edit.newEnd);
      at = edit.oldEnd;
    }
    push(lines, ' ', old, at, oldEnd);
    hunks.push({
      oldStart: first.oldStart - lead + 1,
      oldLines: oldEnd - first.oldStart + lead,
      newStart: first.newStart - lead + 1,
      newLines: last.newEnd + (oldEnd - last.oldEnd) - first.newStart + lead,
      lines,
    });
  }
  return hunks;
}

/** Lines with their line ends, so that a missing line end at the end of the text is a difference. */
function splitLines(text: string): string[] {
  const lines = text.split('\n');
  const last = lines.pop() as string;
  const ended = lines.map((line) => `${line}\n`);
  return last === '' ? ended : [...ended, last];
}

function push(output: string[], mark: string, lines: readonly string[], from: number, to: number): void {
  for (const line of lines.slice(from, to)) {
    if (line.endsWith('\n')) output.push(`${mark}${line.slice(0, -1)}`);
    else output.push(`${mark}${line}`, NO_NEWLINE);
  }
}

/** A run of old lines that is replaced by a run of new lines; the ends are exclusive. */
type Edit = { oldStart: number; oldEnd: number; newStart: number; newEnd: number };

/** Edits whose unchanged lines in between fit into the context of both are shown in one hunk. */
function groupEdits(edits: readonly Edit[], context: number): Edit[][] {
  const groups: Edit[][] = [];
  for (const edit of edits) {
    const group = groups.at(-1);
    const previous = group?.at(-1);
    if (group && previous && edit.oldStart - previous.oldEnd <= context * 2) group.push(edit);
    else groups.push([edit]);
  }
  return groups;
}

function findEdits(old: readonly string[], now: readonly string[]): Edit[] {
  let start = 0;
  const shorter = Math.min(old.length, now.length);
  while (start < shorter && old[start] === now[start]) start++;
  let same = 0;
  while (same < shorter - start && old[old.length - 1 - same] === now[now.length - 1 - same]) same++;
  const [oldEnd, newEnd] = [old.length - same, now.length - same];
  if (start === oldEnd && start === newEnd) return [];
  const whole = [{ oldStart: start, oldEnd, newStart: start, newEnd }];
  if (start === oldEnd || start === newEnd) return whole;
  const found = shortestEdits(old.slice(start, oldEnd), now.slice(start, newEnd));
  return (
    found?.map((edit) => ({
      oldStart: edit.oldStart + start,
      oldEnd: edit.oldEnd + start,
      newStart: edit.newStart + start,
      newEnd: edit.newEnd + start,
    })) ?? whole
  );
}

/** The algorithm of Myers: `reach[d][k]` is the last old line that `d` edits reach on diagonal `k`. */
function shortestEdits(old: readonly string[], now: readonly string[]): Edit[] | undefined {
  const reach: Map<number, number>[] = [];
  for (let edits = 0; edits <= Math.min(old.length + now.length, MAX_EDITS); edits++) {
    const reached = new Map<number, number>();
    reach.push(reached);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = edits === 0 ? 0 : startOf(reach[edits - 1] as Map<number, number>, diagonal);
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x++;
      reached.set(diagonal, x);
      if (x >= old.length && x - diagonal >= now.length) return trace(reach, old.length, now.length);
    }
  }
  return undefined;
}

/** Where a diagonal is entered: by an insertion from the diagonal above, or by a deletion from the one below. */
function startOf(before: ReadonlyMap<number, number>, diagonal: number): number {
  return isInsertion(before, diagonal)
    ? (before.get(diagonal + 1) as number)
    : (before.get(diagonal - 1) as number) + 1;
}

function isInsertion(before: ReadonlyMap<number, number>, diagonal: number): boolean {
  return (before.get(diagonal - 1) ?? Number.NEGATIVE_INFINITY) < (before.get(diagonal + 1) ?? -1);
}

/** Follows the path back from the end and joins adjacent insertions and deletions. */
function trace(reach: readonly ReadonlyMap<number, number>[], oldEnd: number, newEnd: number): Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [oldEnd, newEnd];
  for (let step = reach.length - 1; step > 0; step--) {
    const before = reach[step - 1] as ReadonlyMap<number, number>;
    const inserts = isInsertion(before, x - y);
    const diagonal = x - y + (inserts ? 1 : -1);
    const oldStart = before.get(diagonal) as number;
    const newStart = oldStart - diagonal;
    const single = inserts
      ? { oldStart, oldEnd: oldStart, newStart, newEnd: newStart + 1 }
      : { oldStart, oldEnd: oldStart + 1, newStart, newEnd: newStart };
    const next = edits.at(-1);
    if (next && next.oldStart === single.oldEnd && next.newStart === single.newEnd) {
      next.oldStart = single.oldStart;
      next.newStart = single.newStart;
    } else edits.push(single);
    [x, y] = [oldStart, newStart];
  }
  return edits.reverse();
}
