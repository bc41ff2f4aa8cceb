import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { withExclusiveLock } from '../../base/files/file-lock.ts';
import { isRecord } from '../../base/json-value.ts';
import {
  type Account,
  AuthError,
  type AuthErrorCode,
  type CredentialStore,
  type DetachedRenewal,
  type IdpAccount,
} from '../../mcp/auth/auth-types.ts';
import type { IdentityProvider } from '../../mcp/auth/token-grants.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { FileWatcher } from '../watch/file-watcher.ts';
import { locksPath } from '../write/file-options.ts';
import { SealedFile } from './sealed-file.ts';
import { openSecretStore, secretsPath } from './secret-store.ts';
import { type SecretsContext, storeKeys } from './store-key.ts';

/** The name of the secret that holds the client secret for the identity provider of the settings. */
export const IDP_SECRET = 'xaa-idp-client-secret';

/** The identity provider of the settings with its stored client secret, for servers with `oauth.xaa`. */
export function configuredIdentityProvider(
  { xaaIdp }: { readonly xaaIdp?: Omit<IdentityProvider, 'idToken'> },
  context: SecretsContext,
): IdentityProvider | undefined {
  if (!xaaIdp) return undefined;
  try {
    const clientSecret = openSecretStore(context).get(IDP_SECRET);
    return { ...xaaIdp, ...(clientSecret !== undefined && { clientSecret }) };
  } catch {
    // An unusable store is reported by the first server that needs it.
    return xaaIdp;
  }
}

/**
 * The user's accounts, in the same encrypted file as the secrets. All processes of the user share them. No file is
 * created before the first write. All errors are `AuthError`s with the code `store-unusable`.
 */
export function sealedCredentialStore(
  context: SecretsContext,
): CredentialStore & { listIdps(): Promise<readonly IdpAccount[]> } {
  const sealed = new SealedFile(secretsPath(context.home), storeKeys(context));
  const change = (work: (accounts: Map<string, unknown>, idps: Map<string, unknown>) => boolean) =>
    useStore(sealed, () => sealed.change(({ accounts, idps }) => work(accounts, idps)));
  return {
    get kind() {
      return sealed.header?.kind === 'keychain' ? 'keychain' : 'file';
    },
    async read(server) {
      const { accounts } = await useStore(sealed, () => sealed.read());
      const key = [...accounts.keys()].find((it) => isOf(it, server));
      return key === undefined ? undefined : asRecord<Account>(accounts.get(key));
    },
    async list() {
      const { accounts } = await useStore(sealed, () => sealed.read());
      return [...accounts.values()].map(asRecord<Account>).filter((it) => it !== undefined);
    },
    async write(account) {
      const own = `${account.server} ${account.issuer}`;
      await change((accounts) => {
        for (const key of accounts.keys()) if (isOf(key, account.server)) accounts.delete(key);
        accounts.set(own, account);
        return true;
      });
    },
    remove: (server) =>
      change((accounts) => {
        const keys = [...accounts.keys()].filter((it) => isOf(it, server));
        for (const key of keys) accounts.delete(key);
        return keys.length > 0;
      }),
    async readIdp(issuer) {
      const { idps } = await useStore(sealed, () => sealed.read());
      return asRecord<IdpAccount>(idps.get(issuer));
    },
    async listIdps() {
      const { idps } = await useStore(sealed, () => sealed.read());
      return [...idps.values()].map(asRecord<IdpAccount>).filter((it) => it !== undefined);
    },
    async writeIdp(account) {
      await change((_, idps) => Boolean(idps.set(account.issuer, account)));
    },
    removeIdp: (issuer) => change((_, idps) => idps.delete(issuer)),
    exclusive(key, work, isDone, signal) {
      const name = createHash('sha256').update(`account:${key}`).digest('hex').slice(0, 32);
      return withExclusiveLock(join(locksPath(context.home), `${name}.lock`), work, { isDone, signal });
    },
    renewDetached: (renewal) => renewDetached(context, renewal),
    watch: (onChange) => new FileWatcher([sealed.path], Date.now(), onChange),
  };
}

