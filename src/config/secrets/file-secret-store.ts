import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { underLock } from '../../base/file-lock.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { readPrivateFile } from './read-private-file.ts';
import { readSecretFile, secretFault, secretFileText } from './secret-file.ts';
import { isSecretName, NAME_RULE } from './secret-name.ts';
import type { SecretStore } from './secret-store.ts';

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
    throw new HostError('bad-config', '', `the secrets in ${path} cannot be used: ${read.fault}`);
  };
  /** Reads what is there now, and replaces it; what `change` calls no change is not written. */
  const rewrite = (change: (secrets: Map<string, string>) => boolean): boolean => {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      return underLock(`${path}.lock`, () => {
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
      const fault = secretFault(value);
      if (fault !== undefined) {
        throw new HostError('bad-config', '', `the value of ${name} cannot be kept: ${fault}`);
      }
      rewrite((secrets) => secrets.get(name) !== value && Boolean(secrets.set(name, value)));
    },
    remove: (name) => rewrite((secrets) => secrets.delete(name)),
  };
}
