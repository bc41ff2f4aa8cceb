import type { JsonWebKey } from 'node:crypto';
import type { DpopSession } from '@modelcontextprotocol/client';
import { type Clock, SYSTEM_CLOCK } from '../../base/async/timers.ts';
import { type AuthFetch, createAuthFetch } from './auth-fetch.ts';
import {
  type Account,
  type AuthEntry,
  AuthError,
  type AuthHeaders,
  type Authorizer,
  type AuthStatus,
  type CredentialStore,
  type DetachedRenewal,
  type HostAuth,
  isMachineGrant,
  type OnAuthorize,
  type PendingSignIn,
  type Refusal,
  type SignedOut,
  type SignInOptions,
} from './auth-types.ts';
import type { IdentityProviderSignIn } from './cross-app-access.ts';
import {
  chooseScope,
  discoverAuthorizationServer,
  httpUrl,
  isSameIssuer,
  parseChallenge,
  wantsDpop,
} from './discovery.ts';
import {
  type IdentityProvider,
  isBound,
  obtainByGrant,
  obtainByRefresh,
  openDpop,
  toAuthError,
} from './token-grants.ts';
import { authStatusOf, livesLessThan, TokenSource, withoutTokens } from './token-refresh.ts';

export type ServerAuthDeps = {
  readonly store: CredentialStore;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onAuthorize?: OnAuthorize | undefined;
  readonly identityProvider?: IdentityProvider | undefined;
  /** Receives messages for the person, such as that the tokens of a server were revoked. */
  readonly onNotice?: (server: string, message: string) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
};

/** The authorization of all servers of one host. */
export class ServerAuth implements HostAuth {
  readonly #deps: ServerAuthDeps;
  readonly #idpSettings: IdentityProvider | undefined;
  #idpSignIn: Promise<IdentityProviderSignIn> | undefined;
  /** No ID token was found at the last attempt. */
  #isIdpMissing = false;
  readonly #authorizers = new Map<string, ServerAuthorizer>();
  readonly #signingIn = new Map<string, Promise<Account>>();
  readonly #listeners = new Set<(server: string) => void>();
  #watch: Disposable | undefined;
  #isReloadPlanned = false;

  constructor(deps: ServerAuthDeps) {
    const { identityProvider: given } = deps;
    const idToken = async () => {
      const idp = await this.#identityProvider();
      this.#isIdpMissing = true;
      const token = (await idp?.idToken()) ?? '';
      this.#isIdpMissing = false;
      return token;
    };
    const isComplete = given === undefined || given.idToken !== undefined;
    this.#deps = isComplete ? deps : { ...deps, identityProvider: { ...given, idToken } };
    this.#idpSettings = isComplete ? undefined : given;
  }

  /** The sign-in at the identity provider; undefined if the program supplies ID tokens itself, or there is none. */
  #identityProvider(): Promise<IdentityProviderSignIn> | undefined {
    const settings = this.#idpSettings;
    this.#idpSignIn ??=
      settings &&
      import('./cross-app-access.ts').then((it) => new it.IdentityProviderSignIn(settings, this.#deps));
    return this.#idpSignIn;
  }

  get isInteractive(): boolean {
    return this.#deps.onAuthorize !== undefined;
  }

  authorizer(server: string, entry: AuthEntry): ServerAuthorizer | undefined {
    const { url, headers = {}, headersHelper, oauth, tls } = entry;
    const isConfigured = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
    if (isConfigured || headersHelper !== undefined || !URL.canParse(url)) return undefined;
    const key = JSON.stringify([server, url, oauth, tls]);
    const held = this.#authorizers.get(key);
    if (held) return held;
    const made = new ServerAuthorizer(server, entry, this.#deps);
    this.#authorizers.set(key, made);
    this.#watchStore();
    return made;
  }

  onSignedIn(listener: (server: string) => void): Disposable {
    // Wrapped, so that the same function can be added twice.
    const own = (server: string) => listener(server);
    this.#listeners.add(own);
    this.#watchStore();
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(own);
        this.#watchStore();
      },
    };
  }

