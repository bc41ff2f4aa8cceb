import { randomBytes } from 'node:crypto';
import type { OAuthTokens } from '@modelcontextprotocol/client';
import type { JSONWebKeySet, JWTPayload } from 'jose';
import { type AuthFetch, createAuthFetch } from './auth-fetch.ts';
import {
  AuthError,
  type AuthErrorCode,
  type AuthorizationServer,
  type CredentialStore,
  type IdpAccount,
  type PendingSignIn,
  type SignedOut,
  type SignInOptions,
  type StoredClient,
} from './auth-types.ts';
import { listenForCallback } from './callback-listener.ts';
import { clientAuthentication } from './client-authentication.ts';
import { checkEndpoints } from './discovery.ts';
import { askForSignIn, requestCode, SIGN_IN_MS } from './sign-in.ts';
import { afterRefresh, revokeTokens } from './sign-out.ts';
import { MAX_LIFETIME_MS, toAuthError, toStoredTokens } from './token-grants.ts';

/** The client at the identity provider of an organization. */
export type IdpSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  /** The port of the redirect URI. Default: a free port. */
  readonly callbackPort?: number;
};

type IdpClient = Pick<IdpSettings, 'issuer' | 'clientId'>;

/** Whether a sign-in is one of this client at this identity provider. */
export function isSameClient(one: IdpClient, other: IdpClient | undefined): boolean {
  return one.issuer === other?.issuer && one.clientId === other.clientId;
}

/** Removes several sign-ins as `clear` does; a client secret is known only for `known`. */
export async function clearSignIns(
  clients: readonly IdpClient[],
  known: IdpSettings | undefined,
  deps: ConstructorParameters<typeof IdentityProviderSignIn>[1],
): Promise<(ClearedSignIn & { readonly issuer: string })[]> {
  const cleared = [];
  for (const { issuer, clientId } of clients) {
    const settings = known && isSameClient({ issuer, clientId }, known) ? known : { issuer, clientId };
    cleared.push({ issuer, ...(await new IdentityProviderSignIn(settings, deps).clear()) });
  }
  return cleared;
}

/** `servers` are the keys of the accounts whose tokens were obtained with the sign-in. */
type ClearedSignIn = SignedOut & { readonly servers: readonly string[] };

/** Asymmetric signatures only: ID tokens are verified with the published keys of the identity provider. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** An ID token is renewed this long before it expires. */
const EXPIRY_SKEW_MS = 60_000;
const CLOCK_TOLERANCE_S = 60;

/**
 * The sign-in of the user at the identity provider (OpenID Connect). Its ID token is exchanged for the tokens of all
 * servers of the organization, so a person signs in once.
 */
export class IdentityProviderSignIn {
  readonly #settings: IdpSettings;
  readonly #store: CredentialStore;
  readonly #fetch: AuthFetch;
  #signingIn: Promise<IdpAccount> | undefined;

  constructor(
    settings: IdpSettings,
    deps: {
      readonly store: CredentialStore;
      readonly env: Readonly<Record<string, string | undefined>>;
    },
  ) {
    const { issuer } = settings;
    this.#settings = settings;
    this.#store = deps.store;
    this.#fetch = createAuthFetch({ server: new URL(issuer), trusted: [issuer], env: deps.env });
  }

  /** A current ID token; it is renewed if it has expired. Rejects if a person has to sign in. */
  async idToken(): Promise<string> {
    const stored = await this.#read();
    if (stored && isCurrent(stored)) return idTokenOf(stored);
    const { issuer } = this.#settings;
    const isDone = async () => {
      const account = await this.#read();
      return account !== undefined && isCurrent(account);
    };
    const work = async () => {
      const account = await this.#read();
      if (account && !isCurrent(account)) await this.#renew(account);
    };
    await this.#store.exclusive(`idp:${issuer}`, work, isDone);
    const renewed = await this.#read();
    if (!renewed)
      throw this.#error('sign-in-required', 'requires you to sign in; run: toolplane mcp xaa login');
    return idTokenOf(renewed);
  }

