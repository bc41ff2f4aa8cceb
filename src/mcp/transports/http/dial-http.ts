import type { Dispatcher } from 'undici';
import { startTimer } from '../../../base/async/timers.ts';
import { redactText } from '../../../base/text/redact.ts';
import type { HttpServerEntry } from '../../../protocol/server-entry.ts';
import type { AuthHeaders, Authorizer } from '../../auth/auth-types.ts';
import type { ConnectContext, Dialed } from '../../connection/connect-context.ts';
import { HostError } from '../../errors/host-error.ts';
import { maxFrameBytesOf } from '../oversized-message.ts';
import { DirectPost } from './direct-post.ts';
import { createFetch } from './fetch.ts';
import { HttpError } from './http-error.ts';
import type { HttpKind, HttpWatch } from './http-response.ts';
import { proxyFor } from './proxy.ts';
import { reconnectingFetch } from './reconnecting-stream.ts';
import { RequestHeaders, runHeadersHelper } from './request-headers.ts';
import { tlsOptions, VERIFIED } from './tls-options.ts';
import { TrackedTransport } from './tracked-transport.ts';

/** Timeout for ending the session at close. */
const SESSION_END_TIMEOUT_MS = 1000;

/** A response stream that broke off is resumed for about a minute. */
const RECONNECTION = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 8,
};

/** Creates a Streamable HTTP transport. */
export async function dialHttp(
  name: string,
  entry: HttpServerEntry,
  context: ConnectContext,
): Promise<Dialed> {
  const watch = {
    onTooLong: (...dropped: Parameters<TrackedTransport['fail']>) => transport.fail(...dropped),
  };
  const { fetch, url, prepare, close } = await openHttp('streamable', name, entry, context, watch);
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const direct = new DirectPost(url, fetch);
  const inner = new StreamableHTTPClientTransport(url, {
    fetch: reconnectingFetch(direct.transportFetch, (error) => transport.fail(undefined, error as Error)),
    // Not the limit: `createFetch` follows only redirects within the origin.
    redirectPolicy: 'follow',
    reconnectionOptions: RECONNECTION,
  });
  const transport = new TrackedTransport(direct.wrap(inner), { prepare });
  return {
    transport,
    async close() {
      const timer = startTimer(SESSION_END_TIMEOUT_MS, () => void inner.close());
      // Fails if the server does not support sessions or has ended.
      await inner.terminateSession().catch(() => {});
      clearTimeout(timer);
      await transport.close().catch(() => {});
      await close();
    },
    stderr: () => [],
  };
}

/** Creates a transport for HTTP with server-sent events. The connection ends with the stream. */
export async function dialSse(name: string, entry: HttpEntry, context: ConnectContext): Promise<Dialed> {
  let streamError: HttpError | undefined;
  const watch = {
    onTooLong: (...dropped: Parameters<TrackedTransport['fail']>) => transport.fail(...dropped),
    onStreamEnd(method: string, failure?: unknown) {
      if (method !== 'GET') return;
      // The official transport would open another stream, which does not belong to the handshake.
      streamError = new HttpError('the server ended the stream', {
        code: 'stream-ended',
        wasSent: true,
        cause: failure,
      });
      void transport.lose(streamError);
    },
  };
  const { fetch, url, prepare, close } = await openHttp('sse', name, entry, context, watch);
  const { SSEClientTransport } = await import('@modelcontextprotocol/client');
  const noted: typeof fetch = async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (error) {
      if ((init?.method ?? 'GET') === 'GET' && error instanceof HttpError) streamError = error;
      throw error;
    }
  };
  const inner = new SSEClientTransport(url, { fetch: noted, redirectPolicy: 'follow' });
  // Error events without a cause get the last error of the stream.
  const transport = new TrackedTransport(inner, { prepare, explain: () => streamError });
  return {
    transport,
    async close() {
      await transport.close().catch(() => {});
      await close();
    },
    stderr: () => [],
  };
}

/** The members of an entry about the address and the headers. */
type HttpEntry = Omit<HttpServerEntry, 'type'>;

type OpenHttp = {
  fetch: typeof globalThis.fetch;
  url: URL;
  /** Resolves the headers in advance. */
  prepare(): unknown;
  /** Resolves when the connections and the helper are closed. */
  close(): Promise<void>;
};

/** The shared parts of the HTTP transports; the caller closes them. */
async function openHttp(
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
  const authorizer = maskedAuthorizer(name, entry, context);
  const fetch = createFetch({ kind, pool, via, url, headers, authorizer, watch: limited });
  const kept = authorizer?.keepFresh();
  return {
    fetch,
    url,
    prepare: () => headers.get(),
    async close() {
      kept?.[Symbol.dispose]();
      await Promise.all([headers.close(), pool.destroy().catch(() => {})]);
    },
  };
}

/** The authorizer of a server; each token that it sends is added to the secrets of the server. */
export function maskedAuthorizer(
  name: string,
  entry: HttpEntry,
  { auth, secrets }: ConnectContext,
): Authorizer | undefined {
  const authorizer = auth?.authorizer(name, entry);
  if (authorizer === undefined || secrets === undefined) return authorizer;
  let known: string | undefined;
  const remember = (headers: AuthHeaders): AuthHeaders => {
    const token = headers.authorization?.split(' ')[1];
    if (token !== undefined && token !== known) secrets.addToken(token);
    known = token;
    return headers;
  };
  return {
    headers(request) {
      const headers = authorizer.headers(request);
      return headers instanceof Promise ? headers.then(remember) : remember(headers);
    },
    onRefused: (refusal) => authorizer.onRefused(refusal),
    onNonce: (target, nonce) => authorizer.onNonce(target, nonce),
    keepFresh: () => authorizer.keepFresh(),
    get unresolved() {
      return authorizer.unresolved;
    },
    get isRenewing() {
      return authorizer.isRenewing;
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