/** What `refresh-worker.ts` reads. It contains secrets, which other users could see as arguments of the process. */
export type WorkerInput = { readonly context: SecretsContext; readonly renewal: DetachedRenewal };

/** What `refresh-worker.ts` prints: nothing if the renewal succeeded or was not necessary. */
export type WorkerReport = { readonly code?: AuthErrorCode; readonly detail?: string };

/** Environment variables that `refresh-worker.ts` is started with. */
const SYSTEM_VARIABLES =
  /^(?:HOME|USERPROFILE|APPDATA|LOCALAPPDATA|PATH|SYSTEMROOT|TMPDIR|TEMP|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|SSL_CERT_(?:FILE|DIR)|DBUS_SESSION_BUS_ADDRESS|XDG_RUNTIME_DIR)$/i;
/** Environment variables that `refresh-worker.ts` gets with its input instead, since they may contain a password. */
const PRIVATE_VARIABLES =
  /^(?:TOOLPLANE_(?:PASSPHRASE|SECRETS)|(?:HTTPS?|ALL|NO)_PROXY|DBUS_SESSION_BUS_ADDRESS|XDG_RUNTIME_DIR)$/i;

/** Starts `refresh-worker.ts` and waits for its report. */
async function renewDetached(
  { home, env, platform }: SecretsContext,
  { server, entry, refused, refusal }: DetachedRenewal,
): Promise<boolean> {
  const file = workerFile();
  if (file === undefined) return false;
  const { url, oauth, tls } = entry;
  // The client secret is in the account, and a private key is not used for a refresh.
  const { issuer, authServerMetadataUrl } = oauth ?? {};
  const trusted = { ...(issuer && { issuer }), ...(authServerMetadataUrl && { authServerMetadataUrl }) };
  const input: WorkerInput = {
    context: { home, env: pick(env, PRIVATE_VARIABLES), platform },
    renewal: {
      server,
      entry: { url, oauth: trusted, ...(tls && { tls }) },
      refused,
      ...(refusal && { refusal: { status: refusal.status, challenge: refusal.challenge } }),
    },
  };
  const child = spawn(process.execPath, [...certificateFlags(env), file], {
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'ignore'],
    cwd: home,
    env: pick(env, SYSTEM_VARIABLES),
  });
  // If the process cannot be started, its output is empty.
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(input));
  const report = await text(child.stdout).catch(() => '');
  try {
    const { code, detail }: WorkerReport = JSON.parse(report);
    if (code === undefined) return true;
    throw new AuthError(code, server, detail ?? '');
  } catch (failure) {
    if (failure instanceof AuthError) throw failure;
    return false;
  }
}

/** The flags of this process that choose the certificate authorities. */
function certificateFlags({ NODE_OPTIONS = '' }: SecretsContext['env']): string[] {
  const flags = [...NODE_OPTIONS.split(/\s+/), ...process.execArgv];
  return flags.filter((flag) => /^--use-(?:system|openssl|bundled)-ca$/.test(flag));
}

function pick(env: SecretsContext['env'], names: RegExp): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.test(name)));
}

/** Undefined if this program cannot start another process by a path: in a bundle, or an executable other than Node.js. */
function workerFile(): string | undefined {
  const { electron, bun } = process.versions;
  if (electron !== undefined || bun !== undefined) return undefined;
  // A single executable application would start itself.
  if (process.getBuiltinModule('node:sea').isSea()) return undefined;
  try {
    const here = import.meta.url;
    const file = fileURLToPath(new URL(`./refresh-worker${here.endsWith('.ts') ? '.ts' : '.js'}`, here));
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the key is that of an account at the server: the URL of the server and the issuer, which contain no spaces. */
function isOf(key: string, server: string): boolean {
  return key.startsWith(`${server} `);
}

function asRecord<T>(value: unknown): T | undefined {
  return isRecord(value) ? (value as T) : undefined;
}

async function useStore<T>(sealed: SealedFile, work: () => T): Promise<T> {
  try {
    await sealed.unlock();
    return work();
  } catch (cause) {
    if (cause instanceof HostError) throw new AuthError('store-unusable', '', cause.detail);
    throw cause;
  }
}
