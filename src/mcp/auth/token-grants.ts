import { createHash, type JsonWebKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { DpopSession, OAuthClientProvider, OAuthTokens } from '@modelcontextprotocol/client';
import type { OAuthEntry } from '../../protocol/server-entry.ts';
import { type AuthFetch, AuthRequestError } from './auth-fetch.ts';
import {
  type Account,
  AuthError,
  type AuthorizationServer,
  type StoredClient,
  type StoredTokens,
} from './auth-types.ts';
import { clientAuthentication, keyAuthentication } from './client-authentication.ts';
import { CredentialStoreError } from './credential-store.ts';
import { isSameIssuer, otherIssuer, requiresDpop } from './discovery.ts';

/** The identity provider of an organization. */
export type IdentityProvider = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  /** Default: that of the issuer's metadata. */
  readonly tokenEndpoint?: string;
  /** The port of the redirect URI of a sign-in. Default: a free port. */
  readonly callbackPort?: number;
  /** Returns a current ID token of the user. Default: that of the stored sign-in, which `onAuthorize` starts if needed. */
  idToken?(): Promise<string>;
};

/** What a token request needs. */
export type GrantInput = {
  readonly server: string;
  readonly oauth: OAuthEntry;
  readonly authorizationServer: AuthorizationServer;
  readonly scope: string | undefined;
  readonly fetch: AuthFetch;
  readonly dpop: DpopSession | undefined;
  readonly identityProvider: IdentityProvider | undefined;
};

/** Obtains tokens without a person: with the client's own credentials, the workload's JWT, or the user's ID token. */
export async function obtainByGrant(
  input: GrantInput,
): Promise<{ readonly client: StoredClient; readonly tokens: StoredTokens }> {
  const { server, oauth, authorizationServer, scope, fetch: fetchFn, dpop } = input;
  const { url, metadata, resource, issuer } = authorizationServer;
  const { clientId, clientSecret } = oauth;
  if (clientId === undefined)
    throw new AuthError(
      'registration-required',
      server,
      '"oauth.grant" and "oauth.xaa" require "oauth.clientId"; set it in the entry',
    );
  if (oauth.issuer === undefined) {
    const detail =
      '"oauth.grant" and "oauth.xaa" require "oauth.issuer", because the server must not choose where the credentials are sent; set it in the entry';
    throw new AuthError('issuer-mismatch', server, detail);
  }
  if (!isSameIssuer(oauth.issuer, issuer)) throw otherIssuer(server);
  const client: StoredClient = {
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    origin: 'pre-registered',
  };
  const assertion = await assertionOf(input, clientId);
  const addClientAuthentication =
    (await keyAuthentication(server, oauth, clientId)) ?? clientAuthentication(client);
  const prepareTokenRequest = (asked?: string) =>
    new URLSearchParams({
      ...(assertion === undefined
        ? { grant_type: 'client_credentials' }
        : { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }),
      ...(asked && { scope: asked }),
    });
  const { fetchToken } = await import('@modelcontextprotocol/client');
  // Only these members are used for a grant that the client prepares itself.
  const provider = {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [], ...(scope !== undefined && { scope }) },
    clientInformation: () => ({ ...client, issuer }),
    tokens: () => undefined,
    prepareTokenRequest,
    addClientAuthentication,
    ...(dpop && { dpop: () => dpop }),
  } as unknown as OAuthClientProvider;
  const tokens = await fetchToken(provider, url, {
    fetchFn,
    ...(metadata && { metadata }),
    ...(resource !== undefined && { resource }),
    ...(scope !== undefined && { scope }),
  });
  const binding = bindingOf(dpop, authorizationServer, oauth);
  return { client, tokens: toStoredTokens(server, tokens, scope, binding) };
}

/** The JWT of the grant; undefined for client credentials. */
async function assertionOf(input: GrantInput, clientId: string): Promise<string | undefined> {
  const { server, oauth, authorizationServer, scope, identityProvider, fetch: fetchFn } = input;
  if (oauth.xaa === true) {
    if (identityProvider === undefined) {
      const detail =
        '"oauth.xaa" needs the identity provider of the organization; run: toolplane mcp xaa setup, or set auth.identityProvider of createHost()';
      throw new AuthError('unsupported', server, detail);
    }
    return identityAssertion(server, identityProvider, authorizationServer, scope, fetchFn);
  }
  if (oauth.grant !== 'jwt-bearer') return undefined;
  const { assertionFile } = oauth;
  if (assertionFile === undefined)
    throw new AuthError(
      'unsupported',
      server,
      `"oauth.grant": "jwt-bearer" requires "oauth.assertionFile"; set it in the entry to a file with the JWT of client ${clientId}`,
    );
  try {
    return (await readFile(assertionFile, 'utf8')).trim();
  } catch {
    throw new AuthError(
      'unsupported',
      server,
      '"oauth.assertionFile" cannot be read; check the path and the permissions of the file',
    );
  }
}

