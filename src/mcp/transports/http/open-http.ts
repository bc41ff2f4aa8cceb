import type { Dispatcher } from 'undici';
import { redactText } from '../../../base/text/redact.ts';
import type { HttpServerEntry } from '../../../protocol/server-entry.ts';
import type { ConnectContext } from '../../connection/connect-context.ts';
import { HostError } from '../../errors/host-error.ts';
import { maxFrameBytesOf } from '../oversized-message.ts';
import { createFetch } from './fetch.ts';

import type { HttpKind, HttpWatch } from './http-response.ts';
import { proxyFor } from './proxy.ts';
import { RequestHeaders, runHeadersHelper } from './request-headers.ts';
import { tlsOptions, VERIFIED } from './tls-options.ts';

/** What an entry says of where a server is and who we are. */
export type HttpEntry = Omit<HttpServerEntry, 'type'>;

type OpenHttp = {
  fetch: typeof globalThis.fetch;
  url: URL;
  /** Asks for the headers. */
  prepare(): unknown;
  /** Resolves when neither connections nor a helper are left. */
  close(): Promise<void>;
};

/** What every transport over HTTP needs; the caller closes it. */
export async function openHttp(
  kind: HttpKind,
  name: string,
  entry: HttpEntry,
  context: ConnectContext,
  watch: Omit<HttpWatch, 'limit' | 'mask'>,
): Promise<OpenHttp> {
  const url = urlOf(name, entry.url);
  const headers = headersOf(name, entry, context);
  const { pool, via } = await openPool(name, entry, context);
  const mask = (text: string) => context.secrets?.maskCredentials(text) ?? text;
  const limited = { ...watch, mask, limit: maxFrameBytesOf(entry, context) };
  const fetch = createFetch({ kind, pool, via, url, headers, watch: limited });
  return {
    fetch,
    url,
    prepare: () => headers.get(),
    async close() {
      await Promise.all([headers.close(), pool.destroy().catch(() => {})]);
    },
  };
}

/** Refuses what is no full URL, and one with a password in it, which would end up in logs. */
export function urlOf(name: string, text: string): URL {
  if (!URL.canParse(text)) throw new HostError('bad-config', name, `"${redactText(text)}" is no full URL`);
  const url = new URL(text);
  if (url.username === '' && url.password === '') return url;
  throw new HostError('bad-config', name, 'its "url" names a user; use "headers" for credentials');
}

/** The headers of an entry, its helper's among them. */
export function headersOf(name: string, entry: HttpEntry, context: ConnectContext): RequestHeaders {
  const { url, headers, headersHelper } = entry;
  context.secrets?.addEntry({ headers: headers ?? {} });
  checkHeaders(name, headers ?? {});
  if (headersHelper === undefined) return new RequestHeaders(headers);
  const helped = { url, headersHelper };
  return new RequestHeaders(headers, async (signal) => {
    const own = await runHeadersHelper(name, helped, context, { signal });
    context.secrets?.addEntry({ headers: own });
    return own;
  });
}

/** The value may be a secret, so only the name is told. */
function checkHeaders(name: string, headers: Readonly<Record<string, string>>): void {
  for (const [header, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(header))
      throw new HostError(
        'bad-config',
        name,
        `"headers" has the name ${JSON.stringify(header)}, which no header can have`,
      );
    if (/[\r\n\0]/.test(value))
      throw new HostError('bad-config', name, `the value of "${header}" in "headers" has to be one line`);
  }
}

/** How long a connection may take to be made; how long the answer takes is for the caller to say. */
export const CONNECT_MS = 10_000;

const LIMITS = {
  connections: 128,
  pipelining: 1,
  // A tool may think for hours before it says anything, and between two words.
  headersTimeout: 0,
  bodyTimeout: 0,
  allowH2: false,
};

/** Kept-alive connections to one server; `via` is the proxy that the environment names for it. */
type HttpPool = { pool: Dispatcher; via: URL | undefined };

/** The caller destroys the pool. */
async function openPool(
  name: string,
  entry: { url: string; tls?: Parameters<typeof tlsOptions>[1] },
  context: ConnectContext,
): Promise<HttpPool> {
  const connect = { ...(await tlsOptions(name, entry.tls)), timeout: CONNECT_MS };
  const proxy = proxyFor(new URL(entry.url), context.env);
  const { Agent, ProxyAgent } = await import('undici');
  if (proxy === undefined) return { pool: new Agent({ ...LIMITS, connect }), via: undefined };
  const via = checkProxy(name, proxy);
  const through = { uri: proxy, requestTls: connect, proxyTls: { ...VERIFIED, timeout: CONNECT_MS } };
  return { pool: new ProxyAgent({ ...LIMITS, ...through }), via };
}

/** Refuses a proxy the environment names in a way we cannot use. */
export function checkProxy(name: string, proxy: string): URL {
  if (URL.canParse(proxy)) {
    const url = new URL(proxy);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  }
  const error = `the environment names the proxy "${redactText(proxy)}"; only http:// and https:// ones can be used`;
  throw new HostError('bad-config', name, error);
}
