import { isRecord } from '../../../base/is-record.ts';
import { parseJsonc } from '../file/parse-jsonc.ts';
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
    return { kind: 'read', value: parse(text), locate: () => undefined };
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    const { line, column } = thrown;
    return { kind: 'unusable', fault: 'it is no TOML', position: { line, column } };
  }
}
