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

/** The members of an entry about the address and the headers. */
export type HttpEntry = Omit<HttpServerEntry, 'type'>;

type OpenHttp = {
  fetch: typeof globalThis.fetch;
  url: URL;
  /** Resolves the headers in advance. */
  prepare(): unknown;
  /** Resolves when the connections and the helper are closed. */
  close(): Promise<void>;
};

/** The shared parts of the HTTP transports; the caller closes them. */
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

/** Refuses relative URLs, and URLs with credentials, which would end up in logs. */
export function urlOf(name: string, text: string): URL {
  if (!URL.canParse(text))
    throw new HostError('bad-config', name, `"url" is not an absolute URL: "${redactText(text)}"`);
  const url = new URL(text);
  if (url.username === '' && url.password === '') return url;
  throw new HostError('bad-config', name, '"url" contains credentials; use "headers" instead');
}

/** The headers of an entry, including those of its helper. */
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

/** Only the name is reported, since the value may be a secret. */
function checkHeaders(name: string, headers: Readonly<Record<string, string>>): void {
  for (const [header, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(header))
      throw new HostError(
        'bad-config',
        name,
        `"headers" contains ${JSON.stringify(header)}, which is not a valid header name`,
      );
    if (/[\r\n\0]/.test(value))
      throw new HostError('bad-config', name, `the value of "${header}" in "headers" must be one line`);
  }
}

/** Timeout for making a connection; the caller limits the response. */
export const CONNECT_MS = 10_000;

const LIMITS = {
  connections: 128,
  pipelining: 1,
  // A tool may take hours before it responds, and between two messages.
  headersTimeout: 0,
  bodyTimeout: 0,
  allowH2: false,
};

/** Kept-alive connections to one server; `via` is the proxy from the environment. */
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

/** Refuses proxies of unsupported schemes. */
export function checkProxy(name: string, proxy: string): URL {
  if (URL.canParse(proxy)) {
    const url = new URL(proxy);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  }
  const error = `unsupported proxy "${redactText(proxy)}" in the environment; use an http:// or https:// proxy`;
  throw new HostError('bad-config', name, error);
}
