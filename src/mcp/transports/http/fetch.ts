import type { Dispatcher } from 'undici';
import { HttpError, toNetworkError, toProxyError } from './http-error.ts';
import { type HttpKind, type HttpWatch, readResponse, type SentRequest } from './http-response.ts';
import type { RequestHeaders } from './request-headers.ts';

/** Options of the fetch function. */
export type FetchOptions = {
  kind: HttpKind;
  pool: Dispatcher;
  /** The proxy, if there is one. */
  via: URL | undefined;
  /** The entry's headers are sent only to the origin of this URL. */
  url: URL;
  headers: RequestHeaders;
  watch: HttpWatch;
};

/**
 * A `fetch` for the official transports, based on undici's `request`, which is several times faster than web streams.
 * Follows redirects within one origin only; throws an `HttpError` for responses that the transport cannot use.
 */
export function createFetch({ kind, pool, via, url: home, headers, watch }: FetchOptions): typeof fetch {
  const send = async (target: URL, init: RequestInit, all: Record<string, string>) => {
    const method = init.method ?? 'GET';
    let url = target;
    for (let followed = 0; ; followed++) {
      const answer = await pool.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: method as Dispatcher.HttpMethod,
        headers: all,
        body: (init.body as string | undefined) ?? null,
        signal: init.signal ?? null,
        // A ProxyAgent does not apply the limits of the pool to plain HTTP.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const next = redirectOf(answer, url, method);
      if (next === undefined) return { answer, url };
      await answer.body.dump().catch(() => {});
      if (next instanceof HttpError) throw next;
      if (followed === MAX_REDIRECTS)
        throw redirectError(answer.statusCode, 'too many redirects; check "url"');
      url = next;
    }
  };
  const request = async (input: string | URL | Request, init: RequestInit = {}) => {
    const target = input instanceof URL ? input : new URL(input instanceof Request ? input.url : input);
    const isHome = target.origin === home.origin;
    try {
      const extra = isHome ? await headers.get() : {};
      const all = merged(init.headers, extra);
      let sent = await send(target, init, all);
      // Only 401 means that the credentials were not accepted; a 403 may follow after processing.
      if (isHome && sent.answer.statusCode === 401) {
        const renewed = await headers.renew(extra);
        if (renewed) {
          await sent.answer.body.dump().catch(() => {});
          sent = await send(target, init, merged(init.headers, renewed));
        }
      }
      const request: SentRequest = {
        method: init.method ?? 'GET',
        url: sent.url.href,
        body: typeof init.body === 'string' ? init.body : '',
        hadSession: all['mcp-session-id'] !== undefined,
        signal: init.signal ?? undefined,
      };
      return await readResponse(kind, request, sent.answer, watch);
    } catch (failure) {
      if (init.signal?.aborted) throw failure;
      throw via ? toProxyError(toNetworkError(failure), via) : toNetworkError(failure);
    }
  };
  return request as unknown as typeof fetch;
}

const MAX_REDIRECTS = 5;

/** The transport's headers override those of the entry. */
function merged(
  own: RequestInit['headers'],
  extra: Readonly<Record<string, string>>,
): Record<string, string> {
  const all: Record<string, string> = { ...extra };
  const pairs = own instanceof Headers || Array.isArray(own) ? own : Object.entries(own ?? {});
  for (const [name, value] of pairs as Iterable<[string, string]>) all[name.toLowerCase()] = value;
  return all;
}

/** The next URL of a redirect, or why it is not followed; undefined for other responses. */
function redirectOf(
  { statusCode, headers }: Dispatcher.ResponseData,
  url: URL,
  method: string,
): URL | HttpError | undefined {
  if (statusCode < 301 || statusCode > 308 || !REDIRECTS.has(statusCode)) return undefined;
  const { location } = headers;
  if (typeof location !== 'string' || !URL.canParse(location, url.href)) return undefined;
  const next = new URL(location, url);
  const place = `${next.origin}${next.pathname}`;
  if (next.origin !== url.origin) {
    const error = `the server redirects to another origin, ${place}, which must not receive the configured headers; if that address is correct, set "url" to it`;
    return redirectError(statusCode, error);
  }
  if (method === 'GET' || statusCode >= 307) return next;
  return redirectError(
    statusCode,
    `the server redirects to ${place} with ${statusCode}, which drops the request body; set "url" to that address`,
  );
}

function redirectError(status: number, message: string): HttpError {
  return new HttpError(message, { code: 'cross-origin', status, wasSent: true });
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
