import { execFileSync } from 'node:child_process';
import { createHash, hkdfSync, randomBytes, scryptSync } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../base/files/replace-file.ts';
import { isRecord } from '../../base/json-value.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { ConfigContext } from '../config-context.ts';
import {
  type KeyHeader,
  type KeySource,
  readPrivateFile,
  START_AGAIN,
  type WritingKey,
} from './sealed-file.ts';

/** Where the secrets of a user are, and how they are encrypted. */
export type SecretsContext = Pick<ConfigContext, 'home' | 'env' | 'platform'>;

const KEY_BYTES = 32;
const SALT_BYTES = 16;

/** Where a new key is kept: `auto` is the keychain if it can be used, otherwise a file. */
type Choice = 'auto' | 'keychain' | 'file';

/**
 * Keys for the user's secrets: from `TOOLPLANE_PASSPHRASE` if it is set, otherwise from the keychain or from `secrets.key`
 * and the machine, as `TOOLPLANE_SECRETS` chooses. An existing file states its kind of key; if
 * the environment requests another kind, the next write encrypts the file with that kind.
 */
export function storeKeys(context: SecretsContext, machine = machineIdentity): KeySource {
  const { env, home } = context;
  const passphrase = env.TOOLPLANE_PASSPHRASE || undefined;
  const seedPath = join(home, 'secrets.key');
  const identity = () => machine(context.platform);
  const keyFor = (header: KeyHeader): Uint8Array => {
    const choice = choiceOf(env);
    switch (header.kind) {
      case 'passphrase':
        if (passphrase === undefined)
          throw new Error('the file is encrypted with a passphrase; set TOOLPLANE_PASSPHRASE');
        return passphraseKey(passphrase, header);
      case 'machine':
        if (header.machine !== fingerprint(identity(), header.salt)) throw new Error(OTHER_MACHINE);
        return machineKey(readSeed(seedPath), identity(), header.salt);
      case 'keychain':
        if (choice === 'file') throw new Error(KEYCHAIN_EXCLUDED);
        return readKeychain(header.account);
    }
  };
  const inFile = (): WritingKey => {
    const salt = randomBytes(SALT_BYTES).toString('base64');
    const isNew = !existsSync(seedPath);
    if (isNew) writeSeed(seedPath);
    const header = { kind: 'machine', salt, machine: fingerprint(identity(), salt) } as const;
    const discard = () => rmSync(seedPath, { force: true });
    return { header, key: keyFor(header), ...(isNew && { discard }) };
  };
  const inKeychain = (choice: Choice): WritingKey => {
    if (choice === 'auto' && !mayHaveKeychain(context)) return inFile();
    try {
      return createInKeychain(keychainAccount(home));
    } catch (cause) {
      if (choice === 'auto') return inFile();
      throw new Error(
        `TOOLPLANE_SECRETS requires the keychain, which cannot be used (${messageOf(cause)}); unlock it, or set TOOLPLANE_SECRETS=file`,
      );
    }
  };
  return {
    keyFor,
    async unlock(header) {
      if (header.kind === 'keychain' && choiceOf(env) !== 'file') await unlockKeychain(header.account);
    },
    forget(header) {
      if (header.kind === 'keychain') keychainKeys.delete(header.account);
    },
    keyForWriting(current) {
      const choice = choiceOf(env);
      if (isAsChosen(current, choice, passphrase)) return { header: current, key: keyFor(current) };
      if (passphrase === undefined) return choice === 'file' ? inFile() : inKeychain(choice);
      const salt = randomBytes(SALT_BYTES).toString('base64');
      const header = { kind: 'passphrase', salt, n: SCRYPT_COST } as const;
      return { header, key: keyFor(header) };
    },
  };
}

const OTHER_MACHINE = `the file was encrypted on another machine or by another user (a container may get a new machine id at each start: set TOOLPLANE_PASSPHRASE there); ${START_AGAIN}`;
const KEYCHAIN_EXCLUDED = `the key of the file is in the keychain, which TOOLPLANE_SECRETS=file excludes; remove this variable, or ${START_AGAIN}`;

const CHOICES: readonly Choice[] = ['auto', 'keychain', 'file'];