  /** Asks a person to sign in. Concurrent sign-ins share one. */
  signIn(options: Pick<SignInOptions, 'signal' | 'onAuthorize'>): Promise<IdpAccount> {
    this.#signingIn ??= askForSignIn('', options, (signal) => this.begin({ signal })).finally(() => {
      this.#signingIn = undefined;
    });
    return this.#signingIn;
  }

  /** Starts a sign-in; the redirect completes and stores it. */
  async begin(options: Pick<SignInOptions, 'signal' | 'timeoutMs'>): Promise<PendingSignIn<IdpAccount>> {
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs ?? SIGN_IN_MS)]);
    const { callbackPort } = this.#settings;
    const [state, nonce] = [randomText(), randomText()];
    const listener = await listenForCallback({
      server: '',
      host: 'localhost',
      ...(callbackPort !== undefined && { port: callbackPort }),
      state,
      signal,
    });
    try {
      const authorizationServer = await this.#discover(signal);
      const pending = await requestCode({
        server: '',
        authorizationServer,
        client: this.#client(),
        scope: scopeOf(authorizationServer),
        listener,
        state,
        signal,
        fetch: (url, init) => this.#fetch(url, { ...init, signal }),
        parameters: { nonce },
        toAccount: async (tokens) => {
          const account = await this.#accountOf(
            authorizationServer,
            tokens,
            ({ nonce: found }) => found === nonce,
          );
          await this.#store.exclusive(
            `idp:${account.issuer}`,
            () => this.#store.writeIdp(account),
            async () => false,
          );
          return account;
        },
      });
      const done = pending.done.catch((failure) => Promise.reject(this.#toError(failure)));
      done.catch(() => {});
      return { ...pending, done };
    } catch (failure) {
      await listener[Symbol.asyncDispose]();
      throw this.#toError(failure);
    }
  }

  /** Removes the sign-in and the tokens of all servers that were obtained with it; revokes the sign-in if possible. */
  async clear(): Promise<ClearedSignIn> {
    const { issuer } = this.#settings;
    const store = this.#store;
    const signOut = async (): Promise<SignedOut> => {
      const account = await this.#read();
      const { authorizationServer, tokens } = account ?? {};
      const revoked =
        authorizationServer &&
        tokens &&
        (await revokeTokens({ authorizationServer, tokens, client: this.#client() }, this.#fetch));
      return { removed: await store.removeIdp(issuer), revoked: revoked ?? 'unsupported' };
    };
    const signedOut = await afterRefresh(store, `idp:${issuer}`, signOut);
    // Not under the lock of the sign-in, for which a refresh of a server's tokens may wait.
    const derived = (await store.list()).filter(({ identityProvider }) => identityProvider === issuer);
    for (const { server } of derived) await afterRefresh(store, server, () => store.remove(server));
    return { ...signedOut, servers: derived.map(({ server }) => server) };
  }

  /** The stored sign-in; undefined if there is none for this client. */
  async #read(): Promise<IdpAccount | undefined> {
    const { issuer, clientId } = this.#settings;
    const account = await this.#store.readIdp(issuer);
    return account?.clientId === clientId ? account : undefined;
  }

  async #renew(account: IdpAccount): Promise<void> {
    const { refreshToken } = account.tokens;
    const { authorizationServer } = account;
    const { metadata, url } = authorizationServer;
    const subject = await subjectOf(account);
    try {
      if (refreshToken === undefined) throw this.#error('invalid-grant', 'issued no refresh token');
      const { refreshAuthorization } = await import('@modelcontextprotocol/client');
      const tokens = await refreshAuthorization(url, {
        clientInformation: this.#client(),
        addClientAuthentication: clientAuthentication(this.#client()),
        refreshToken,
        fetchFn: this.#fetch,
        ...(metadata && { metadata }),
      });
      const renewed = await this.#accountOf(authorizationServer, tokens, ({ sub }) => sub === subject);
      // If the sign-in is gone, a sign-out removed it without waiting for this refresh.
      if (await this.#read()) await this.#store.writeIdp(renewed);
    } catch (failure) {
      const error = this.#toError(failure);
      if (error.authCode !== 'invalid-grant') throw error;
      await this.#store.removeIdp(account.issuer);
    }
  }

  /** Verifies the ID token of a token response. */
  async #accountOf(
    authorizationServer: AuthorizationServer,
    tokens: OAuthTokens,
    isExpected: (claims: JWTPayload) => boolean,
  ): Promise<IdpAccount> {
    const { issuer, clientId } = this.#settings;
    const { id_token: idToken } = tokens;
    const { jwks_uri: keysUrl } = (authorizationServer.metadata ?? {}) as { jwks_uri?: string };
    if (idToken === undefined)
      throw this.#error('invalid-response', 'returned no ID token; report this to its operator');
    if (keysUrl === undefined)
      throw this.#error('unsupported', 'publishes no keys for its ID tokens; report this to its operator');
    const { createLocalJWKSet, jwtVerify } = await import('jose');
    const keys = (await (await this.#fetch(keysUrl)).json()) as JSONWebKeySet;
    const claims = await jwtVerify(idToken, createLocalJWKSet(keys), {
      issuer: authorizationServer.issuer,
      audience: clientId,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_S,
      requiredClaims: ['exp', 'sub'],
    }).then(
      ({ payload }) => payload,
      () => undefined,
    );
    const isOurs =
      claims && (!Array.isArray(claims.aud) || claims.aud.length === 1 || claims.azp === clientId);
    if (!isOurs || !isExpected(claims))
      throw this.#error(
        'invalid-response',
        'returned an ID token that is not valid for this sign-in; check the clock of this machine, and sign in again',
      );
    const stored = toStoredTokens('', tokens, undefined);
    const longest = stored.obtainedAt + MAX_LIFETIME_MS;
    return {
      issuer,
      clientId,
      authorizationServer,
      tokens: { ...stored, idToken, expiresAt: Math.min(Number(claims.exp) * 1000, longest) },
    };
  }

  async #discover(signal: AbortSignal): Promise<AuthorizationServer> {
    const { issuer } = this.#settings;
    const { discoverAuthorizationServerMetadata } = await import('@modelcontextprotocol/client');
    const fetchFn: AuthFetch = (url, init) => this.#fetch(url, { ...init, signal });
    const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
    if (!metadata) throw this.#error('no-authorization-server', 'publishes no metadata; check "issuer"');
    checkEndpoints('', metadata);
    return { url: issuer, issuer: metadata.issuer, metadata };
  }

  #client(): StoredClient {
    const { clientId, clientSecret } = this.#settings;
    return {
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      origin: 'pre-registered',
    };
  }

  #error(code: AuthErrorCode, what: string): AuthError {
    return new AuthError(code, '', `the identity provider ${new URL(this.#settings.issuer).origin} ${what}`);
  }

  #toError(failure: unknown): AuthError {
    const error = toAuthError('', failure);
    const what = DETAILS[error.authCode];
    return what === undefined ? error : this.#error(error.authCode, what);
  }
}

const DETAILS: Partial<Record<AuthErrorCode, string>> = {
  denied: 'refused the sign-in',
  'invalid-client': 'does not accept the client; check its id and secret: toolplane mcp xaa setup',
  'issuer-mismatch': 'names another issuer in its metadata; check "issuer"',
};

function randomText(): string {
  return randomBytes(32).toString('base64url');
}

/** `offline_access` asks for a refresh token, with which the ID token is renewed. */
function scopeOf({ metadata }: AuthorizationServer): string {
  const supported = metadata?.scopes_supported;
  return !supported || supported.includes('offline_access') ? 'openid offline_access' : 'openid';
}

function isCurrent({ tokens }: IdpAccount): boolean {
  return tokens.expiresAt !== undefined && tokens.expiresAt - EXPIRY_SKEW_MS > Date.now();
}

function idTokenOf({ tokens }: IdpAccount): string {
  return tokens.idToken ?? '';
}

async function subjectOf(account: IdpAccount): Promise<string | undefined> {
  const { decodeJwt } = await import('jose');
  return decodeJwt(idTokenOf(account)).sub;
}