/** Exchanges the ID token of the user for an assertion to the authorization server of the MCP server. */
async function identityAssertion(
  server: string,
  { issuer, clientId, clientSecret, tokenEndpoint, idToken }: IdentityProvider,
  authorizationServer: AuthorizationServer,
  scope: string | undefined,
  fetchFn: AuthFetch,
): Promise<string> {
  const { discoverAuthorizationServerMetadata, requestJwtAuthorizationGrant } = await import(
    '@modelcontextprotocol/client'
  );
  const metadata =
    tokenEndpoint === undefined ? await discoverAuthorizationServerMetadata(issuer, { fetchFn }) : undefined;
  const subjectToken = await idToken?.().catch((failure: unknown) => {
    if (failure instanceof AuthError) throw new AuthError(failure.authCode, server, failure.detail);
    throw new AuthError(
      'sign-in-required',
      server,
      'there is no current ID token of the user, because idToken() of the identity provider failed; debug that function',
    );
  });
  const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
    tokenEndpoint: tokenEndpoint ?? metadata?.token_endpoint ?? new URL('/token', issuer).href,
    audience: authorizationServer.issuer,
    resource: authorizationServer.resource ?? authorizationServer.url,
    idToken: subjectToken ?? '',
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    ...(scope !== undefined && { scope }),
    fetchFn,
  }).catch((failure) => {
    // The identity provider decides which servers its users may use.
    const isUnanswered = ['AbortError', 'TimeoutError'].includes((failure as Error | undefined)?.name ?? '');
    if (failure instanceof AuthRequestError || isUnanswered) throw failure;
    const detail = `the identity provider ${new URL(issuer).origin} does not grant access to this server; ask the administrator of the identity provider`;
    throw new AuthError('denied', server, detail);
  });
  return jwtAuthGrant;
}

/** Obtains tokens with the refresh token of an account. */
export async function obtainByRefresh(
  account: Account & { readonly tokens: StoredTokens & { readonly refreshToken: string } },
  fetchFn: AuthFetch,
  dpop: DpopSession | undefined,
): Promise<StoredTokens> {
  const { server, authorizationServer, client, tokens: before } = account;
  const { url, metadata, resource } = authorizationServer;
  const { refreshAuthorization } = await import('@modelcontextprotocol/client');
  const tokens = await refreshAuthorization(url, {
    clientInformation: client,
    addClientAuthentication: clientAuthentication(client),
    refreshToken: before.refreshToken,
    fetchFn,
    ...(metadata && { metadata }),
    ...(resource !== undefined && { resource }),
    ...(dpop && { dpop }),
  });
  return toStoredTokens(server, tokens, before.scope, dpop ? 'required' : 'none');
}

/** Whether a token response must, may or must not be bound to the key of the client. */
export type TokenBinding = 'required' | 'possible' | 'none';

export function bindingOf(
  dpop: DpopSession | undefined,
  authorizationServer: AuthorizationServer,
  oauth: OAuthEntry,
): TokenBinding {
  if (dpop === undefined) return 'none';
  return requiresDpop(authorizationServer, oauth) ? 'required' : 'possible';
}

export function isBound(tokens: StoredTokens | undefined): tokens is StoredTokens {
  return tokens?.tokenType.toLowerCase() === 'dpop';
}

/** Checks a token response. The requested scope applies unless the response names another one. */
export function toStoredTokens(
  server: string,
  tokens: OAuthTokens,
  requestedScope: string | undefined,
  binding: TokenBinding = 'none',
): StoredTokens {
  const { access_token: accessToken, token_type: tokenType, refresh_token, id_token, expires_in } = tokens;
  const scope = tokens.scope !== undefined && isScopeList(tokens.scope) ? tokens.scope : requestedScope;
  if (!/^[\x21-\x7e]+$/.test(accessToken) || !/^(bearer|dpop)$/i.test(tokenType)) {
    const detail =
      'the authorization server returned an access token with invalid characters, or a token type other than Bearer and DPoP; report this to its operator';
    throw new AuthError('invalid-response', server, detail);
  }
  const isBound = tokenType.toLowerCase() === 'dpop';
  if (binding === (isBound ? 'none' : 'required')) {
    const detail = isBound
      ? 'the authorization server returned a DPoP token, but a Bearer token was requested; set "oauth.dpop": true in the entry to use DPoP'
      : 'the authorization server returned a Bearer token, but "oauth.dpop" or its own metadata requires DPoP; enable DPoP for this client there';
    throw new AuthError('invalid-response', server, detail);
  }
  const now = Date.now();
  const givenMs = Number(expires_in) * 1000;
  // The minimum keeps background renewals from running without a pause.
  const lifetimeMs = givenMs > 0 ? Math.min(Math.max(givenMs, MIN_LIFETIME_MS), MAX_LIFETIME_MS) : 0;
  return {
    accessToken,
    tokenType,
    ...(refresh_token && { refreshToken: refresh_token }),
    ...(id_token !== undefined && { idToken: id_token }),
    ...(scope !== undefined && { scope }),
    obtainedAt: now,
    ...(lifetimeMs > 0 && { expiresAt: now + lifetimeMs }),
  };
}

