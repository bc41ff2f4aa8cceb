import { backoffMs, type Clock, jitter, pause } from '../../base/async/timers.ts';
import { shellArguments } from '../../base/text/display-text.ts';
import { AuthRequestError } from './auth-fetch.ts';
import {
  type Account,
  type AuthEntry,
  AuthError,
  type AuthStatus,
  type CredentialStore,
  type Refusal,
  type StoredTokens,
  type StoreKind,
} from './auth-types.ts';
import { uniteScopes } from './discovery.ts';
import { toAuthError } from './token-grants.ts';

/** Tokens are renewed this long before they expire, or in the last fifth of a shorter lifetime. */
const LEAD_MS = 5 * 60_000;
const LEAD_SHARE = 0.2;
/** Part of the lead by which a renewal is made earlier, so that processes do not renew at the same moment. */
const JITTER_SHARE = 0.1;

/** When tokens are renewed although they are still valid; undefined if their lifetime is not known. */
export function refreshDueAt(tokens: StoredTokens, random: number): number | undefined {
  const { obtainedAt, expiresAt } = tokens;
  if (expiresAt === undefined) return undefined;
  const leadMs = Math.min(LEAD_MS, LEAD_SHARE * (expiresAt - obtainedAt));
  return expiresAt - leadMs * (1 + JITTER_SHARE * random);
}

/** A token is not sent in the last second of its lifetime, or the last tenth of a short one. */
const EXPIRY_SKEW_MS = 1000;
const EXPIRY_SKEW_SHARE = 0.1;

export function isExpired(tokens: StoredTokens | undefined, now: number): boolean {
  if (tokens?.expiresAt === undefined) return false;
  const { obtainedAt, expiresAt } = tokens;
  const skewMs = Math.min(EXPIRY_SKEW_MS, EXPIRY_SKEW_SHARE * (expiresAt - obtainedAt));
  return expiresAt - skewMs <= now;
}

export function livesLessThan(tokens: StoredTokens | undefined, ms: number): boolean {
  return tokens?.expiresAt !== undefined && tokens.expiresAt - tokens.obtainedAt < ms;
}

/** The status of a server whose entry does not set the credentials itself. */
export function authStatusOf(
  oauth: AuthEntry['oauth'],
  account: Account | undefined,
  store: StoreKind,
  isRefused: boolean,
): AuthStatus {
  const grant = oauth?.xaa === true ? 'xaa' : oauth?.grant;
  const tokens = account?.tokens;
  if (grant === undefined && oauth === undefined && account === undefined && !isRefused)
    return { kind: 'none', state: 'none' };
  const { expiresAt, scope, refreshToken } = tokens ?? {};
  const isUsable = grant !== undefined || refreshToken !== undefined || !isExpired(tokens, Date.now());
  const missing = grant === undefined || account?.lost !== undefined ? 'needs-auth' : 'none';
  return {
    kind: grant ?? 'oauth',
    state: tokens === undefined || isRefused ? missing : isUsable ? 'authorized' : 'expired',
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    ...(scope !== undefined && { scopes: scope.split(' ').filter((it) => it !== '') }),
    ...(account && { issuer: account.issuer }),
    ...(account && { store }),
  };
}

/** Obtains new tokens for an account. Undefined if that is not possible without a person. */
export type Obtain = (
  stored: Account | undefined,
  refusal: Refusal | undefined,
) => Promise<Account | undefined>;

export type TokenSourceDeps = {
  readonly store: CredentialStore;
  readonly obtain: Obtain;
  /** Renews the tokens of the account in another process; false if they are to be renewed in this one. */
  readonly renewDetached?: (refused: string, refusal: Refusal | undefined) => Promise<boolean>;
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  /** Receives each account that replaces the current one. */
  readonly onChange: (account: Account | undefined) => void;
  /** Receives a message for the person. */
  readonly onNotice: (message: string) => void;
};

const LOST = {
  invalid_grant: 'the sign-in has expired or was revoked',
  invalid_client: 'its authorization server no longer accepts this client',
  moved: 'the server now uses another authorization server',
} as const;

export function withoutTokens({ tokens: _, ...rest }: Account, lost: NonNullable<Account['lost']>): Account {
  return { ...rest, lost };
}

/** Minimum lifetime of a token that is renewed in another process, which takes some time to start. */
const MIN_DETACHED_LIFETIME_MS = 10_000;

/** Whether each refresh replaces the refresh token, because only then a crash could lose it. */
function needsProcess({ tokens, rotates = true }: Account): boolean {
  return rotates && tokens?.refreshToken !== undefined && !livesLessThan(tokens, MIN_DETACHED_LIFETIME_MS);
}

/** Maximum time of a wait for the renewal of another process. It is longer than the time limit of a token request. */
const MAX_WAIT_MS = 90_000;
/** Attempts to reach the authorization server in one renewal, and the delays between them. */
const MAX_ATTEMPTS = 3;
const ATTEMPT_BACKOFF = { firstMs: 500, maxMs: 2_000 };
/** The delays between renewals in the background while the authorization server cannot be reached. */
const BACKGROUND_BACKOFF = { firstMs: 5_000, maxMs: 60_000 };
const NEVER = new AbortController().signal;