  /** Watches the store as long as a listener and an authorizer need it. */
  #watchStore(): void {
    const isNeeded = this.#listeners.size > 0 && this.#authorizers.size > 0;
    if (isNeeded) this.#watch ??= this.#deps.store.watch(() => this.#planReload());
    else {
      this.#watch?.[Symbol.dispose]();
      this.#watch = undefined;
    }
  }

  /** One reload covers several changes. */
  #planReload(): void {
    if (this.#isReloadPlanned) return;
    this.#isReloadPlanned = true;
    const reload = () => {
      this.#isReloadPlanned = false;
      void this.#reload();
    };
    (this.#deps.clock ?? SYSTEM_CLOCK).after(RELOAD_DELAY_MS, reload, 'background');
  }

  /** Uses the accounts that another process stored. */
  async #reload(): Promise<void> {
    const { identityProvider, store } = this.#deps;
    const isAtIdp = this.#isIdpMissing && identityProvider && (await store.readIdp(identityProvider.issuer));
    if (isAtIdp) this.#isIdpMissing = false;
    for (const authorizer of this.#authorizers.values()) {
      const before = authorizer.signedInAt;
      // A store that cannot be read is reported by the next request.
      await authorizer.reload().catch(() => {});
      const { signedInAt } = authorizer;
      const hasSignedIn = signedInAt !== undefined && signedInAt !== before;
      if (hasSignedIn || (isAtIdp && authorizer.isXaa)) this.#reportSignIn(authorizer.server);
    }
  }

  #reportSignIn(server: string): void {
    for (const listener of [...this.#listeners]) listener(server);
  }

  /** Replaces an access token, as a refused request would. Rejects with an `AuthError`. */
  async renew({ server, entry, refused, refusal }: DetachedRenewal): Promise<void> {
    const url = new URL(httpUrl(entry.url));
    const whole = refusal && { ...refusal, dpopNonce: undefined, sent: {}, url };
    await this.authorizer(server, entry)?.renew(refused, whole);
  }

  /** Concurrent sign-ins to one server share one. */
  signIn(
    server: string,
    entry: AuthEntry,
    options: Pick<SignInOptions, 'signal' | 'refusal'>,
  ): Promise<Account> {
    const key = accountKey(entry.url);
    const running = this.#signingIn.get(key) ?? this.#signIn(server, entry, options);
    this.#signingIn.set(key, running);
    const end = () => this.#signingIn.get(key) === running && this.#signingIn.delete(key);
    running.then(end, end);
    return running;
  }

  async #signIn(
    server: string,
    entry: AuthEntry,
    options: Pick<SignInOptions, 'signal' | 'refusal'>,
  ): Promise<Account> {
    const { onAuthorize } = this.#deps;
    if (onAuthorize === undefined) throw new AuthError('unsupported', server, NO_CALLBACK);
    const idp = entry.oauth?.xaa === true ? await this.#identityProvider() : undefined;
    if (idp) {
      await idp.signIn({ ...options, onAuthorize });
      return this.#exchange(server, entry, options.refusal);
    }
    const { signIn } = await import('./sign-in.ts');
    const deps = await this.#signInDeps(entry);
    return this.#keep(server, entry, await signIn(server, entry, deps, { ...options, onAuthorize }));
  }

  async begin(
    server: string,
    entry: AuthEntry,
    options: Omit<SignInOptions, 'onAuthorize'>,
  ): Promise<PendingSignIn> {
    const { beginSignIn } = await import('./sign-in.ts');
    const refusal = options.refusal ?? this.authorizer(server, entry)?.unresolved;
    const idp = entry.oauth?.xaa === true ? await this.#identityProvider() : undefined;
    if (idp) {
      const atIdp = await idp.begin(options);
      const exchanged = atIdp.done.then(() => this.#exchange(server, entry, refusal));
      exchanged.catch(() => {});
      return { ...atIdp, done: exchanged };
    }
    const deps = await this.#signInDeps(entry);
    const pending = await beginSignIn(server, entry, deps, { ...options, ...(refusal && { refusal }) });
    const done = pending.done.then((account) => this.#keep(server, entry, account));
    done.catch(() => {});
    return { ...pending, done };
  }

  /** Obtains the tokens of a server after a sign-in at the identity provider. */
  async #exchange(server: string, entry: AuthEntry, refusal: Refusal | undefined): Promise<Account> {
    const account = await this.authorizer(server, entry)?.obtain(refusal);
    if (!account?.tokens) throw new AuthError('unsupported', server, OWN_CREDENTIALS);
    this.#reportSignIn(server);
    return account;
  }

  async #signInDeps(entry: AuthEntry) {
    const key = accountKey(entry.url);
    return { key, account: await this.#deps.store.read(key), fetch: authFetchOf(entry, this.#deps) };
  }

  /** Stores and uses a new account. The lock keeps a refresh of the old tokens from overwriting it. */
  async #keep(server: string, entry: AuthEntry, account: Account): Promise<Account> {
    const { store } = this.#deps;
    await store.exclusive(
      account.server,
      () => store.write(account),
      async () => false,
    );
    this.authorizer(server, entry)?.use(account);
    this.#reportSignIn(server);
    return account;
  }

  async signOut(server: string, entry: AuthEntry): Promise<SignedOut> {
    const { signOut } = await import('./sign-out.ts');
    const outcome = await signOut(this.#deps.store, accountKey(entry.url), authFetchOf(entry, this.#deps));
    this.authorizer(server, entry)?.use(undefined);
    return outcome;
  }

  async status(server: string, entry: AuthEntry): Promise<AuthStatus> {
    const authorizer = this.authorizer(server, entry);
    const { headersHelper, oauth } = entry;
    if (!authorizer) return { kind: headersHelper === undefined ? 'header' : 'helper', state: 'authorized' };
    const { store } = this.#deps;
    const account = await store.read(accountKey(entry.url));
    return authStatusOf(oauth, account, store.kind, authorizer.unresolved !== undefined);
  }
}

