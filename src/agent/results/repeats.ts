import { isRecord } from '../../base/json-value.ts';

/** In characters of JSON: more is compared in the order in which it is written only, for sorting names takes time. */
const MOST_SORTED = 1_000_000;
/** Of a list; a text that repeats a later item stays, unless both are plain texts. */
const MOST_ITEMS = 50_000;

/**
 * Whether a text says nothing that `structuredContent` does not say: it is the same as JSON, the very text of one of its
 * members, or, where a server has wrapped a value as `{ "result": value }`, it is that value or one of its items. The structure is gone through once,
 * however many texts are asked about.
 */
export function repetitionOf(structure: unknown): (text: string) => boolean {
  const values = [structure, ...wrapped(structure)];
  const members = isRecord(structure) ? Object.values(structure) : [];
  const texts = new Set([...values, ...members].filter((value) => typeof value === 'string'));
  const compared = values.slice(0, MOST_ITEMS);
  const known = once(() => new Set(compared.map((value) => written(value))));
  const sorted = once(() => new Set(compared.map((value) => written(value, inOrder))));
  let room = MOST_SORTED - (written(structure)?.length ?? 0);
  return (text) => {
    if (texts.has(text)) return true;
    const value = parse(text);
    const json = written(value);
    if (json === undefined) return false;
    if (known().has(json)) return true;
    room -= json.length;
    return room >= 0 && isRecordOrList(value) && sorted().has(written(value, inOrder));
  };
}

function wrapped(structure: unknown): unknown[] {
  if (!isRecord(structure) || !('result' in structure) || Object.keys(structure).length !== 1) return [];
  const { result } = structure;
  return Array.isArray(result) ? [result, ...result] : [result];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** As JSON; nothing for what is nested too deeply to be compared. */
function written(value: unknown, replacer?: typeof inOrder): string | undefined {
  try {
    return JSON.stringify(value, replacer);
  } catch {
    return undefined;
  }
}

function inOrder(_name: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, value[name]]),
  );
}

function isRecordOrList(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
