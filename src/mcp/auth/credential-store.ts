import { untilAborted } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import type { Account, AuthStore, CredentialStore, IdpAccount, StoreKind } from './auth-types.ts';

/** A store that lives as long as the process. */
export function memoryCredentialStore(): CredentialStore {
  const values = new Map<string, string>();
  const store: AuthStore = {
    get: async (key) => values.get(key),
    set: async (key, value) => void values.set(key, value),
    delete: async (key) => void values.delete(key),
  };
  return credentialStoreOf(store, 'memory');
}

/** A store that failed. The error of the store itself is dropped, since it may contain stored values. */
export class CredentialStoreError extends Error {
  override readonly name = 'CredentialStoreError';
}

/** The key of the list of servers that have an account; an `AuthStore` cannot list its keys. */
const INDEX = 'accounts';

/** A store on the key-value store of a program. Its locks and its `watch` are limited to this process. */
export function credentialStoreOf(given: AuthStore, kind: StoreKind = 'custom'): CredentialStore {
  const store = withoutErrorTexts(given);
  const locks = new ProcessLocks();
  const listeners = new Set<() => void>();
  const readAccount = async (server: string) => parse(await store.get(`account:${server}`), isAccount);
  const readIndex = async () => {
    const index = parse(await store.get(INDEX), isRecord)?.servers;
    return Array.isArray(index) ? index.filter((it): it is string => typeof it === 'string') : [];
  };
  const changeIndex = (change: (servers: Set<string>) => void) =>
    locks.run(INDEX, async () => {
      const before = await readIndex();
      const servers = new Set(before);
      change(servers);
      if (servers.size !== before.length) await store.set(INDEX, JSON.stringify({ servers: [...servers] }));
    });
  const changed = () => {
    for (const listener of [...listeners]) listener();
  };
  const removeKey = async (key: string) => {
    const isFound = (await store.get(key)) !== undefined;
    await store.delete(key);
    return isFound;
  };
  return {
    kind,
    read: readAccount,
    async list() {
      const accounts = await Promise.all((await readIndex()).map(readAccount));
      return accounts.filter((it) => it !== undefined);
    },
    async write(account) {
      await store.set(`account:${account.server}`, JSON.stringify(account));
      await changeIndex((servers) => servers.add(account.server));
      changed();
    },
    async remove(server) {
      const isFound = await removeKey(`account:${server}`);
      await changeIndex((servers) => servers.delete(server));
      changed();
      return isFound;
    },
    readIdp: async (issuer) => parse(await store.get(`idp:${issuer}`), isIdpAccount),
    async writeIdp(account) {
      await store.set(`idp:${account.issuer}`, JSON.stringify(account));
      changed();
    },
    async removeIdp(issuer) {
      const isFound = await removeKey(`idp:${issuer}`);
      changed();
      return isFound;
    },
    exclusive: (key, work, isDone, signal) => locks.run(`account:${key}`, work, isDone, signal),
    watch(onChange) {
      // Wrapped, so that the same function can be added twice.
      const listener = () => onChange();
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

function withoutErrorTexts(store: AuthStore): AuthStore {
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch {
      throw new CredentialStoreError(
        '"get", "set" or "delete" of auth.store threw an error, which is not shown because it may contain a secret; debug these functions',
      );
    }
  };
  return {
    get: (key) => guarded(() => store.get(key)),
    set: (key, value) => guarded(() => store.set(key, value)),
    delete: (key) => guarded(() => store.delete(key)),
  };
}

/** Runs the work of each key one after the other. */
class ProcessLocks {
  readonly #running = new Map<string, Promise<unknown>>();

  async run<T>(
    key: string,
    work: () => Promise<T>,
    isDone: () => Promise<boolean> = async () => false,
    signal?: AbortSignal,
  ): Promise<T | undefined> {
    const before = this.#running.get(key);
    const own = (async () => {
      if (before !== undefined) {
        await before.catch(() => {});
        signal?.throwIfAborted();
        if (await isDone()) return undefined;
      }
      return work();
    })();
    this.#running.set(key, own);
    const end = () => this.#running.get(key) === own && this.#running.delete(key);
    own.then(end, end);
    if (before === undefined || signal === undefined) return own;
    await untilAborted(
      before.catch(() => {}),
      signal,
    );
    return own;
  }
}

/** A value that cannot be parsed counts as absent, so that the person can sign in again. */
function parse<T>(text: string | undefined, isValid: (value: unknown) => value is T): T | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isValid(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isAccount(value: unknown): value is Account {
  return (
    isRecord(value) &&
    typeof value.server === 'string' &&
    typeof value.issuer === 'string' &&
    isRecord(value.authorizationServer) &&
    isRecord(value.client) &&
    (value.tokens === undefined || isTokens(value.tokens))
  );
}

function isIdpAccount(value: unknown): value is IdpAccount {
  return (
    isRecord(value) &&
    typeof value.issuer === 'string' &&
    typeof value.clientId === 'string' &&
    isRecord(value.authorizationServer) &&
    isTokens(value.tokens)
  );
}

function isTokens(value: unknown): boolean {
  return isRecord(value) && typeof value.accessToken === 'string' && typeof value.tokenType === 'string';
}