const NO_CALLBACK =
  'the server requires a sign-in, but auth.onAuthorize of createHost() is not set; set it, or run: toolplane mcp login';
const OWN_CREDENTIALS =
  'its entry sets the credentials itself, so a sign-in has no effect; to sign in, remove "headersHelper" and the header "Authorization" from the entry';

/** Delay before a reload, since a store may report several changes for one write. */
const RELOAD_DELAY_MS = 200;

/** The key of an account: the URL without its fragment. */
export function accountKey(url: string): string {
  const key = new URL(httpUrl(url));
  key.hash = '';
  return key.href;
}

function authFetchOf({ url, oauth, tls }: AuthEntry, { env, identityProvider }: ServerAuthDeps) {
  const trusted = [
    oauth?.issuer,
    oauth?.authServerMetadataUrl,
    identityProvider?.issuer,
    identityProvider?.tokenEndpoint,
  ];
  return createAuthFetch({ server: new URL(httpUrl(url)), trusted, env, ca: tls?.ca });
}

const NO_HEADERS: AuthHeaders = Object.freeze({});
/** How often the tokens of one server may be replaced by ones with more scopes without asking a person. */
const MAX_STEP_UPS = 2;
/** Tokens with a shorter lifetime than this may expire between two attempts of a request. */
const SHORT_LIFETIME_MS = 60_000;

/** Authorizes the requests to one server. */
class ServerAuthorizer implements Authorizer {
  readonly server: string;
  readonly #entry: AuthEntry;
  readonly #key: string;
  readonly #deps: ServerAuthDeps;
  readonly #fetch: AuthFetch;
  readonly #isMachine: boolean;
  readonly #tokens: TokenSource;
  /** The headers for the current token, unless it is bound to a key. */
  #headers: AuthHeaders = NO_HEADERS;
  #dpop: { readonly session: DpopSession; readonly key: JsonWebKey } | undefined;
  #unresolved: Refusal | undefined;
  #stepUps = 0;

