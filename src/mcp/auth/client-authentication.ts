import { readFile } from 'node:fs/promises';
import type { AddClientAuthentication } from '@modelcontextprotocol/client';
import type { OAuthEntry } from '../../protocol/server-entry.ts';
import { AuthError, type StoredClient } from './auth-types.ts';

/**
 * Authentication of a client with its secret, if it has one. `methods` are those that the endpoint supports; by default
 * those of the token endpoint.
 */
export function clientAuthentication(client: StoredClient, methods?: string[]): AddClientAuthentication {
  const { client_id, client_secret } = client;
  return async (headers, body, _, metadata) => {
    const { selectClientAuthMethod } = await import('@modelcontextprotocol/client');
    const supported = methods ?? metadata?.token_endpoint_auth_methods_supported ?? [];
    const method = selectClientAuthMethod(client, supported);
    if (client_secret !== undefined && method === 'client_secret_basic') {
      // Both values are form-encoded (RFC 6749, section 2.3.1); the official client does not do that.
      const pair = [client_id, client_secret].map(encodeURIComponent).join(':');
      headers.set('authorization', `Basic ${btoa(pair)}`);
      return;
    }
    body.set('client_id', client_id);
    if (client_secret !== undefined && method === 'client_secret_post')
      body.set('client_secret', client_secret);
  };
}

/** Authentication of the client with its private key. */
export async function keyAuthentication(
  server: string,
  { privateKey, signingAlgorithm = 'ES256' }: OAuthEntry,
  clientId: string,
): Promise<AddClientAuthentication | undefined> {
  if (privateKey === undefined) return undefined;
  const isPem = privateKey.includes('-----BEGIN ');
  const pem = isPem ? privateKey : await readFile(privateKey, 'utf8').catch(() => undefined);
  if (pem === undefined)
    throw new AuthError(
      'unsupported',
      server,
      '"oauth.privateKey" is neither PEM text nor the path of a readable file; correct it in the entry',
    );
  const { createPrivateKeyJwtAuth } = await import('@modelcontextprotocol/client');
  return createPrivateKeyJwtAuth({
    issuer: clientId,
    subject: clientId,
    privateKey: pem,
    alg: signingAlgorithm,
  });
}
