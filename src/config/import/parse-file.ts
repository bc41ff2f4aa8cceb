import { isRecord } from '../../base/is-record.ts';
import { BOM, parseJsonc } from '../files/parse-jsonc.ts';
import { MAX_DEPTH, MAX_VALUES } from '../files/plain-json.ts';
import type { Position } from '../model.ts';
import type { ForeignTool } from './foreign.ts';

/** A file's text as an object, or why it is none. */
export type ParsedFile =
  | {
      readonly kind: 'read';
      readonly value: Readonly<Record<string, unknown>>;
      locate(way: readonly (string | number)[]): Position | undefined;
    }
  | { readonly kind: 'unusable'; readonly fault: string; readonly position?: Position };

/** Never rejects for what the text holds, and shows nothing of it. */
export async function parseFile(text: string, format: ForeignTool['format']): Promise<ParsedFile> {
  return format === 'json' ? parseJson(text) : parseToml(text);
}

function parseJson(text: string): ParsedFile {
  const { value, faults, locate } = parseJsonc(text);
  const [fault] = faults;
  if (fault) return { kind: 'unusable', fault: fault.message, position: fault.position };
  // Programs leave files behind that hold nothing yet.
  const object = value === undefined ? {} : value;
  return isRecord(object)
    ? { kind: 'read', value: object, locate }
    : { kind: 'unusable', fault: 'it holds no JSON object' };
}

async function parseToml(text: string): Promise<ParsedFile> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    const value = parse(text.replace(BOM, ''));
    if (isTooMuch(value)) return { kind: 'unusable', fault: 'it holds more than anybody writes' };
    return { kind: 'read', value, locate: () => undefined };
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    const { line, column } = thrown;
    return { kind: 'unusable', fault: 'it is no TOML', position: { line, column } };
  }
}

/** The same limits as those of JSON: whoever goes through the value may call themselves for each level. */
function isTooMuch(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  let values = 0;
  for (let depth = 0; level.length > 0; depth++) {
    values += level.length;
    if (depth > MAX_DEPTH || values > MAX_VALUES) return true;
    level = level.flatMap((it) => (typeof it === 'object' && it !== null ? Object.values(it) : []));
  }
  return false;
}
