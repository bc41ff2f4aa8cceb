import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';
import { isRecord } from '../../base/json-value.ts';
import type { OAuthEntry } from '../../protocol/server-entry.ts';
import { isLoopback } from '../transports/http/proxy.ts';
import { type AuthFetch, urlFault } from './auth-fetch.ts';
import {
  type Account,
  type AuthEntry,
  AuthError,
  type AuthorizationServer,
  isMachineGrant,
  type Refusal,
} from './auth-types.ts';

/** The parameters of a `WWW-Authenticate` challenge that concern OAuth. */
export type Challenge = {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
  readonly error?: string;
  readonly isDpop: boolean;
};

/** Parses the Bearer or DPoP challenge of a refusal; other schemes before it are skipped. */
export async function parseChallenge(refusal: Refusal | undefined): Promise<Challenge> {
  const text = refusal?.challenge ?? '';
  const at = /(?:^|,\s*)(?=(?:bearer|dpop)(?:\s|,|$))/i.exec(text);
  const own = at ? text.slice(at.index).replace(/^,\s*/, '') : '';
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
  const headers = new Headers();
  if (own !== '') headers.set('www-authenticate', own);
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(
    new Response(null, { status: refusal?.status ?? 401, headers }),
  );
  return {
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
    ...(scope !== undefined && { scope }),
    ...(error !== undefined && { error }),
    isDpop: /(?:^|,\s*)dpop(?:\s|,|$)/i.test(text),
  };
}

/**
 * Finds the authorization server of an MCP server. The result is checked: the metadata is about this server, its
 * issuer is the expected one and its endpoints are https.
 */
export async function discoverAuthorizationServer(
  server: string,
  { url: entryUrl, oauth = {} }: AuthEntry,
  challenge: Challenge,
  fetchFn: AuthFetch,
): Promise<AuthorizationServer> {
  const { checkResourceAllowed, discoverOAuthServerInfo, resourceUrlFromServerUrl } = await import(
    '@modelcontextprotocol/client'
  );
  const url = httpUrl(entryUrl);
  const { protocol, hostname, origin } = new URL(url);
  if (protocol === 'http:' && !isLoopback(hostname)) {
    const detail = `access tokens would be sent unencrypted to ${origin}; use https in "url"`;
    throw new AuthError('insecure-address', server, detail);
  }
  const { resourceMetadataUrl } = challenge;
  const found =
    oauth.authServerMetadataUrl === undefined
      ? await discoverOAuthServerInfo(url, { fetchFn, ...(resourceMetadataUrl && { resourceMetadataUrl }) })
      : await configuredServer(server, oauth.authServerMetadataUrl, fetchFn);
  const { authorizationServerUrl, authorizationServerMetadata: metadata } = found;
  const resourceMetadata = 'resourceMetadata' in found ? found.resourceMetadata : undefined;
  const resource = resourceMetadata?.resource;
  const requestedResource = resourceUrlFromServerUrl(url);
  if (resource !== undefined && !checkResourceAllowed({ requestedResource, configuredResource: resource }))
    throw new AuthError(
      'resource-mismatch',
      server,
      'the resource in the server\'s OAuth metadata does not match "url" of the entry; correct "url", or report this to the server\'s author',
    );
  const issuer = metadata?.issuer ?? authorizationServerUrl;
  if (oauth.issuer !== undefined && !isSameIssuer(oauth.issuer, issuer)) throw otherIssuer(server);
  if (metadata) checkEndpoints(server, metadata);
  return {
    url: authorizationServerUrl,
    issuer,
    ...(metadata && { metadata }),
    ...(resourceMetadata && { resourceMetadata }),
    ...(resource !== undefined && { resource }),
  };
}

/** The URL of the request that opens a WebSocket, so that its server is discovered like any other. */
export function httpUrl(url: string): string {
  return url.replace(/^ws(?=s?:)/i, 'http');
}

