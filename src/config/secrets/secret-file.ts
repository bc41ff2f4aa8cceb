import { isRecord } from '../../base/is-record.ts';
import { isSecretName } from './secret-name.ts';

const VERSION = 1;

/** Longest value, in bytes. */
export const MOST_BYTES = 64 * 1024;

/** The text of the file that holds these secrets. */
export function secretFileText(secrets: ReadonlyMap<string, string>): string {
  const sorted = [...secrets].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ version: VERSION, secrets: Object.fromEntries(sorted) }, undefined, 2)}\n`;
}

/** What such a text holds, or why it is of no use; the words show nothing of it. */
export function readSecretFile(
  text: string,
): { readonly secrets: Map<string, string> } | { readonly fault: string } {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return { fault: `it is no JSON; ${MEND}` };
  }
  if (!isRecord(value) || typeof value.version !== 'number') return { fault: `it has no "version"; ${MEND}` };
  if (value.version > VERSION) {
    return { fault: `its version ${value.version} is newer than this program knows; update Toolplane` };
  }
  const { secrets } = value;
  if (value.version !== VERSION || !isRecord(secrets) || Array.isArray(secrets)) {
    return { fault: `it has no "secrets" of version ${VERSION}; ${MEND}` };
  }
  const entries = Object.entries(secrets);
  const odd = entries.find(([name, it]) => !isSecretName(name) || secretFault(it) !== undefined);
  if (odd) return { fault: `one of its secrets cannot be one; ${MEND}` };
  return { secrets: new Map(entries as [string, string][]) };
}

const MEND = 'mend it by hand, or remove it and set the secrets anew';

/** Why a value cannot be kept; undefined if it can. */
export function secretFault(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return 'it is empty';
  if (value.includes('\0')) return 'it holds a NUL character, which no variable or header can';
  if (!value.isWellFormed()) return 'it is no Unicode text';
  if (Buffer.byteLength(value) > MOST_BYTES) return `it is longer than ${MOST_BYTES / 1024} KiB`;
  return undefined;
}