  constructor(server: string, entry: AuthEntry, deps: ServerAuthDeps) {
    this.server = server;
    this.#entry = entry;
    this.#key = accountKey(entry.url);
    this.#deps = deps;
    this.#fetch = authFetchOf(entry, deps);
    this.#isMachine = isMachineGrant(entry.oauth);
    this.#tokens = new TokenSource(server, this.#key, {
      store: deps.store,
      obtain: (stored, refusal) => this.#obtain(stored, refusal),
      ...(deps.store.renewDetached &&
        !this.#isMachine && { renewDetached: (...renewal) => this.#renewDetached(...renewal) }),
      clock: deps.clock ?? SYSTEM_CLOCK,
      random: deps.random ?? Math.random,
      onChange: (account) => {
        this.#unresolved = undefined;
        this.#headers = account?.tokens
          ? Object.freeze({ authorization: `Bearer ${account.tokens.accessToken}` })
          : NO_HEADERS;
      },
      onNotice: (message) => deps.onNotice?.(server, message),
    });
  }

  get unresolved(): Refusal | undefined {
    return this.#unresolved;
  }

  get isRenewing(): boolean {
    return this.#tokens.isRenewing;
  }

  /** Whether the tokens are obtained with the sign-in at the identity provider. */
  get isXaa(): boolean {
    return this.#entry.oauth?.xaa === true;
  }

  /** When a person signed in to the account in use. */
  get signedInAt(): number | undefined {
    return this.#tokens.account?.signedInAt;
  }

  use(account: Account | undefined): void {
    this.#tokens.use(account);
  }

  renew(refused: string, refusal: Refusal | undefined): Promise<void> {
    return this.#tokens.renew(refused, refusal);
  }

  reload(): Promise<void> {
    return this.#tokens.reload();
  }

  /** Obtains new tokens without a person. */
  async obtain(refusal: Refusal | undefined): Promise<Account | undefined> {
    await this.#tokens.renew(this.#tokens.account?.tokens?.accessToken, refusal);
    return this.#tokens.account;
  }

  keepFresh(): Disposable {
    return this.#tokens.keepFresh();
  }

  headers(request: { readonly method: string; readonly url: URL }): AuthHeaders | Promise<AuthHeaders> {
    if (!this.#tokens.isReady || isBound(this.#tokens.account?.tokens)) return this.#headersOf(request);
    return this.#headers;
  }

  async #headersOf({ method, url }: { readonly method: string; readonly url: URL }): Promise<AuthHeaders> {
    await this.#orAsk(this.#tokens.ready());
    const { account } = this.#tokens;
    if (!isBound(account?.tokens)) return this.#headers;
    const dpop = await this.#openDpop(account);
    const { accessToken } = account.tokens;
    const proof = await dpop.buildProof({ htm: method, htu: url, accessToken });
    return { authorization: `DPoP ${accessToken}`, dpop: proof };
  }

  onNonce(url: URL, nonce: string): void {
    this.#dpop?.session.rememberNonce(url, nonce);
  }

  async onRefused(refusal: Refusal): Promise<boolean> {
    const { status, sent, isRepeated = false } = refusal;
    if (this.#tokens.loadFailure) throw this.#tokens.loadFailure;
    const sentToken = sent.authorization?.split(' ')[1];
    const challenge = await parseChallenge(refusal);
    if (status === 401 && this.#dpop && challenge.error === 'use_dpop_nonce')
      return refusal.dpopNonce !== undefined;
    const { tokens } = this.#tokens.account ?? {};
    if (tokens !== undefined && tokens.accessToken !== sentToken) return true;
    if (status === 401 && (this.#isMachine || tokens)) {
      // A server that refuses a new token would refuse the next one too.
      if (!isRepeated || livesLessThan(tokens, SHORT_LIFETIME_MS))
        await this.#orAsk(this.#tokens.renew(sentToken, refusal));
    } else if (status === 403 && challenge.error === 'insufficient_scope') {
      if (!this.#isMachine) await this.#tokens.want(challenge.scope ?? '');
      else if (++this.#stepUps <= MAX_STEP_UPS) await this.#orAsk(this.#tokens.renew(sentToken, refusal));
    }
    const renewed = this.#tokens.account?.tokens?.accessToken;
    if (renewed !== undefined && renewed !== sentToken) return true;
    this.#unresolved = refusal;
    return false;
  }

  /** Awaits `work`; a missing sign-in at the identity provider is no error if the host can ask a person for it. */
  async #orAsk(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (failure) {
      const isMissing = failure instanceof AuthError && failure.authCode === 'sign-in-required';
      if (!isMissing || this.#deps.onAuthorize === undefined) throw failure;
    }
  }

  /** The DPoP session of an account; reused, with its nonces, while the account has the same key. */
  async #openDpop({ dpopKey }: Pick<Account, 'dpopKey'>): Promise<DpopSession> {
    if (this.#dpop === undefined || (dpopKey && this.#dpop.key.x !== dpopKey.x))
      this.#dpop = await openDpop(dpopKey);
    return this.#dpop.session;
  }

  /** The account with new tokens, or without any if they are lost; undefined if nothing changes. */
  async #obtain(stored: Account | undefined, refusal: Refusal | undefined): Promise<Account | undefined> {
    if (this.#isMachine) return this.#obtainAlone(stored, refusal);
    if (!stored?.tokens) return undefined;
    const issuer = this.#entry.oauth?.issuer ?? stored.issuer;
    if (!isSameIssuer(issuer, stored.issuer)) return withoutTokens(stored, 'moved');
    // The server may have moved to another authorization server, which must not receive the old credentials.
    if (refusal && !livesLessThan(stored.tokens, SHORT_LIFETIME_MS)) {
      const challenge = await parseChallenge(refusal);
      const found = await discoverAuthorizationServer(this.server, this.#entry, challenge, this.#fetch);
      if (found.issuer !== stored.issuer) return withoutTokens(stored, 'moved');
    }
    const { tokens } = stored;
    if (tokens.refreshToken === undefined) return undefined;
    const dpop = isBound(tokens) ? await this.#openDpop(stored) : undefined;
    try {
      const refreshable = { ...stored, tokens: { ...tokens, refreshToken: tokens.refreshToken } };
      const renewed = await obtainByRefresh(refreshable, this.#fetch, dpop);
      return { ...stored, tokens: renewed, rotates: renewed.refreshToken !== tokens.refreshToken };
    } catch (failure) {
      const { authCode } = toAuthError(this.server, failure);
      if (authCode !== 'invalid-grant' && authCode !== 'invalid-client') throw failure;
      // A process that does not share the lock may have used the refresh token.
      const newer = await this.#deps.store.read(this.#key);
      if (newer?.tokens && newer.tokens.refreshToken !== tokens.refreshToken) return undefined;
      return withoutTokens(stored, authCode === 'invalid-grant' ? 'invalid_grant' : 'invalid_client');
    }
  }

  async #renewDetached(refused: string, refusal: Refusal | undefined): Promise<boolean> {
    const renewal = { server: this.server, entry: this.#entry, refused, ...(refusal && { refusal }) };
    return (await this.#deps.store.renewDetached?.(renewal)) ?? false;
  }

  async #obtainAlone(stored: Account | undefined, refusal: Refusal | undefined): Promise<Account> {
    const { oauth = {} } = this.#entry;
    const { identityProvider } = this.#deps;
    const challenge = await parseChallenge(refusal);
    const authorizationServer =
      stored && !refusal && isSameIssuer(oauth.issuer ?? '', stored.issuer)
        ? stored.authorizationServer
        : await discoverAuthorizationServer(this.server, this.#entry, challenge, this.#fetch);
    const account = stored?.issuer === authorizationServer.issuer ? stored : undefined;
    const scope = chooseScope({ oauth, challenge, account, authorizationServer });
    const key = wantsDpop(challenge, authorizationServer, oauth)
      ? await openDpop(account?.dpopKey)
      : undefined;
    const { client, tokens } = await obtainByGrant({
      server: this.server,
      oauth,
      authorizationServer,
      scope,
      fetch: this.#fetch,
      dpop: key?.session,
      identityProvider,
    });
    return {
      server: this.#key,
      issuer: authorizationServer.issuer,
      authorizationServer,
      client,
      tokens,
      ...(key && { dpopKey: key.key }),
      ...(scope !== undefined && { wantedScope: scope }),
      ...(oauth.xaa === true && identityProvider && { identityProvider: identityProvider.issuer }),
    };
  }
}
