import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, decodeJwt, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import Provider, { errors } from 'oidc-provider';
import ResourceServer from 'oidc-provider/lib/helpers/resource_server.js';

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';

type AuthorizationServerOptions = {
  /** Lifetime of access tokens in seconds; default one hour. */
  readonly accessTokenS?: number;
  /** Lifetime of ID tokens in seconds; default one hour. */
  readonly idTokenS?: number;
  /** Clients that are registered from the start, in the words of client metadata. */
  readonly clients?: readonly object[];
  /** Whether clients may register themselves; default true. */
  readonly registers?: boolean;
  /** The scopes that access tokens may have. */
  readonly scopes?: readonly string[];
  /** The issuer whose ID-JAGs are accepted (cross-app access). */
  readonly trustedIssuer?: string;
};

/** A real authorization server on loopback, with the record of what happened at it. */
export type TestAuthorizationServer = AsyncDisposable & {
  readonly issuer: string;
  /** How often a grant succeeded, by its type; `TOKEN_EXCHANGE` and `JWT_BEARER` too. */
  readonly grants: ReadonlyMap<string, number>;
  /** How many requests each path received. */
  readonly requests: ReadonlyMap<string, number>;
  /** The second in which each access token was issued, since 1970. */
  readonly issuedAt: readonly number[];
  /** How often all tokens of a sign-in were revoked because a used refresh token was sent again. */
  readonly revokedGrants: number;
  /** How many tokens were revoked by their owner. */
  readonly revokedTokens: number;
  /** The errors of token requests, for example `invalid_grant`. */
  readonly errors: readonly string[];
};

/**
 * oidc-provider with dynamic registration, PKCE, `iss`, resource indicators with JWT access tokens, rotating refresh
 * tokens, revocation, DPoP, client credentials, and the two grants of cross-app access.
 */
export async function startAuthorizationServer(
  options: AuthorizationServerOptions = {},
): Promise<TestAuthorizationServer> {
  const { accessTokenS = 3600, idTokenS = 3600, clients = [], registers = true, trustedIssuer } = options;
  const scopes = options.scopes ?? ['mcp:read', 'mcp:write'];
  let handle: RequestListener | undefined;
  const requests = new Map<string, number>();
  const http = createServer((request, response) => {
    count(requests, request.url?.replace(/\?.*$/, '').replace(/^(\/auth|\/interaction)\/.*/, '$1/:id') ?? '');
    handle?.(request, response);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'key-1', alg: 'ES256', use: 'sig' };
  const tokenSettings = (resource: string) => ({
    audience: resource,
    scope: scopes.join(' '),
    accessTokenFormat: 'jwt',
    accessTokenTTL: accessTokenS,
    jwt: { sign: { alg: 'ES256' } },
  });
  const provider = quietly(
    () =>
      new Provider(issuer, {
        clients,
        jwks: { keys: [key] },
        cookies: { keys: ['test'] },
        scopes: ['openid', 'offline_access', ...scopes],
        pkce: { required: () => true },
        ttl: {
          AccessToken: () => accessTokenS,
          AuthorizationCode: 60,
          ClientCredentials: () => accessTokenS,
          Grant: 3600,
          IdToken: () => idTokenS,
          Interaction: 600,
          RefreshToken: 3600,
          Session: 3600,
        },
        rotateRefreshToken: true,
        issueRefreshToken: async (_: unknown, client: { grantTypeAllowed(grant: string): boolean }) =>
          client.grantTypeAllowed('refresh_token'),
        clientDefaults: {
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: 'none',
          id_token_signed_response_alg: 'ES256',
        },
        features: {
          devInteractions: { enabled: true },
          registration: { enabled: registers },
          revocation: { enabled: true, allowedPolicy: async () => true },
          clientCredentials: { enabled: true },
          dPoP: { enabled: true },
          resourceIndicators: {
            enabled: true,
            defaultResource: () => undefined,
            useGrantedResource: () => true,
            getResourceServerInfo: (_: unknown, resource: string) => tokenSettings(resource),
          },
        },
        findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
      }),
  );

  const grants = new Map<string, number>();
  const failures: string[] = [];
  const issuedAt: number[] = [];
  let revokedGrants = 0;
  let revokedTokens = 0;
  provider.on('grant.success', (context) => count(grants, context?.oidc?.params?.grant_type ?? ''));
  provider.on('grant.error', (_, failure) => failures.push((failure as Error).message));
  provider.on('server_error', (_, failure) => failures.push(String(failure)));
  provider.on('access_token.issued', () => issuedAt.push(Math.floor(Date.now() / 1000)));
  provider.on('grant.revoked', () => void revokedGrants++);
  for (const event of ['access_token.destroyed', 'refresh_token.destroyed'])
    provider.on(event, () => void revokedTokens++);

  // An ID token of this server in exchange for an identity assertion (ID-JAG) to another authorization server.
  provider.registerGrantType(
    TOKEN_EXCHANGE,
    async (context) => {
      const { params, client } = context.oidc;
      const subject = decodeJwt(params.subject_token ?? '');
      const isUsable = subject.iss === issuer && Number(subject.exp) * 1000 > Date.now();
      if (params.requested_token_type !== ID_JAG || !isUsable) throw new errors.InvalidGrant('subject_token');
      const claims = {
        resource: params.resource,
        client_id: client.clientId,
        scope: params.scope,
        jti: randomUUID(),
      };
      const assertion = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid: 'key-1', typ: 'oauth-id-jag+jwt' })
        .setIssuer(issuer)
        .setSubject(String(subject.sub))
        .setAudience(params.audience ?? '')
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(privateKey);
      context.body = {
        issued_token_type: ID_JAG,
        access_token: assertion,
        token_type: 'N_A',
        expires_in: 300,
      };
    },
    ['audience', 'resource', 'subject_token', 'subject_token_type', 'requested_token_type', 'scope'],
    ['resource'],
  );
  // An identity assertion of the trusted issuer in exchange for an access token.
  provider.registerGrantType(
    JWT_BEARER,
    async (context) => {
      const { params, client } = context.oidc;
      const keys = createRemoteJWKSet(new URL(`${trustedIssuer}/jwks`));
      const { payload } = await jwtVerify(params.assertion ?? '', keys, {
        issuer: trustedIssuer ?? '',
        audience: issuer,
        typ: 'oauth-id-jag+jwt',
      });
      const resource = String(payload.resource);
      const token = new provider.AccessToken({
        client,
        accountId: payload.sub,
        scope: payload.scope ?? scopes.join(' '),
        gty: 'jwt-bearer',
      });
      token.resourceServer = new ResourceServer(resource, tokenSettings(resource));
      const value = await token.save();
      context.body = { access_token: value, token_type: 'Bearer', expires_in: token.expiration };
    },
    ['assertion', 'resource', 'scope'],
    ['resource'],
  );
  handle = quietly(() => provider.callback());
  return {
    issuer,
    grants,
    requests,
    issuedAt,
    errors: failures,
    get revokedGrants() {
      return revokedGrants;
    },
    get revokedTokens() {
      return revokedTokens;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await closed;
    },
  };
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** oidc-provider warns about settings that are right for tests only. */
function quietly<T>(work: () => T): T {
  const { warn, info } = console;
  console.warn = console.info = () => {};
  try {
    return work();
  } finally {
    Object.assign(console, { warn, info });
  }
}