/** Reads the metadata at an address of the configuration; the issuer is what the document says. */
async function configuredServer(server: string, url: string, fetchFn: AuthFetch) {
  const { discoverAuthorizationServerMetadata } = await import('@modelcontextprotocol/client');
  const response = await fetchFn(url, { headers: { accept: 'application/json' } });
  const document: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
  const issuer = isRecord(document) ? document.issuer : undefined;
  if (typeof issuer !== 'string' || !URL.canParse(issuer)) {
    const detail =
      '"oauth.authServerMetadataUrl" is not the address of authorization server metadata; correct it in the entry';
    throw new AuthError('no-authorization-server', server, detail);
  }
  // The official parser validates the document, which is not fetched again.
  const authorizationServerMetadata = await discoverAuthorizationServerMetadata(issuer, {
    fetchFn: async () => Response.json(document),
  });
  return { authorizationServerUrl: issuer, authorizationServerMetadata };
}

/** One trailing slash may differ, as in the comparison of the official client. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

export function otherIssuer(server: string): AuthError {
  const detail =
    'the authorization server that the server names is not "oauth.issuer" of its entry; check that value';
  return new AuthError('issuer-mismatch', server, detail);
}

const ENDPOINTS = [
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
] as const;

export function checkEndpoints(server: string, metadata: AuthorizationServerMetadata): void {
  for (const name of ENDPOINTS) {
    const value = (metadata as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) continue;
    const fault = URL.canParse(String(value)) ? urlFault(new URL(String(value))) : 'the address is not a URL';
    if (fault !== undefined)
      throw new AuthError(
        'insecure-address',
        server,
        `the ${name} of its authorization server is not allowed: ${fault}; report this to the operator of that server`,
      );
  }
}

type ScopeInput = {
  readonly oauth?: OAuthEntry | undefined;
  readonly challenge: Pick<Challenge, 'scope'>;
  /** The scopes of its earlier sign-ins, and those that its requests lacked, are requested too. */
  readonly account?: Pick<Account, 'tokens' | 'wantedScope'> | undefined;
  readonly authorizationServer: Pick<AuthorizationServer, 'metadata' | 'resourceMetadata'>;
};

/** The scopes to request: those of the entry, else of the challenge, else all that the resource metadata lists. */
export function chooseScope(input: ScopeInput): string | undefined {
  const { oauth, challenge, account, authorizationServer } = input;
  const { metadata, resourceMetadata } = authorizationServer;
  const asked = uniteScopes([account?.wantedScope, account?.tokens?.scope, challenge.scope]);
  const listed = resourceMetadata?.scopes_supported ?? [];
  const scopes = oauth?.scopes ? uniteScopes([oauth.scopes]) : asked || uniteScopes(listed);
  if (scopes === '') return undefined;
  const isOffline =
    !isMachineGrant(oauth) &&
    oauth?.scopes === undefined &&
    metadata?.scopes_supported?.includes('offline_access');
  return isOffline ? uniteScopes([scopes, 'offline_access']) : scopes;
}

/** All scopes of some lists, once each. */
export function uniteScopes(lists: readonly (string | undefined)[]): string {
  const scopes = lists.flatMap((it) => it?.split(/\s+/) ?? []).filter((it) => it !== '');
  return [...new Set(scopes)].join(' ');
}

/** Whether to bind tokens to a key; support by the authorization server is not enough, since the MCP server may lack it. */
export function wantsDpop(
  challenge: Pick<Challenge, 'isDpop'>,
  authorizationServer: Pick<AuthorizationServer, 'resourceMetadata'>,
  oauth: OAuthEntry = {},
): boolean {
  return oauth.dpop ?? (challenge.isDpop || requiresDpop(authorizationServer, oauth));
}

/** Whether tokens must be bound to a key. A challenge may also offer Bearer, so it alone does not require it. */
export function requiresDpop(
  { resourceMetadata }: Pick<AuthorizationServer, 'resourceMetadata'>,
  oauth: OAuthEntry = {},
): boolean {
  return oauth.dpop ?? resourceMetadata?.dpop_bound_access_tokens_required === true;
}
