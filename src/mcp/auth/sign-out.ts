import type { OAuthMetadata } from '@modelcontextprotocol/client';
import { isRecord } from '../../base/json-value.ts';
import type { AuthFetch } from './auth-fetch.ts';
import type { Account, CredentialStore, SignedOut } from './auth-types.ts';
import { clientAuthentication } from './client-authentication.ts';

/** How long a sign-out waits for a refresh in progress. */
const SIGN_OUT_WAIT_MS = 10_000;

/** Runs a removal after a running refresh has ended: otherwise the refresh would store its tokens after the removal. */
export async function afterRefresh<T>(
  store: CredentialStore,
  key: string,
  remove: () => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(SIGN_OUT_WAIT_MS);
  const isNever = async () => false;
  const done = store.exclusive(key, async () => ({ value: await remove() }), isNever, signal);
  const outcome = await done.catch((failure) => {
    if (signal.aborted) return undefined;
    throw failure;
  });
  return outcome ? outcome.value : remove();
}

/** Revokes the tokens of an account if possible, and deletes the account in any case. */
export async function signOut(store: CredentialStore, key: string, fetch: AuthFetch): Promise<SignedOut> {
  const remove = async (): Promise<SignedOut> => {
    const account = await store.read(key).catch(() => undefined);
    const revoked = account && (await revokeTokens(account, fetch));
    return { removed: await store.remove(key), revoked: revoked ?? 'unsupported' };
  };
  return afterRefresh(store, key, remove);
}

/** Time limit for revoking all tokens of an account. */
const REVOKE_MS = 5_000;

/** Revokes the refresh token, then the access token (RFC 7009). Never rejects. */
export async function revokeTokens(
  account: Pick<Account, 'authorizationServer' | 'client' | 'tokens'>,
  fetch: AuthFetch,
): Promise<SignedOut['revoked']> {
  const { authorizationServer, client, tokens } = account;
  // The type of OpenID Connect metadata lacks the members about revocation.
  const metadata: Partial<OAuthMetadata> = authorizationServer.metadata ?? {};
  const { revocation_endpoint: endpoint } = metadata;
  if (endpoint === undefined || tokens === undefined) return 'unsupported';
  const methods =
    metadata.revocation_endpoint_auth_methods_supported ?? metadata.token_endpoint_auth_methods_supported;
  const authenticate = clientAuthentication(client, methods ?? []);
  const signal = AbortSignal.timeout(REVOKE_MS);
  const revoke = async (token: string, hint: string) => {
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
    const body = new URLSearchParams({ token, token_type_hint: hint });
    await authenticate(headers, body, endpoint);
    const response = await fetch(endpoint, { method: 'POST', headers, body, signal });
    if (response.ok) return 'yes';
    const answer: unknown = await response.json();
    return isRecord(answer) && answer.error === 'unsupported_token_type' ? 'unsupported' : 'no';
  };
  const { refreshToken, accessToken } = tokens;
  const outcomes = [
    ...(refreshToken === undefined ? [] : [await revoke(refreshToken, 'refresh_token').catch(() => 'no')]),
    await revoke(accessToken, 'access_token').catch(() => 'no'),
  ];
  // Many servers cannot revoke access tokens: `unsupported` for one token does not hide a revoked other one.
  if (outcomes.includes('no')) return 'no';
  return outcomes.includes('yes') ? 'yes' : 'unsupported';
}
