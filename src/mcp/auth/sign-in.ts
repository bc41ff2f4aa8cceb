import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { DpopSession, OAuthTokens } from '@modelcontextprotocol/client';
import type { OAuthEntry } from '../../protocol/server-entry.ts';
import { type AuthFetch, type CheckedFetch, urlFault } from './auth-fetch.ts';
import {
  type Account,
  type AuthEntry,
  AuthError,
  type AuthorizationServer,
  type PendingSignIn,
  type SignInOptions,
  type StoredClient,
} from './auth-types.ts';
import { type CallbackListener, listenForCallback } from './callback-listener.ts';
import { clientAuthentication } from './client-authentication.ts';
import { chooseScope, discoverAuthorizationServer, parseChallenge, wantsDpop } from './discovery.ts';
import { bindingOf, openDpop, toAuthError, toStoredTokens } from './token-grants.ts';

/** What a sign-in needs besides the entry. */
export type SignInDeps = {
  readonly fetch: CheckedFetch;
  /** The stored account, whose client registration may be used again. */
  readonly account: Account | undefined;
  /** The key of the account: the URL of the server. */
  readonly key: string;
};

/** Time limit of a sign-in. */
export const SIGN_IN_MS = 5 * 60_000;

/** Asks a person to sign in and returns the new account. */
export async function signIn(
  server: string,
  entry: AuthEntry,
  deps: SignInDeps,
  options: SignInOptions,
): Promise<Account> {
  return askForSignIn(server, options, (signal) => beginSignIn(server, entry, deps, { ...options, signal }));
}

/** Asks a person to complete a sign-in. */
export async function askForSignIn<T>(
  server: string,
  options: Pick<SignInOptions, 'signal' | 'onAuthorize'>,
  begin: (signal: AbortSignal) => Promise<PendingSignIn<T>>,
): Promise<T> {
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const pending = await begin(signal);
  try {
    const { url, redirectUri } = pending;
    const asked = Promise.resolve(options.onAuthorize(url, { server, redirectUri, signal })).then(
      (answer) => {
        if (answer !== undefined) pending.complete(String(answer));
        return pending.done;
      },
    );
    return await Promise.race([pending.done, asked]);
  } catch (failure) {
    throw toAuthError(server, failure);
  } finally {
    over.abort();
    pending.done.catch(() => {});
  }
}

/** Starts a sign-in: discovery, client registration and the address to open. The redirect completes it. */
export async function beginSignIn(
  server: string,
  entry: AuthEntry,
  deps: SignInDeps,
  options: Omit<SignInOptions, 'onAuthorize'>,
): Promise<PendingSignIn> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs ?? SIGN_IN_MS)]);
  const { oauth = {} } = entry;
  const fetchFn: AuthFetch = (url, init) => deps.fetch(url, { ...init, signal });
  const state = randomBytes(32).toString('base64url');
  const listener = await listenForCallback({
    server,
    host: oauth.clientId !== undefined || oauth.callbackPort !== undefined ? 'localhost' : '127.0.0.1',
    ...(oauth.callbackPort !== undefined && { port: oauth.callbackPort }),
    state,
    signal,
  });
  const { redirectUri } = listener;
  try {
    const challenge = await parseChallenge(options.refusal);
    const authorizationServer = await discoverAuthorizationServer(server, entry, challenge, fetchFn);
    const { issuer, metadata } = authorizationServer;
    // The pages of an authorization server that the configuration names are trusted.
    if (metadata && oauth.issuer === undefined && oauth.authServerMetadataUrl === undefined)
      await deps.fetch.checkPage(new URL(metadata.authorization_endpoint));
    const stored = deps.account?.issuer === issuer ? deps.account : undefined;
    const scope = chooseScope({ oauth, challenge, account: stored, authorizationServer });
    const client = await resolveClient({
      server,
      oauth,
      authorizationServer,
      stored: stored?.client,
      redirectUri,
      scope,
      fetch: fetchFn,
    });
    const dpop = wantsDpop(challenge, authorizationServer, oauth)
      ? await openDpop(stored?.dpopKey)
      : undefined;
    return await requestCode({
      server,
      authorizationServer,
      client,
      scope,
      listener,
      state,
      signal,
      fetch: fetchFn,
      dpop: dpop?.session,
      toAccount: (tokens) => ({
        server: deps.key,
        issuer,
        authorizationServer,
        client,
        tokens: toStoredTokens(server, tokens, scope, bindingOf(dpop?.session, authorizationServer, oauth)),
        signedInAt: Date.now(),
        ...(dpop && { dpopKey: dpop.key }),
        ...(scope !== undefined && { wantedScope: scope }),
      }),
    });
  } catch (failure) {
    await listener[Symbol.asyncDispose]();
    throw toAuthError(server, failure);
  }
}

