import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { withFileLock } from '../../base/files/file-lock.ts';
import { replaceFile } from '../../base/files/replace-file.ts';
import { isRecord } from '../../base/json-value.ts';
import { shellQuote } from '../../base/text/display-text.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { messageOf } from '../../protocol/sdk-error.ts';

/** A store of secrets by name. */
export type SecretStore = {
  /** Undefined if there is no such secret; throws if the store is unusable. */
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  /** False if there was no such secret. */
  remove(name: string): boolean;
  names(): readonly string[];
};

/**
 * Stores secrets in a file that only its owner can read; a file that other users can read is refused. The file is read on
 * each access and replaced under a lock, so that concurrent processes keep each other's changes. An invalid or newer file
 * is never overwritten. All errors are `HostError`s.
 */
export function fileSecretStore(path: string): SecretStore {
  const load = (): Map<string, string> => {
    const file = readPrivateFile(path);
    const read =
      'fault' in file ? file : file.text === undefined ? { secrets: new Map() } : readSecretFile(file.text);
    if ('secrets' in read) return read.secrets;
    throw new HostError('bad-config', '', `cannot use the secrets in ${path}: ${read.fault}`);
  };
  /** Reads, changes and replaces the file; nothing is written if `change` returns false. */
  const rewrite = (change: (secrets: Map<string, string>) => boolean): boolean => {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      return withFileLock(`${path}.lock`, () => {
        const secrets = load();
        if (!change(secrets)) return false;
        replaceFile(path, secretFileText(secrets), { mode: 0o600 });
        return true;
      });
    } catch (cause) {
      if (cause instanceof HostError) throw cause;
      throw new HostError('bad-config', '', `${path} cannot be written: ${messageOf(cause)}`, { cause });
    }
  };
  return {
    get: (name) => load().get(name),
    names: () => [...load().keys()].toSorted(),
    set(name, value) {
      if (!isSecretName(name)) throw new HostError('bad-config', '', NAME_RULE);
      const fault = validateSecret(value);
      if (fault !== undefined) {
        throw new HostError('bad-config', '', `the value of ${name} cannot be stored: ${fault}`);
      }
      rewrite((secrets) => secrets.get(name) !== value && Boolean(secrets.set(name, value)));
    },
    remove: (name) => rewrite((secrets) => secrets.delete(name)),
  };
}

const VERSION = 1;

/** Maximum size of a value. */
export const MAX_SECRET_BYTES = 64 * 1024;

function secretFileText(secrets: ReadonlyMap<string, string>): string {
  const sorted = [...secrets].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ version: VERSION, secrets: Object.fromEntries(sorted) }, undefined, 2)}\n`;
}

/** Parses the file; the fault contains nothing of the text. */
function readSecretFile(
  text: string,
): { readonly secrets: Map<string, string> } | { readonly fault: string } {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return { fault: `not valid JSON; ${FIX_BY_HAND}` };
  }
  if (!isRecord(value) || typeof value.version !== 'number')
    return { fault: `the file has no "version"; ${FIX_BY_HAND}` };
  if (value.version > VERSION) {
    return { fault: `version ${value.version} is newer than this Toolplane supports; update Toolplane` };
  }
  const { secrets } = value;
  if (value.version !== VERSION || !isRecord(secrets) || Array.isArray(secrets)) {
    return { fault: `the file must have "version": ${VERSION} and an object "secrets"; ${FIX_BY_HAND}` };
  }
  const entries = Object.entries(secrets);
  const odd = entries.find(([name, it]) => !isSecretName(name) || validateSecret(it) !== undefined);
  if (odd) return { fault: `the file contains an invalid secret; ${FIX_BY_HAND}` };
  return { secrets: new Map(entries as [string, string][]) };
}

const FIX_BY_HAND = 'fix the file by hand, or remove it and set the secrets again';

/** Why a value cannot be stored; undefined if it can. */
function validateSecret(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return 'it is empty';
  if (value.includes('\0')) return 'it contains a NUL character';
  if (!value.isWellFormed()) return 'it is not valid Unicode';
  if (Buffer.byteLength(value) > MAX_SECRET_BYTES) return `it is longer than ${MAX_SECRET_BYTES / 1024} KiB`;
  return undefined;
}

/** Larger than any file that Toolplane writes. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Reads a file that belongs to this user and that no other user can read; `text` is undefined if it is missing. */
function readPrivateFile(path: string): { readonly text: string | undefined } | { readonly fault: string } {
  let file: number;
  try {
    // Symbolic links are refused, and opening a pipe must not block.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ENOENT') return { text: undefined };
    if (code === 'ELOOP') return { fault: 'the file must not be a symbolic link' };
    return { fault: messageOf(cause) };
  }
  try {
    const fault = faultOf(fstatSync(file), path);
    return fault === undefined ? { text: readFileSync(file, 'utf8') } : { fault };
  } catch (cause) {
    return { fault: messageOf(cause) };
  } finally {
    closeSync(file);
  }
}

function faultOf(stats: Stats, path: string): string | undefined {
  if (!stats.isFile()) return 'not a regular file';
  if (stats.size > MAX_FILE_BYTES) return 'too large';
  // Windows has no such owners and modes; there the user's directory protects the file.
  const me = process.getuid?.();
  if (me === undefined) return undefined;
  if (stats.uid !== me)
    return `the file belongs to another user (${stats.uid}); remove it and set the secrets again`;
  if ((stats.mode & 0o077) !== 0) return `other users can read the file; run: chmod 600 ${shellQuote(path)}`;
  return undefined;
}

const SECRET_NAME = /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,127}$/;

/** Whether the name is valid for a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** The message for an invalid name, which is not shown: it may be a secret value. */
export const NAME_RULE =
  'the name of a secret must have 1 to 128 letters, digits, "_", "." or "-", and must not begin with "-"';
