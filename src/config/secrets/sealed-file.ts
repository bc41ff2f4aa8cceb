import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  type Stats,
} from 'node:fs';
import { dirname } from 'node:path';
import { type LockedReplace, LostLock, withFileLock } from '../../base/files/file-lock.ts';
import { fileState } from '../../base/files/replace-file.ts';
import { isRecord } from '../../base/json-value.ts';
import { shellQuote } from '../../base/text/display-text.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { messageOf } from '../../protocol/sdk-error.ts';

/** The decrypted content. */
export type SealedContent = {
  /** The values of `${secret:name}` by name. */
  readonly secrets: Map<string, string>;
  /** The accounts at servers. */
  readonly accounts: Map<string, unknown>;
  /** The accounts at identity providers. */
  readonly idps: Map<string, unknown>;
};

/** How the key of a file is obtained; stored in the file, without the key. */
export type KeyHeader =
  /** An entry of the keychain, by the name of its account. */
  | { readonly kind: 'keychain'; readonly account: string }
  /** Derived from `secrets.key` and the machine; `machine` is a fingerprint of the machine and the user. */
  | { readonly kind: 'machine'; readonly salt: string; readonly machine: string }
  /** Derived from a passphrase with scrypt; `n` is its cost. */
  | { readonly kind: 'passphrase'; readonly salt: string; readonly n: number };

/** The source of encryption keys. */
export interface KeySource {
  /** Obtains the key without blocking the process: a person may have to unlock the keychain. `keyFor` returns it then. */
  unlock(header: KeyHeader): Promise<void>;
  /** The key of an existing file; throws an error without prefix if it is not available. */
  keyFor(header: KeyHeader): Uint8Array;
  /** Drops a remembered key that does not fit: another process may have replaced it. */
  forget(header: KeyHeader): void;
  /** The key for the next write; `current` is the header of the existing file. */
  keyForWriting(current: KeyHeader | undefined): WritingKey;
}

export type WritingKey = {
  readonly header: KeyHeader;
  readonly key: Uint8Array;
  /** Undoes the creation of the key, if nothing could be written with it. */
  discard?(): void;
};

const VERSION = 2;

/** Maximum duration of the first write: a person may have to unlock the keychain. */
const CREATION_STALE_MS = 120_000;

/** The remedy if the content is lost. */
export const START_AGAIN =
  'restore it from a backup, or remove secrets.enc and (if it exists) secrets.key, set the secrets again and sign in again';

/**
 * A file with encrypted content (AES-256-GCM) that only its owner can read. It is replaced atomically under a lock, so
 * that concurrent processes keep each other's changes. A file that cannot be decrypted, or that a newer version wrote, is
 * never overwritten. All errors are `HostError`s and contain nothing of the content.
 */
export class SealedFile {
  readonly path: string;
  readonly #keys: KeySource;
  #cached: { readonly state: string; readonly content: SealedContent } | undefined;

  constructor(path: string, keys: KeySource) {
    this.path = path;
    this.#keys = keys;
  }

  /** How the file is encrypted; undefined if there is no file. */
  get header(): KeyHeader | undefined {
    return this.#parse()?.header;
  }