function choiceOf({ TOOLPLANE_SECRETS: text }: SecretsContext['env']): Choice {
  const choice = CHOICES.find((it) => it === (text || 'auto'));
  if (choice === undefined)
    throw new Error('the variable TOOLPLANE_SECRETS is invalid; set it to auto, keychain or file');
  return choice;
}

/** Whether the key of the existing file is of the kind that the environment requests. */
function isAsChosen(
  header: KeyHeader | undefined,
  choice: Choice,
  passphrase: string | undefined,
): header is KeyHeader {
  if (header === undefined || passphrase !== undefined) return header?.kind === 'passphrase';
  return choice !== 'keychain' || header.kind === 'keychain';
}

const SCRYPT_COST = 2 ** 15;

/** Deriving a key takes 0.1 s and more, so each one is derived once per process. */
const passphraseKeys = new Map<string, Uint8Array>();

function passphraseKey(
  passphrase: string,
  { salt, n }: { readonly salt: string; readonly n: number },
): Uint8Array {
  const known = hash(`${n}\0${salt}\0${passphrase}`).toString('base64');
  const key =
    passphraseKeys.get(known) ??
    scryptSync(passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), KEY_BYTES, {
      N: n,
      r: 8,
      p: 1,
      // The memory that these costs require is 1 KiB times `n`; the default limit is just below.
      maxmem: 2 * 1024 * n,
    });
  passphraseKeys.set(known, key);
  return key;
}

/** The keys that were read from the keychain; a person may have to unlock it for each access. */
const keychainKeys = new Map<string, Uint8Array>();

/** The name under which programs for keychains show the entry. */
const KEYCHAIN_SERVICE = 'toolplane';

/** On Linux, the kernel's keyring is no alternative to the Secret Service: it is lost at the end of the login. */
const KEYCHAIN_OPTIONS = { linux: { store: 'secret-service' } } as const;

/** The account name of the keychain entry, which is different for each Toolplane directory of the user. */
function keychainAccount(home: string): string {
  return `secrets:${hash(realpathSync(home)).toString('hex').slice(0, 16)}`;
}

/** Whether the platform has a keychain that does not need to be started first. */
function mayHaveKeychain({ platform, env }: SecretsContext): boolean {
  if (platform === 'darwin' || platform === 'win32') return true;
  const hasBus = env.DBUS_SESSION_BUS_ADDRESS || existsSync(`/run/user/${process.getuid?.()}/bus`);
  return platform === 'linux' && Boolean(hasBus);
}

/** Loads the native package on first use. It is optional: not every platform has it. */
function loadKeyring(): typeof import('@napi-rs/keyring') {
  // Written so that bundlers do not recognize it: native code cannot be bundled.
  const { url } = import.meta;
  return process.getBuiltinModule('node:module').createRequire(url)('@napi-rs/keyring');
}

function readKeychain(account: string): Uint8Array {
  const known = keychainKeys.get(account);
  if (known) return known;
  let text: string | null;
  try {
    const { Entry } = loadKeyring();
    text = new Entry(KEYCHAIN_SERVICE, account, KEYCHAIN_OPTIONS).getPassword();
  } catch (cause) {
    return throwKeychainFailure(cause);
  }
  return keepKeychainKey(account, text);
}

/** The same without blocking the process. */
async function unlockKeychain(account: string): Promise<void> {
  if (keychainKeys.has(account)) return;
  const read = async () => {
    const { AsyncEntry } = loadKeyring();
    return new AsyncEntry(KEYCHAIN_SERVICE, account, KEYCHAIN_OPTIONS).getPassword();
  };
  keepKeychainKey(account, await read().catch(throwKeychainFailure));
}

function keepKeychainKey(account: string, text: string | null): Uint8Array {
  const key = Buffer.from(text ?? '', 'base64');
  if (key.length !== KEY_BYTES)
    throw new Error(
      `the keychain does not contain the key of the file (service ${KEYCHAIN_SERVICE}, account ${account}); unlock the keychain it was stored in, or ${START_AGAIN}`,
    );
  keychainKeys.set(account, key);
  return key;
}

function throwKeychainFailure(cause: unknown): never {
  throw new Error(
    `the keychain with the key of the file is locked or not available (${messageOf(cause)}); unlock it, or move the file to another directory, set TOOLPLANE_SECRETS=file, set the secrets again and sign in again`,
  );
}