const MIN_LIFETIME_MS = 1000;
export const MAX_LIFETIME_MS = 365 * 24 * 3600 * 1000;

/** Maximum length of a scope list in a token response. Longer lists are ignored, and the requested scopes are kept. */
const MAX_SCOPE_LENGTH = 2_000;

/** Scopes as RFC 6749 defines them. */
function isScopeList(text: string): boolean {
  return text.length <= MAX_SCOPE_LENGTH && /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(text);
}
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' };

/** A DPoP session with the key of an account, or with a new key. */
export async function openDpop(key?: JsonWebKey): Promise<{ session: DpopSession; key: JsonWebKey }> {
  const { DpopSession, generateDpopKeyPair } = await import('@modelcontextprotocol/client');
  if (key === undefined) {
    const keyPair = await generateDpopKeyPair({ extractable: true });
    const made = (await crypto.subtle.exportKey('jwk', keyPair.privateKey)) as JsonWebKey;
    return { session: await DpopSession.create({ keyPair }), key: made };
  }
  const { kty, crv, x, y, d } = key as Record<'kty' | 'crv' | 'x' | 'y' | 'd', string>;
  const publicJwk = { kty, crv, x, y };
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey('jwk', { ...publicJwk, d }, CURVE, false, ['sign']),
    crypto.subtle.importKey('jwk', publicJwk, CURVE, true, ['verify']),
  ]);
  const thumbprint = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
  const keyPair = { privateKey, publicKey, publicJwk, thumbprint, alg: 'ES256' as const };
  return { session: await DpopSession.create({ keyPair }), key };
}

/** Converts any failure of the flow. Texts of servers are dropped, since they may repeat codes, tokens or secrets. */
export function toAuthError(server: string, failure: unknown): AuthError {
  if (failure instanceof AuthError) return failure;
  const fail = (code: AuthError['authCode'], detail: string) => new AuthError(code, server, detail);
  if (failure instanceof AuthRequestError) {
    if (failure.reason === 'address')
      return fail('insecure-address', `authorization stopped: ${failure.message}`);
    const code = failure.reason === 'response' ? 'invalid-response' : 'unreachable';
    return fail(code, `authorization failed: ${failure.message}`);
  }
  if (failure instanceof CredentialStoreError)
    return fail('store-unusable', `authorization failed: ${failure.message}`);
  const { name, code } = failure instanceof Error ? (failure as Error & { code?: unknown }) : {};
  if (name === 'AbortError') return fail('cancelled', 'the authorization was cancelled');
  if (name === 'TimeoutError') return fail('timeout', 'the authorization did not finish in time; try again');
  if (name === 'IssuerMismatchError')
    return fail(
      'issuer-mismatch',
      'the response comes from another authorization server than the expected one; sign in again',
    );
  if (name === 'InsecureTokenEndpointError')
    return fail(
      'insecure-address',
      'the token endpoint of its authorization server does not use https; report this to the operator of that server',
    );
  if (name === 'RegistrationRejectedError')
    return fail(
      'registration-refused',
      'its authorization server refused to register this client; set "oauth.clientId" in its entry',
    );
  const known =
    typeof code === 'string' && Object.hasOwn(OAUTH_ERRORS, code) ? OAUTH_ERRORS[code] : undefined;
  if (known) return fail(...known);
  return fail(
    'invalid-response',
    'its authorization server sent an unusable response; report this to the operator of that server',
  );
}

const OAUTH_ERRORS: Readonly<Record<string, readonly [AuthError['authCode'], string]>> = {
  access_denied: ['denied', 'the sign-in was refused'],
  invalid_grant: [
    'invalid-grant',
    'its authorization server rejected the grant (invalid_grant): sign in again or, with "oauth.grant" or "oauth.xaa", check the credentials of its entry',
  ],
  invalid_client: [
    'invalid-client',
    'its authorization server does not accept this client; check "oauth" in its entry',
  ],
  unauthorized_client: [
    'invalid-client',
    'this client may not use this kind of grant; check "oauth" in its entry',
  ],
  unsupported_grant_type: [
    'unsupported',
    'its authorization server does not support this kind of grant; check "oauth" in its entry',
  ],
  invalid_scope: [
    'insufficient-scope',
    'its authorization server refused the requested scopes; check "oauth.scopes"',
  ],
  server_error: ['unreachable', 'its authorization server failed; try again later'],
  temporarily_unavailable: ['unreachable', 'its authorization server is not available; try again later'],
};