  /**
   * Obtains the key if the file has changed. Without this call, `read` may block the process until a person unlocks the
   * keychain.
   */
  async unlock(): Promise<void> {
    if (this.#cached?.state === this.#state()) return;
    const { header } = this;
    if (header)
      await this.#keys.unlock(header).catch((cause) => Promise.reject(this.#unusable(messageOf(cause))));
  }

  /** The content; empty if there is no file. It is decrypted again only if the file has changed. */
  read(): SealedContent {
    const state = this.#state();
    if (this.#cached?.state === state) return this.#cached.content;
    const { content } = this.#load();
    this.#cached = { state, content };
    return content;
  }

  /** The same, always read from the disk. */
  readAgain(): SealedContent {
    this.#cached = undefined;
    return this.read();
  }

  /** Reads, changes and replaces the file; nothing is written if `change` returns false. It may be called again. */
  change(change: (content: SealedContent) => boolean): boolean {
    // A person may have to unlock the keychain, which must not happen while other processes wait for the lock.
    this.read();
    const staleMs = existsSync(this.path) ? undefined : CREATION_STALE_MS;
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      const changeLocked = (replace: LockedReplace) => {
        const { content, header } = this.#load();
        if (!change(content)) return false;
        this.#write(content, this.#keyForWriting(header), replace);
        return true;
      };
      return withFileLock(`${this.path}.lock`, changeLocked, staleMs);
    } catch (cause) {
      if (cause instanceof HostError) throw cause;
      const fault = `${this.path} cannot be written: ${messageOf(cause)}; check its permissions and the free disk space`;
      throw new HostError('bad-config', '', fault, { cause });
    }
  }

  #state(): string {
    try {
      return fileState(this.path);
    } catch (cause) {
      throw this.#unusable(messageOf(cause));
    }
  }

  #parse(): Sealed | undefined {
    const file = readPrivateFile(this.path);
    if ('fault' in file) throw this.#unusable(file.fault);
    try {
      return file.text === undefined ? undefined : parseSealed(file.text);
    } catch (cause) {
      throw this.#unusable(messageOf(cause));
    }
  }

  #load(): { readonly content: SealedContent; readonly header?: KeyHeader } {
    const sealed = this.#parse();
    if (sealed === undefined) return { content: parseContent('{}') };
    const { header } = sealed;
    try {
      return { content: parseContent(unseal(sealed, this.#keys.keyFor(header))), header };
    } catch (cause) {
      this.#keys.forget(header);
      throw this.#unusable(messageOf(cause));
    }
  }

  #write(content: SealedContent, { header, key, discard }: WritingKey, replace: LockedReplace): void {
    try {
      replace(this.path, seal(serializeContent(content), key, header), { mode: 0o600 });
    } catch (cause) {
      // The process that took the lock may use the key.
      if (!(cause instanceof LostLock)) discard?.();
      throw cause;
    }
  }

  #keyForWriting(header: KeyHeader | undefined): WritingKey {
    try {
      return this.#keys.keyForWriting(header);
    } catch (cause) {
      if (isSystemError(cause)) throw cause;
      throw this.#unusable(messageOf(cause));
    }
  }

  #unusable(fault: string): HostError {
    return new HostError('bad-config', '', `cannot use the secrets in ${this.path}: ${fault}`);
  }
}

/** Whether the operating system refused an operation. */
export function isSystemError(cause: unknown): boolean {
  return cause instanceof Error && 'syscall' in cause;
}

/** The members of the file. */
type Sealed = {
  readonly header: KeyHeader;
  readonly iv: Uint8Array;
  readonly tag: Uint8Array;
  readonly data: Uint8Array;
};

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts a text. Version and header are authenticated too, so that neither can be replaced. */
export function seal(text: string, key: Uint8Array, header: KeyHeader): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(authenticated(header));
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]).toString('base64');
  const tag = cipher.getAuthTag().toString('base64');
  return `${JSON.stringify({ version: VERSION, key: header, iv: iv.toString('base64'), tag, data })}\n`;
}

/** Decrypts a parsed file; throws if it was changed, or if the key is not the one it was encrypted with. */
export function unseal({ header, iv, tag, data }: Sealed, key: Uint8Array): string {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(authenticated(header));
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(data), decipher.final()]).toString('utf8');
  } catch {
    throw new Error(NOT_AUTHENTIC[header.kind]);
  }
}

const NOT_AUTHENTIC: Readonly<Record<KeyHeader['kind'], string>> = {
  keychain: `the file, or its key in the keychain, was changed or damaged; ${START_AGAIN}`,
  machine: `the file or secrets.key was changed or damaged; ${START_AGAIN}`,
  passphrase: `TOOLPLANE_PASSPHRASE is not the passphrase of the file, or the file was changed or damaged; correct the passphrase, or ${START_AGAIN}`,
};

