import { isRecord } from '../../base/json-value.ts';
import type { Position } from '../model.ts';
import { formatKeyPath } from './diagnostics.ts';
import { parseJsonc } from './parse-jsonc.ts';
import { readText } from './read-text.ts';

/** The content of a file, flag or cache that must be one JSON object. */
export type Document =
  | { readonly state: 'absent' }
  /** `fault` is the reason; `position` is set if the reason is in the text. */
  | { readonly state: 'unusable'; readonly fault: string; readonly position?: Position }
  | ReadDocument;

export type ReadDocument = {
  readonly state: 'read';
  readonly value: Readonly<Record<string, unknown>>;
  /** The text is empty, as it is while an editor saves the file. */
  readonly isBlank?: true;
  /** Problems that do not prevent the use of the document, such as duplicate keys. */
  readonly warnings: readonly DocumentWarning[];
  locate(path: readonly (string | number)[]): Position | undefined;
};

type DocumentWarning = { readonly key: string; readonly message: string; readonly position: Position };

type ReadOptions = {
  /** A directory that symbolic links must not lead out of; it also lowers the size limit. */
  readonly within?: string;
  /** The newest supported version, for files in Toolplane's own format. Newer files are unusable. */
  readonly version?: number;
};

/** The version of every file in Toolplane's own format. */
export const FILE_VERSION = 1;

/** Reads a file; never throws. An empty file, or one that only has comments, is an empty object. */
export function readDocument(path: string, options: ReadOptions = {}): Document {
  const found = readText(path, options);
  return found.state === 'read' ? parseDocument(found.text, options) : found;
}

/** Parses the text of a document; never throws. */
export function parseDocument(text: string, { version }: Pick<ReadOptions, 'version'> = {}): Document {
  const { faults, duplicates, value = {}, locate } = parseJsonc(text);
  const [fault] = faults;
  if (fault) return { state: 'unusable', fault: fault.message, position: fault.position };
  if (!isRecord(value)) return unusable('must contain one JSON object, { … }', locate([]));
  const versionFault = version === undefined ? undefined : findVersionFault(value, version);
  if (versionFault !== undefined) return unusable(versionFault, locate(['version']));
  const warnings = duplicates.map(({ path, position }) => ({
    key: formatKeyPath(path),
    message: 'duplicate key in the same object; the later one is used; remove one',
    position,
  }));
  return { state: 'read', value, ...(text.trim() === '' && { isBlank: true }), warnings, locate };
}

/** A document from a value that is already parsed; it has no positions. */
export function documentOfValue(value: Readonly<Record<string, unknown>>): ReadDocument {
  return { state: 'read', value, warnings: [], locate: () => undefined };
}

function unusable(fault: string, position: Position | undefined): Document {
  return { state: 'unusable', fault, ...(position && { position }) };
}

/** The reason why the version of a file is not supported; a file without a version has version 1. */
export function findVersionFault(
  { version = 1 }: Readonly<Record<string, unknown>>,
  supported: number,
): string | undefined {
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    return `"version" must be an integer from 1 to ${supported}`;
  return version > supported
    ? `has version ${version}, but this Toolplane supports versions up to ${supported}; update Toolplane`
    : undefined;
}
