import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostOptions, HostServerEntry } from 'toolplane/host';

/** The credentials that the suite passes in `MCP_CONFORMANCE_CONTEXT`. */
export type AuthContext = Readonly<Record<string, string | undefined>>;

type OAuth = Extract<HostServerEntry, { type: 'http' }>['oauth'];

/** The host's options for authorization: the redirect of the suite's sign-in page is read without a browser. */
export function authOptions(context: AuthContext): NonNullable<HostOptions['auth']> {
  const { idp_issuer: issuer, idp_client_id: clientId, idp_id_token: idToken = '' } = context;
  const { idp_token_endpoint: tokenEndpoint } = context;
  return {
    store: 'memory',
    onAuthorize: async (url) =>
      (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? undefined,
    ...(issuer !== undefined &&
      clientId !== undefined &&
      tokenEndpoint !== undefined && {
        identityProvider: { issuer, clientId, tokenEndpoint, idToken: async () => idToken },
      }),
  };
}

/** The `oauth` member of the entry for a scenario. Credentials need the issuer, which the suite does not pass. */
export async function oauthEntry(scenario: string, url: string, context: AuthContext): Promise<OAuth> {
  const clientMetadataUrl = 'https://conformance-test.local/client-metadata.json';
  const { client_id: clientId, client_secret: clientSecret } = context;
  if (clientId === undefined) return { clientMetadataUrl };
  const client = {
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    issuer: await issuerOf(url),
  };
  const more = GRANTS[scenario]?.(context) ?? {};
  return { ...client, ...more };
}

const GRANTS: Readonly<Record<string, (context: AuthContext) => OAuth>> = {
  'auth/client-credentials-basic': () => ({ grant: 'client-credentials' }),
  'auth/client-credentials-jwt': ({ private_key_pem = '', signing_algorithm = 'ES256' }) => ({
    grant: 'client-credentials',
    privateKey: private_key_pem,
    signingAlgorithm: signing_algorithm,
  }),
  'auth/wif-jwt-bearer': ({ valid_jwt = '' }) => ({ grant: 'jwt-bearer', assertionFile: fileOf(valid_jwt) }),
  'auth/enterprise-managed-authorization': () => ({ xaa: true }),
};

function fileOf(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'assertion-')), 'token.jwt');
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** What an administrator would have configured: the issuer that the resource metadata names. */
async function issuerOf(url: string): Promise<string> {
  const { origin, pathname } = new URL(url);
  for (const path of [
    `/.well-known/oauth-protected-resource${pathname}`,
    '/.well-known/oauth-protected-resource',
  ]) {
    const response = await fetch(origin + path);
    const document = response.ok ? ((await response.json()) as { authorization_servers?: string[] }) : {};
    const [issuer] = document.authorization_servers ?? [];
    if (typeof issuer === 'string') return issuer;
  }
  return origin;
}

/** Scenarios in which the client must refuse to go on, with the reason; null: the server refuses for lack of scopes. */
export const REFUSED: ReadonlyMap<string, string | null> = new Map([
  ['auth/resource-mismatch', 'resource-mismatch'],
  ['auth/iss-supported-missing', 'issuer-mismatch'],
  ['auth/iss-wrong-issuer', 'issuer-mismatch'],
  ['auth/iss-unexpected', 'issuer-mismatch'],
  ['auth/iss-normalized', 'issuer-mismatch'],
  ['auth/metadata-issuer-mismatch', 'issuer-mismatch'],
  ['auth/scope-retry-limit', null],
]);