function authenticated(header: KeyHeader): Buffer {
  return Buffer.from(JSON.stringify({ version: VERSION, key: header }));
}

/** Parses the file without decrypting it. */
export function parseSealed(text: string): Sealed {
  const value = parseJson(text);
  if (isRecord(value) && typeof value.version === 'number' && value.version > VERSION)
    throw new Error(`version ${value.version} is newer than this Toolplane supports; update Toolplane`);
  const header = isRecord(value) && value.version === VERSION ? parseHeader(value.key) : undefined;
  if (!isRecord(value) || !header) throw new Error(DAMAGED);
  const [iv, tag, data] = [value.iv, value.tag, value.data].map(parseBase64);
  if (iv?.length !== IV_BYTES || tag?.length !== TAG_BYTES || !data) throw new Error(DAMAGED);
  return { header, iv, tag, data };
}

const DAMAGED = `the file is damaged; ${START_AGAIN}`;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(DAMAGED);
  }
}

/** Costs above this limit would take minutes and gigabytes; Toolplane does not write them. */
const MAX_SCRYPT_COST = 2 ** 18;

function parseHeader(value: unknown): KeyHeader | undefined {
  if (!isRecord(value)) return undefined;
  const { kind, account, salt, machine, n } = value;
  if (kind === 'keychain') return typeof account === 'string' ? { kind, account } : undefined;
  if (typeof salt !== 'string') return undefined;
  if (kind === 'machine' && typeof machine === 'string') return { kind, salt, machine };
  const isCost = typeof n === 'number' && n > 1 && n <= MAX_SCRYPT_COST && Number.isInteger(Math.log2(n));
  return kind === 'passphrase' && isCost ? { kind, salt, n } : undefined;
}

/** Strict: other texts for the same bytes are refused, so that every change of the file is noticed. */
function parseBase64(value: unknown): Buffer | undefined {
  if (typeof value !== 'string') return undefined;
  const bytes = Buffer.from(value, 'base64');
  return bytes.toString('base64') === value ? bytes : undefined;
}

function serializeContent(content: SealedContent): string {
  const members = Object.entries(content).map(([name, values]) => [name, Object.fromEntries(values)]);
  return JSON.stringify(Object.fromEntries(members));
}

function parseContent(text: string): SealedContent {
  const value = parseJson(text);
  if (!isRecord(value)) throw new Error(DAMAGED);
  const { secrets = {}, accounts = {}, idps = {} } = value;
  if (!isRecord(secrets) || !isRecord(accounts) || !isRecord(idps)) throw new Error(DAMAGED);
  const isText = (it: [string, unknown]): it is [string, string] => typeof it[1] === 'string';
  return {
    secrets: new Map(Object.entries(secrets).filter(isText)),
    accounts: new Map(Object.entries(accounts)),
    idps: new Map(Object.entries(idps)),
  };
}

/** Maximum size of a file; Toolplane does not write larger ones. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Reads a file that belongs to this user and that no other user can read; `text` is undefined if it is missing. */
export function readPrivateFile(
  path: string,
): { readonly text: string | undefined } | { readonly fault: string } {
  let file: number;
  try {
    // Symbolic links are refused, and opening a pipe must not block.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { text: undefined };
    if (code === 'ELOOP')
      return { fault: 'the file is a symbolic link; replace it by a copy of the file that it points to' };
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
  if (stats.size > MAX_FILE_BYTES) return `the file is larger than ${MAX_FILE_BYTES / 2 ** 20} MiB`;
  // Windows has no such owners and modes; there the user's directory protects the file.
  const me = process.getuid?.();
  if (me === undefined) return undefined;
  if (stats.uid !== me)
    return `the file belongs to another user (${stats.uid}); remove it and set the secrets again`;
  if ((stats.mode & 0o077) !== 0) return `other users can read the file; run: chmod 600 ${shellQuote(path)}`;
  return undefined;
}
