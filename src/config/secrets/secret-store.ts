import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { withFileLock } from '../../base/files/file-lock.ts';
import { replaceFile } from '../../base/files/replace-file.ts';
import { isRecord } from '../../base/json-value.ts';
import { shellQuote } from '../../base/text/display-text.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { messageOf } from '../../protocol/sdk-error.ts';

/** Where secrets are kept, by name. */
export type SecretStore = {
  /** Undefined if there is none; throws if the store cannot be used. */
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  /** False if there was none. */
  remove(name: string): boolean;
  names(): readonly string[];
};

/**
 * Secrets in a file that only its owner may read; one that others may read is not used. It is read anew each time, and
 * replaced whole under a lock, so that of two processes each keeps what the other wrote. One that is broken or newer is
 * never written over. All that throws is a `HostError`.
 */
export function fileSecretStore(path: string): SecretStore {
  const load = (): Map<string, string> => {
    const file = readPrivateFile(path);
    const read =
      'fault' in file ? file : file.text === undefined ? { secrets: new Map() } : readSecretFile(file.text);
    if ('secrets' in read) return read.secrets;
    throw new HostError('bad-config', '', `cannot use the secrets in ${path}: ${read.fault}`);
  };
  /** Reads what is there now, and replaces it; what `change` calls no change is not written. */
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
        throw new HostError('bad-config', '', `the value of ${name} cannot be kept: ${fault}`);
      }
      rewrite((secrets) => secrets.get(name) !== value && Boolean(secrets.set(name, value)));
    },
    remove: (name) => rewrite((secrets) => secrets.delete(name)),
  };
}

const VERSION = 1;

/** Longest value, in bytes. */
export const MAX_SECRET_BYTES = 64 * 1024;

/** The text of the file that holds these secrets. */
function secretFileText(secrets: ReadonlyMap<string, string>): string {
  const sorted = [...secrets].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ version: VERSION, secrets: Object.fromEntries(sorted) }, undefined, 2)}\n`;
}

/** What such a text holds, or why it is of no use; the words show nothing of it. */
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
    return { fault: `has no "version"; ${FIX_BY_HAND}` };
  if (value.version > VERSION) {
    return { fault: `version ${value.version} is newer than this Toolplane supports; update Toolplane` };
  }
  const { secrets } = value;
  if (value.version !== VERSION || !isRecord(secrets) || Array.isArray(secrets)) {
    return { fault: `has no "secrets" of version ${VERSION}; ${FIX_BY_HAND}` };
  }
  const entries = Object.entries(secrets);
  const odd = entries.find(([name, it]) => !isSecretName(name) || validateSecret(it) !== undefined);
  if (odd) return { fault: `contains an invalid secret; ${FIX_BY_HAND}` };
  return { secrets: new Map(entries as [string, string][]) };
}

const FIX_BY_HAND = 'fix it by hand, or remove it and set the secrets again';

/** Why a value cannot be kept; undefined if it can. */
function validateSecret(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return 'is empty';
  if (value.includes('\0')) return 'contains a NUL character';
  if (!value.isWellFormed()) return 'not valid Unicode';
  if (Buffer.byteLength(value) > MAX_SECRET_BYTES) return `is longer than ${MAX_SECRET_BYTES / 1024} KiB`;
  return undefined;
}

/** Beyond this it is no file of ours. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** A file's text if its owner, who must be us, is the only one who may read it; undefined if there is none. */
function readPrivateFile(path: string): { readonly text: string | undefined } | { readonly fault: string } {
  let file: number;
  try {
    // Neither a link, which may lead to anything, nor a pipe that nobody writes to.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ENOENT') return { text: undefined };
    if (code === 'ELOOP') return { fault: 'must not be a symbolic link' };
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
  // Windows has neither owners nor modes as these; there the directory of the person protects it.
  const me = process.getuid?.();
  if (me === undefined) return undefined;
  if (stats.uid !== me) return `belongs to another user (${stats.uid}); remove it and set the secrets again`;
  if ((stats.mode & 0o077) !== 0) return `other users can read it; run: chmod 600 ${shellQuote(path)}`;
  return undefined;
}
const SECRET_NAME = /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,127}$/;

/** Whether a secret can be called so. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** What is said of a name that can be none; it may be a value by mistake, so it is not shown. */
export const NAME_RULE =
  'the name of a secret must have 1 to 128 letters, digits, "_", "." or "-", and not begin with "-"';