/**
 * Whether a request may be repeated at once. With a refresh token, only if nothing was sent: the authorization server
 * may still be processing the request, and would revoke all tokens when it received the refresh token again. A later
 * renewal sends the refresh token again: if the new one is lost, only a server that permits that keeps the sign-in.
 */
function isRepeatable(failure: unknown, stored: Account | undefined): boolean {
  if (failure instanceof AuthRequestError) return failure.reason === 'connect';
  // An `AuthError` is that of the identity provider, whose refresh token may have been sent.
  return stored?.tokens?.refreshToken === undefined && !(failure instanceof AuthError);
}

/** Maximum length of the stored scopes of one account: a server may ask for others with each response. */
const MAX_WANTED_LENGTH = 2_000;

/**
 * The tokens of one account: loaded from the store, renewed before they expire, and shared with other processes. Only
 * one renewal of an account runs at a time in all processes, since many authorization servers revoke all tokens of an
 * account if a refresh token is used twice. Other processes use the tokens that the renewal stores.
 */
export class TokenSource {
  readonly #server: string;
  readonly #key: string;
  readonly #deps: TokenSourceDeps;
  #account: Account | undefined;
  #isLoaded = false;
  #loading: Promise<void> | undefined;
  #loadFailure: unknown;
  #renewing: Promise<void> | undefined;
  #dueAt: number | undefined;
  /** Failed renewals in a row. */
  #failures = 0;
  #keepers = 0;
  #stopTimer = () => {};

  /** `server` is the name in messages, `key` the key of the account. */
  constructor(server: string, key: string, deps: TokenSourceDeps) {
    this.#server = server;
    this.#key = key;
    this.#deps = deps;
  }

  get account(): Account | undefined {
    return this.#account;
  }

  get isRenewing(): boolean {
    return this.#renewing !== undefined;
  }

