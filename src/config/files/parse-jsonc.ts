import type { Position } from '../model.ts';
import {
  endOfLine,
  findDuplicates,
  type JsonNode,
  memberNamed,
  readTree,
  valueAt,
  valueOfNode,
} from './json-tree.ts';

/** The value of a JSON text with comments and trailing commas, and the positions in it. */
export type ParsedJson = {
  /** The value before the first fault; undefined if the text only has whitespace and comments. */
  readonly value: unknown;
  /** The first syntax error, if any. It contains nothing of the text, which may be secret. */
  readonly faults: readonly { readonly message: string; readonly position: Position }[];
  /** Duplicate keys in the same object, of which the last one is used; at most 20. */
  readonly duplicates: readonly Duplicate[];
  /** The position of the value at a key path; for a member of an object, of its key. */
  locate(path: readonly (string | number)[]): Position | undefined;
};

/** A key that occurs earlier in the same object, and its position. */
type Duplicate = { readonly path: readonly (string | number)[]; readonly position: Position };

/** The byte order mark, with which some editors start files; it is not part of the JSON text. */
export const BOM = '\uFEFF';

/** Maximum number of duplicates that are reported. */
const MAX_DUPLICATES = 20;

export function parseJsonc(text: string): ParsedJson {
  const body = text.startsWith(BOM) ? text.slice(1) : text;
  const currentTree = weakly(() => ({ ...readTree(body), positionAt: positionsIn(body) }));
  const { root, fault, positionAt } = currentTree();
  const duplicates = root ? findDuplicates(root, MAX_DUPLICATES) : [];
  return {
    value: root && valueOfNode(root),
    faults: fault ? [{ message: fault.message, position: positionAt(fault.offset) }] : [],
    duplicates: duplicates.map(({ path, offset }) => ({ path, position: positionAt(offset) })),
    locate(path) {
      const tree = currentTree();
      const offset = offsetOf(tree.root, path);
      return offset === undefined ? undefined : tree.positionAt(offset);
    },
  };
}

/**
 * Caches a value until it is garbage collected, then makes it again: a tree takes far more memory than its text, and a
 * configuration lives as long as the program.
 */
function weakly<T extends object>(make: () => T): () => T {
  let last: WeakRef<T> | undefined;
  return () => {
    const known = last?.deref();
    if (known) return known;
    const made = make();
    last = new WeakRef(made);
    return made;
  };
}

function offsetOf(root: JsonNode | undefined, path: readonly (string | number)[]): number | undefined {
  const parent = valueAt(root, path.slice(0, -1));
  const last = path.at(-1);
  const isMember = parent?.type === 'object' && last !== undefined;
  return (isMember ? memberNamed(parent, String(last)) : valueAt(root, path))?.offset;
}

/** Converts offsets to lines and columns as editors count them; the lines are found on first use. */
function positionsIn(text: string): (offset: number) => Position {
  let starts: readonly number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = endOfLine(text, 0); at < text.length; at = endOfLine(text, at)) {
    at += text.startsWith('\r\n', at) ? 2 : 1;
    starts.push(at);
  }
  return starts;
}