type CodeRequest<T> = {
  readonly server: string;
  readonly authorizationServer: AuthorizationServer;
  readonly client: StoredClient;
  readonly scope: string | undefined;
  /** It is closed when the sign-in has ended. */
  readonly listener: CallbackListener;
  readonly state: string;
  readonly signal: AbortSignal;
  readonly fetch: AuthFetch;
  readonly dpop?: DpopSession | undefined;
  /** More parameters of the sign-in page. */
  readonly parameters?: Readonly<Record<string, string>>;
  toAccount(tokens: OAuthTokens): T | Promise<T>;
};

/** Makes the address of the sign-in page, waits for the redirect and exchanges its code for tokens. */
export async function requestCode<T>(request: CodeRequest<T>): Promise<PendingSignIn<T>> {
  const { server, authorizationServer, client, scope, listener, state, signal, dpop } = request;
  const { url: issuerUrl, metadata, resource } = authorizationServer;
  const { redirectUri, port } = listener;
  checkSupport(server, authorizationServer);
  const { exchangeAuthorization, startAuthorization } = await import('@modelcontextprotocol/client');
  const common = { ...(metadata && { metadata }), ...(resource !== undefined && { resource }) };
  const { authorizationUrl, codeVerifier } = await startAuthorization(issuerUrl, {
    ...common,
    clientInformation: client,
    redirectUrl: redirectUri,
    state,
    ...(scope !== undefined && { scope }),
  });
  for (const [name, value] of Object.entries(request.parameters ?? {}))
    authorizationUrl.searchParams.set(name, value);
  const fault = urlFault(authorizationUrl);
  if (fault !== undefined)
    throw new AuthError('insecure-address', server, `the URL of the sign-in page is not allowed: ${fault}`);
  if (authorizationUrl.href.length > MAX_PAGE_URL_LENGTH) {
    const detail = `the URL of the sign-in page has more than ${MAX_PAGE_URL_LENGTH} characters; if the server requests many scopes, set "oauth.scopes" in its entry`;
    throw new AuthError('invalid-response', server, detail);
  }
  const redirected = Promise.withResolvers<URL>();
  const finish = async (): Promise<T> => {
    const back = await Promise.race([redirected.promise, listener.received, aborted(signal)]);
    const answer = await readRedirect(server, back, state, authorizationServer);
    const tokens = await exchangeAuthorization(issuerUrl, {
      ...common,
      ...answer,
      clientInformation: client,
      addClientAuthentication: clientAuthentication(client),
      codeVerifier,
      redirectUri,
      fetchFn: request.fetch,
      ...(dpop && { dpop }),
    });
    return request.toAccount(tokens);
  };
  const done = finish()
    .catch((failure) => Promise.reject(toAuthError(server, failure)))
    .finally(() => listener[Symbol.asyncDispose]());
  done.catch(() => {});
  const complete = (text: string) => {
    if (URL.canParse(text, redirectUri)) redirected.resolve(new URL(text, redirectUri));
    else
      redirected.reject(
        new AuthError(
          'state-mismatch',
          server,
          'the redirect address is not a URL; enter the complete address that the browser shows',
        ),
      );
  };
  return { url: authorizationUrl, redirectUri, state, port, complete, done };
}

/** Maximum length of the URL of the sign-in page, which is shown to a person and is an argument of the browser. */
const MAX_PAGE_URL_LENGTH = 16 * 1024;

