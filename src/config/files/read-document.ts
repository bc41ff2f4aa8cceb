import { isRecord } from '../../base/is-record.ts';
import type { Position } from '../model.ts';
import { keyText } from '../sources/key-text.ts';
import { type ParsedJson, parseJsonc } from './parse-jsonc.ts';
import { readText } from './read-text.ts';
import { type Migration, migrate } from './versions.ts';

/** A file that is to hold one JSON object, as it was found. */
export type Document =
  | { readonly state: 'absent'; readonly path: string }
  /** `fault` says why in a few words; `position` is where, if it is in the text. */
  | {
      readonly state: 'unusable';
      readonly path: string;
      readonly fault: string;
      readonly position?: Position;
    }
  | {
      readonly state: 'read';
      readonly path: string;
      readonly value: Readonly<Record<string, unknown>>;
      /** Nothing stands in it: somebody may be about to write it. */
      readonly isBlank?: true;
      /** What counts and may not be what was meant, such as a member that is written twice. */
      readonly warnings: readonly DocumentWarning[];
      locate(path: readonly (string | number)[]): Position | undefined;
    };

export type DocumentWarning = { readonly key: string; readonly message: string; readonly position: Position };

export type ReadOptions = {
  /** A directory that the file must not lead out of by links; files in one are smaller than those of the person. */
  readonly within?: string;
  /** Of a file of ours: what makes older ones into one of today. One that is newer cannot be used. */
  readonly migrations?: readonly Migration[];
};

/** Reads a file; never rejects. One that is empty or holds comments only is an empty object. */
export async function readDocument(path: string, options: ReadOptions = {}): Promise<Document> {
  return readDocumentNow(path, options);
}

/** The same, in place. */
export function readDocumentNow(path: string, options: ReadOptions = {}): Document {
  const found = readText(path, options);
  return found.state === 'read' ? documentOf(path, found.text, options.migrations) : { ...found, path };
}

/** What a text says that was read at `path`. */
export function documentOf(path: string, text: string, migrations?: readonly Migration[]): Document {
  const parsed = parseJsonc(text);
  const [fault] = parsed.faults;
  if (fault) return { state: 'unusable', path, fault: fault.message, position: fault.position };
  const { value = {}, locate } = parsed;
  if (!isRecord(value)) {
    const position = locate([]);
    const about = 'it must hold one object, { … }';
    return { state: 'unusable', path, fault: about, ...(position && { position }) };
  }
  const migrated = migrations ? migrate(value, migrations) : { kind: 'current' as const, value };
  if (migrated.kind === 'unknown') {
    const place = locate(['version']);
    return { state: 'unusable', path, fault: migrated.fault, ...(place && { position: place }) };
  }
  const isBlank = text.trim() === '';
  const warnings = warningsOf(parsed);
  return { state: 'read', path, value: migrated.value, ...(isBlank && { isBlank }), warnings, locate };
}

function warningsOf({ duplicates }: ParsedJson): DocumentWarning[] {
  return duplicates.map(({ path, position }) => ({
    key: keyText(path),
    message: 'it is written twice in the same object, and the later one counts; remove one',
    position,
  }));
}
