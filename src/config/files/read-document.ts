import { isRecord } from '../../base/json-value.ts';
import type { Position } from '../model.ts';
import { formatKeyPath } from './diagnostics.ts';
import { type ParsedJson, parseJsonc } from './parse-jsonc.ts';
import { readText } from './read-text.ts';

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

type DocumentWarning = { readonly key: string; readonly message: string; readonly position: Position };

type ReadOptions = {
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
    const about = 'must hold one object, { … }';
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
    key: formatKeyPath(path),
    message: 'duplicate key in the same object; the later one is used; remove one',
    position,
  }));
}
/** Makes a value of one version into one of the next; `version` itself is seen to. */
export type Migration = (value: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;

/** The files of ours that may change their form over time. */
type FileKind = 'settings' | 'choices' | 'written' | 'secrets';

/** From the first version to the second, from there to the third, and so on; all files are of the first today. */
export const MIGRATIONS: Readonly<Record<FileKind, readonly Migration[]>> = {
  settings: [],
  choices: [],
  written: [],
  secrets: [],
};

type Migrated =
  | {
      readonly kind: 'current';
      readonly value: Readonly<Record<string, unknown>>;
      readonly isChanged: boolean;
    }
  /** Few words: what is wrong with its version, and what to do. */
  | { readonly kind: 'unknown'; readonly fault: string };

/** A value of any version we know, as one of the newest; without a version it is of the first. */
export function migrate(
  value: Readonly<Record<string, unknown>>,
  migrations: readonly Migration[],
): Migrated {
  const newest = migrations.length + 1;
  const { version = 1 } = value;
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    return { kind: 'unknown', fault: `"version" must be an integer from 1 to ${newest}` };
  if (version > newest) {
    const fault = `has version ${version}, but this toolplane supports versions up to ${newest}; update toolplane`;
    return { kind: 'unknown', fault };
  }
  if (version === newest) return { kind: 'current', value, isChanged: false };
  const next = migrations.slice(version - 1).reduce((it, step) => step(it), value);
  return { kind: 'current', value: { ...next, version: newest }, isChanged: true };
}