/** Creates the key, unless there is one, and verifies that it can be read: some keychains accept a key and lose it. */
function createInKeychain(account: string): WritingKey {
  const { Entry } = loadKeyring();
  const entry = new Entry(KEYCHAIN_SERVICE, account, KEYCHAIN_OPTIONS);
  const header = { kind: 'keychain', account } as const;
  const found = entry.getPassword();
  if (found !== null) return { header, key: keepKeychainKey(account, found) };
  const text = randomBytes(KEY_BYTES).toString('base64');
  entry.setPassword(text);
  if (entry.getPassword() !== text) throw new Error('it did not store the key');
  const discard = () => removeFromKeychain(account);
  return { header, key: keepKeychainKey(account, text), discard };
}

/** Removes a key; false if there was none. */
export function removeFromKeychain(account: string): boolean {
  keychainKeys.delete(account);
  const { Entry } = loadKeyring();
  return new Entry(KEYCHAIN_SERVICE, account, KEYCHAIN_OPTIONS).deleteCredential();
}

function machineKey(seed: Uint8Array, identity: string, salt: string): Uint8Array {
  const input = Buffer.concat([seed, Buffer.from(identity)]);
  return new Uint8Array(
    hkdfSync('sha256', input, Buffer.from(salt, 'base64'), 'toolplane-secrets-v2', KEY_BYTES),
  );
}

/** Distinguishes a file that was copied to another machine from a damaged one. */
function fingerprint(identity: string, salt: string): string {
  return hash(`${salt}\0${identity}`).subarray(0, 8).toString('base64');
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Reads the random part of the machine key. */
function readSeed(path: string): Uint8Array {
  const file = readPrivateFile(path);
  if ('fault' in file) throw new Error(`the key file ${path} cannot be used: ${file.fault}`);
  if (file.text === undefined) throw new Error(`the key file ${path} is missing; ${START_AGAIN}`);
  const seed = parseSeed(file.text);
  if (!seed) throw new Error(`the key file ${path} is damaged; ${START_AGAIN}`);
  return seed;
}

function parseSeed(text: string): Uint8Array | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || value.version !== 1 || typeof value.key !== 'string') return undefined;
    const seed = Buffer.from(value.key, 'base64');
    return seed.length === KEY_BYTES ? seed : undefined;
  } catch {
    return undefined;
  }
}

/** Creates the key file, which is on the disk before anything is encrypted with it. */
function writeSeed(path: string): void {
  const key = randomBytes(KEY_BYTES).toString('base64');
  replaceFile(path, `${JSON.stringify({ version: 1, key })}\n`, {
    mode: 0o600,
    isStill: () => !existsSync(path),
  });
}

/** The machine, as far as it can be identified, and the user. */
function machineIdentity(platform: NodeJS.Platform): string {
  machineId ??= readMachineId(platform);
  return `${machineId} ${process.getuid?.() ?? ''}`;
}

let machineId: string | undefined;

function readMachineId(platform: NodeJS.Platform): string {
  switch (platform) {
    case 'darwin':
      return (
        /"IOPlatformUUID" = "([^"]+)"/.exec(
          outputOf('/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']),
        )?.[1] ?? ''
      );
    case 'win32': {
      const reg = 'C:\\Windows\\System32\\reg.exe';
      const args = ['query', 'HKLM\\SOFTWARE\\Microsoft\\Cryptography', '/v', 'MachineGuid'];
      return /MachineGuid\s+REG_SZ\s+(\S+)/.exec(outputOf(reg, args))?.[1] ?? '';
    }
    default:
      return ['/etc/machine-id', '/var/lib/dbus/machine-id'].map(textOf).find((it) => it !== '') ?? '';
  }
}

function outputOf(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, {
      encoding: 'utf8',
      timeout: 5_000,
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch (cause) {
    // Without the machine id, a file of this machine would seem to be one of another machine.
    if (cause instanceof Error && 'code' in cause && cause.code === 'ETIMEDOUT')
      throw new Error(`the id of this machine could not be read: ${command} did not respond; try again`);
    return '';
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
