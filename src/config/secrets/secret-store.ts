import { closeSync, constants, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { withFileLock } from '../../base/files/file-lock.ts';
import { isRecord } from '../../base/json-value.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { isSystemError, readPrivateFile, SealedFile } from './sealed-file.ts';
import { removeFromKeychain, type SecretsContext, storeKeys } from './store-key.ts';

/** A store of secrets by name. */
export type SecretStore = {
  /** Undefined if there is no such secret; throws if the store is unusable. */
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  /** False if there was no such secret. */
  remove(name: string): boolean;
  names(): readonly string[];
};

/** The encrypted file with the secrets and accounts of the user. */
export function secretsPath(home: string): string {
  return join(home, 'secrets.enc');
}

/** The unencrypted file in which Toolplane 0.1 stored secrets. */
export function plainSecretsPath(home: string): string {
  return join(home, 'secrets.json');
}

/**
 * Removes the key of the encrypted file from the keychain, if it is there; the file cannot be decrypted afterwards. Throws
 * a `HostError` if the keychain cannot be used.
 */
export function removeStoredKey(context: SecretsContext): void {
  const path = secretsPath(context.home);
  const account = keychainAccountOf(new SealedFile(path, storeKeys(context)));
  if (account === undefined || context.env.TOOLPLANE_SECRETS === 'file') return;
  try {
    removeFromKeychain(account);
  } catch (cause) {
    const fault = `the key of ${path} could not be removed from the keychain: ${messageOf(cause)}`;
    throw new HostError(
      'bad-config',
      '',
      `${fault}; remove the entry "toolplane" from the keychain yourself`,
    );
  }
}

function keychainAccountOf(sealed: SealedFile): string | undefined {
  try {
    return sealed.header?.kind === 'keychain' ? sealed.header.account : undefined;
  } catch {
    // Without a readable header, the entry is not known.
    return undefined;
  }
}

/**
 * Opens the user's secrets: an encrypted file that is read on each access. Secrets of the unencrypted file of earlier
 * versions are moved into it, which `note` reports. All errors are `HostError`s.
 */
export function openSecretStore(context: SecretsContext, note?: (text: string) => void): SecretStore {
  const plain = plainSecretsPath(context.home);
  const sealed = new SealedFile(secretsPath(context.home), storeKeys(context));
  const read = (): ReadonlyMap<string, string> => {
    const left = migratePlainSecrets(plain, sealed, note);
    const { secrets } = sealed.read();
    return left ? new Map([...secrets, ...left]) : secrets;
  };
  const change = (work: (secrets: Map<string, string>) => boolean): boolean => {
    migratePlainSecrets(plain, sealed, note);
    return sealed.change(({ secrets }) => work(secrets));
  };
  return {
    get: (name) => read().get(name),
    names: () => [...read().keys()].toSorted(),
    set(name, value) {
      if (!isSecretName(name)) throw new HostError('bad-config', '', NAME_RULE);
      const fault = validateSecret(value);
      if (fault !== undefined) {
        throw new HostError('bad-config', '', `the value of ${name} cannot be stored: ${fault}`);
      }
      change((secrets) => secrets.get(name) !== value && Boolean(secrets.set(name, value)));
    },
    remove: (name) => change((secrets) => secrets.delete(name)),
  };
}

/**
 * Moves the secrets of the unencrypted file into the encrypted one. The unencrypted file is erased only after the
 * encrypted one was read back and has all of its secrets, and a repetition after a crash has the same result. An equal
 * name is replaced: only an earlier version of Toolplane, used again, can have written the unencrypted file later. Returns
 * the secrets if they could not be moved because nothing can be written, on a read-only disk for example.
 */
function migratePlainSecrets(
  path: string,
  sealed: SealedFile,
  note: ((text: string) => void) | undefined,
): ReadonlyMap<string, string> | undefined {
  if (readPlainSecrets(path) === undefined) return undefined;
  return lockedAs(path, () => {
    // Another process may have moved them meanwhile.
    const secrets = readPlainSecrets(path);
    if (secrets === undefined) return undefined;
    try {
      sealed.change((content) => {
        const changed = [...secrets].filter(([name, value]) => content.secrets.get(name) !== value);
        for (const [name, value] of changed) content.secrets.set(name, value);
        return changed.length > 0;
      });
      const stored = sealed.readAgain().secrets;
      if ([...secrets].some(([name, value]) => stored.get(name) !== value))
        throw new HostError(
          'bad-config',
          '',
          `${sealed.path} does not contain what was written; check the disk`,
        );
      eraseFile(path);
    } catch (cause) {
      const failure = cause instanceof HostError ? cause.cause : cause;
      if (isSystemError(failure)) return secrets;
      throw cause;
    }
    if (secrets.size > 0)
      note?.(`secrets are encrypted now: ${sealed.path} replaces ${path}, which was erased`);
    return undefined;
  });
}

function lockedAs<T>(path: string, work: () => T): T {
  try {
    return withFileLock(`${path}.lock`, work);
  } catch (cause) {
    if (cause instanceof HostError) throw cause;
    throw new HostError('bad-config', '', `cannot use the secrets in ${path}: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** Size of a block of the disk. */
const BLOCK_BYTES = 4096;

/**
 * Overwrites a file with zeros and removes it. The first block is overwritten first: `readPlainSecrets` recognizes by it
 * that a crash interrupted the work.
 */
function eraseFile(path: string): void {
  const { size } = statSync(path);
  const file = openSync(path, constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    for (const [start, end] of [
      [0, Math.min(size, BLOCK_BYTES)],
      [BLOCK_BYTES, size],
    ] as const) {
      if (end > start) writeSync(file, Buffer.alloc(end - start), 0, end - start, start);
      fsyncSync(file);
    }
  } finally {
    closeSync(file);
  }
  rmSync(path);
}

const PLAIN_VERSION = 1;

/** Maximum size of a value. */
export const MAX_SECRET_BYTES = 64 * 1024;

/** Undefined if the file is missing; without secrets if it was being erased. The errors contain nothing of the text. */
function readPlainSecrets(path: string): ReadonlyMap<string, string> | undefined {
  const file = readPrivateFile(path);
  if ('text' in file && file.text === undefined) return undefined;
  const read = 'fault' in file ? file : parsePlainSecrets(file.text ?? '');
  if ('secrets' in read) return read.secrets;
  throw new HostError('bad-config', '', `cannot use the secrets in ${path}: ${read.fault}`);
}

function parsePlainSecrets(
  text: string,
): { readonly secrets: ReadonlyMap<string, string> } | { readonly fault: string } {
  if (text.startsWith('\0')) return { secrets: new Map() };
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return { fault: `not valid JSON; ${FIX_BY_HAND}` };
  }
  if (!isRecord(value) || typeof value.version !== 'number')
    return { fault: `the file has no "version"; ${FIX_BY_HAND}` };
  if (value.version > PLAIN_VERSION) {
    return { fault: `version ${value.version} is newer than this Toolplane supports; update Toolplane` };
  }
  const { secrets } = value;
  if (value.version !== PLAIN_VERSION || !isRecord(secrets) || Array.isArray(secrets)) {
    return {
      fault: `the file must have "version": ${PLAIN_VERSION} and an object "secrets"; ${FIX_BY_HAND}`,
    };
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

const SECRET_NAME = /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,127}$/;

/** Whether the name is valid for a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** The message for an invalid name, which is not shown: it may be a secret value. */
export const NAME_RULE =
  'the name of a secret must have 1 to 128 letters, digits, "_", "." or "-", and must not begin with "-"';