  /** Why the account cannot be read; reported only if the server requires a token. */
  get loadFailure(): AuthError | undefined {
    const isFailed = !this.#isLoaded && this.#loadFailure !== undefined;
    return isFailed ? toAuthError(this.#server, this.#loadFailure) : undefined;
  }

  /** Whether the current token, if there is one, can be sent without waiting. Starts a renewal that is due. */
  get isReady(): boolean {
    if (!this.#isLoaded) return false;
    const now = this.#deps.clock.now();
    if (this.#dueAt === undefined || now < this.#dueAt) return true;
    if (isExpired(this.#account?.tokens, now)) return false;
    if (this.#failures === 0) void this.#renewInBackground();
    return true;
  }

  /** Settles when the current token can be sent; a token that has expired is renewed first. */
  async ready(): Promise<void> {
    await this.#load();
    const { tokens } = this.#account ?? {};
    if (tokens && isExpired(tokens, this.#deps.clock.now())) await this.renew(tokens.accessToken);
  }

  /** Uses an account, for example that of a sign-in. */
  use(account: Account | undefined): void {
    const lost = account?.tokens === undefined ? account?.lost : undefined;
    if (lost !== undefined && this.#account?.tokens)
      this.#deps.onNotice(
        `${LOST[lost]}; sign in again with: toolplane mcp login ${shellArguments(this.#server)}`,
      );
    this.#isLoaded = true;
    this.#account = account;
    this.#failures = 0;
    this.#dueAt = account?.tokens && refreshDueAt(account.tokens, this.#deps.random());
    this.#plan();
    this.#deps.onChange(account);
  }

  /** Uses the stored account if another process changed it. */
  async reload(): Promise<void> {
    if (!this.#isLoaded) return;
    const stored = await this.#deps.store.read(this.#key);
    const isSame =
      stored?.tokens?.accessToken === this.#account?.tokens?.accessToken &&
      stored?.signedInAt === this.#account?.signedInAt;
    if (!isSame && this.#renewing === undefined) this.use(stored);
  }

  /** Stores the scopes that a refused request lacked, so that the next sign-in requests them too. */
  async want(scope: string): Promise<void> {
    const { store } = this.#deps;
    const changed = async () => {
      const stored = await store.read(this.#key);
      const wantedScope = uniteScopes([stored?.wantedScope, stored?.tokens?.scope, scope]);
      const isNew = wantedScope !== stored?.wantedScope && wantedScope.length <= MAX_WANTED_LENGTH;
      return stored && isNew ? { ...stored, wantedScope } : undefined;
    };
    const write = async () => {
      const account = await changed();
      if (account) await store.write(account);
    };
    const isStored = async () => (await changed()) === undefined;
    // The refused request reports the scopes, whether or not they are stored.
    await store.exclusive(this.#key, write, isStored, AbortSignal.timeout(MAX_WAIT_MS)).catch(() => {});
  }

  /** Renews the tokens before they expire until the result is disposed. */
  keepFresh(): Disposable {
    this.#keepers++;
    this.#plan();
    let isKept = true;
    return {
      [Symbol.dispose]: () => {
        if (!isKept) return;
        isKept = false;
        this.#keepers--;
        this.#plan();
      },
    };
  }

  /**
   * Replaces the access token `refused`, which may also have expired. Concurrent calls share one renewal. The account
   * stays as it is if no token can be obtained without a person. Rejects with an `AuthError`.
   */
  renew(refused: string | undefined, refusal?: Refusal): Promise<void> {
    this.#renewing ??= this.#renew(refused, refusal).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renew(refused: string | undefined, refusal: Refusal | undefined): Promise<void> {
    const { store } = this.#deps;
    const isDone = async () => this.#isRenewed(await store.read(this.#key), refused);
    const unstored: { account?: Account } = {};
    const work = async () => {
      const stored = await store.read(this.#key);
      if (this.#isRenewed(stored, refused)) return;
      const renewed = await this.#obtain(stored, refusal);
      if (!renewed) return;
      // The account is gone: a sign-out did not wait for this renewal.
      if (stored && !(await store.read(this.#key))) return;
      try {
        await store.write(renewed);
      } catch {
        unstored.account = renewed;
      }
    };
    const signal = AbortSignal.timeout(MAX_WAIT_MS);
    try {
      if (!(await this.#renewDetached(refused, refusal, isDone, signal)))
        await store.exclusive(this.#key, work, isDone, signal);
      if (unstored.account) this.#useUnstored(unstored.account);
      else this.use(await store.read(this.#key));
    } catch (failure) {
      this.#failures++;
      this.#plan();
      if (failure !== signal.reason) throw toAuthError(this.#server, failure);
      const detail = 'another process is renewing the access token and did not finish in time; try again';
      throw new AuthError('unreachable', this.#server, detail);
    }
  }

  /**
   * Renews the tokens in another process. Only one process starts it, under a lock of its own: if this process is killed,
   * the next one starts another renewal, which waits for the first.
   */
  async #renewDetached(
    refused: string | undefined,
    refusal: Refusal | undefined,
    isDone: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { store, renewDetached } = this.#deps;
    if (renewDetached === undefined || refused === undefined) return false;
    const start = async () => {
      const stored = await store.read(this.#key);
      if (this.#isRenewed(stored, refused)) return true;
      return (
        stored?.tokens?.accessToken === refused && needsProcess(stored) && renewDetached(refused, refusal)
      );
    };
    return (await store.exclusive(`start ${this.#key}`, start, isDone, signal)) ?? true;
  }

  async #obtain(stored: Account | undefined, refusal: Refusal | undefined): Promise<Account | undefined> {
    const { obtain, clock, random } = this.#deps;
    for (let attempt = 1; ; attempt++) {
      try {
        return await obtain(stored, refusal);
      } catch (failure) {
        const error = toAuthError(this.#server, failure);
        const isOver = attempt === MAX_ATTEMPTS || !isRepeatable(failure, stored);
        if (error.authCode !== 'unreachable' || isOver) throw error;
        await pause(clock, jitter(backoffMs(ATTEMPT_BACKOFF, attempt), random()), NEVER);
      }
    }
  }

  /** Uses tokens that cannot be stored and are lost when the process ends: those in the store may be invalid by now. */
  #useUnstored(account: Account): void {
    this.use(account);
    this.#deps.onNotice(
      `the renewed access token cannot be stored, so that you have to sign in again after a restart; check that the disk is writable and not full`,
    );
  }

  #isRenewed(stored: Account | undefined, refused: string | undefined): boolean {
    const tokens = stored?.tokens;
    return (
      tokens !== undefined && tokens.accessToken !== refused && !isExpired(tokens, this.#deps.clock.now())
    );
  }

  #load(): Promise<void> {
    if (this.#isLoaded) return Promise.resolve();
    this.#loading ??= this.#deps.store
      .read(this.#key)
      .then(
        (account) => {
          if (!this.#isLoaded) this.use(account);
        },
        (failure: unknown) => {
          this.#loadFailure = failure;
        },
      )
      .finally(() => {
        this.#loading = undefined;
      });
    return this.#loading;
  }

  /** Sets the timer of the next renewal in the background. */
  #plan(): void {
    this.#stopTimer();
    this.#stopTimer = () => {};
    const { clock, random } = this.#deps;
    if (this.#keepers === 0 || this.#dueAt === undefined || this.#account?.tokens === undefined) return;
    const backoff =
      this.#failures === 0 ? 0 : jitter(backoffMs(BACKGROUND_BACKOFF, this.#failures), random());
    const waitMs = Math.max(backoff, this.#dueAt - clock.now());
    this.#stopTimer = clock.after(waitMs, () => void this.#renewInBackground(), 'background');
  }

  async #renewInBackground(): Promise<void> {
    const before = this.#account?.tokens?.accessToken;
    try {
      await this.renew(before);
    } catch (failure) {
      // Another attempt is planned if it may succeed. A request with an expired token reports the failure.
      if (failure instanceof AuthError && failure.authCode === 'unreachable') return;
    }
    // There is no refresh token, or it cannot be used.
    if (this.#account?.tokens?.accessToken === before) this.#dueAt = undefined;
    this.#plan();
  }
}