/** A sign-in requires authorization codes and PKCE with S256; metadata without a list of PKCE methods is accepted. */
function checkSupport(server: string, { metadata }: AuthorizationServer): void {
  const { response_types_supported: types, code_challenge_methods_supported: methods } = metadata ?? {};
  const missing =
    types && !types.includes('code')
      ? 'authorization codes'
      : methods && !methods.includes('S256')
        ? 'PKCE with S256'
        : undefined;
  if (missing !== undefined)
    throw new AuthError(
      'unsupported',
      server,
      `its authorization server does not support ${missing}, which a sign-in requires; report this to the operator of that server`,
    );
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Checks the parameters of the redirect: first state and issuer, and only then whether it reports an error. None may occur twice (RFC 6749). */
async function readRedirect(
  server: string,
  back: URL,
  state: string,
  { metadata }: AuthorizationServer,
): Promise<{ readonly authorizationCode: string; readonly iss?: string }> {
  const { searchParams: found } = back;
  if (!isEqualText(found.get('state') ?? '', state))
    throw new AuthError('state-mismatch', server, 'the redirect belongs to another sign-in; sign in again');
  const iss = found.get('iss') ?? undefined;
  const { validateAuthorizationResponseIssuer } = await import('@modelcontextprotocol/client');
  validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
  });
  if (PARAMETERS.some((name) => found.getAll(name).length > 1))
    throw new AuthError('invalid-response', server, 'the redirect contains a parameter twice; sign in again');
  const code = found.get('code');
  if (found.get('error') !== null) throw new AuthError('denied', server, 'the sign-in was refused');
  if (code === null || code === '')
    throw new AuthError(
      'invalid-response',
      server,
      'the redirect contains no usable authorization code; sign in again',
    );
  return { authorizationCode: code, ...(iss !== undefined && { iss }) };
}

const PARAMETERS = ['state', 'iss', 'code', 'error'];

function isEqualText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

type ClientInput = {
  readonly server: string;
  readonly oauth: OAuthEntry;
  readonly authorizationServer: AuthorizationServer;
  readonly stored: StoredClient | undefined;
  readonly redirectUri: string;
  readonly scope: string | undefined;
  readonly fetch: AuthFetch;
};

/** The client to use: of the entry, its metadata document, an earlier registration, or a new registration. */
export async function resolveClient(input: ClientInput): Promise<StoredClient> {
  const { server, oauth, authorizationServer, stored, redirectUri, scope, fetch: fetchFn } = input;
  const { url, issuer, metadata } = authorizationServer;
  const { clientId, clientSecret, clientMetadataUrl } = oauth;
  if (clientId !== undefined) {
    if (clientSecret !== undefined && oauth.issuer === undefined) {
      const detail =
        '"oauth.clientSecret" requires "oauth.issuer", because the server must not choose where the client secret is sent; set "oauth.issuer" in the entry';
      throw new AuthError('issuer-mismatch', server, detail);
    }
    const secret = clientSecret === undefined ? {} : { client_secret: clientSecret };
    return { client_id: clientId, ...secret, origin: 'pre-registered', redirectUri };
  }
  if (clientMetadataUrl !== undefined && metadata?.client_id_metadata_document_supported === true)
    return { client_id: clientMetadataUrl, origin: 'metadata-document', redirectUri };
  if (stored?.origin === 'registered' && stored.redirectUri === redirectUri && !isExpired(stored))
    return stored;
  if (metadata && metadata.registration_endpoint === undefined) {
    const { origin } = new URL(issuer);
    const detail = `${origin} does not register clients by itself; register one there with the redirect URI ${redirectUri} and set "oauth": {"clientId", "callbackPort"} in its entry`;
    throw new AuthError('registration-required', server, detail);
  }
  const { registerClient } = await import('@modelcontextprotocol/client');
  const made = await registerClient(url, {
    fetchFn,
    ...(metadata && { metadata }),
    ...(scope !== undefined && { scope }),
    clientMetadata: {
      client_name: 'Toolplane',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'native',
    },
  });
  const { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method } = made;
  return {
    client_id,
    ...(client_secret !== undefined && { client_secret }),
    ...(client_secret_expires_at !== undefined && { client_secret_expires_at }),
    ...(token_endpoint_auth_method !== undefined && { token_endpoint_auth_method }),
    origin: 'registered',
    redirectUri,
  };
}

function isExpired({ client_secret_expires_at: at = 0 }: StoredClient): boolean {
  return at !== 0 && at * 1000 <= Date.now();
}
