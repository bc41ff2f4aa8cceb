import { type LookupAddress, lookup } from 'node:dns';
import { STATUS_CODES } from 'node:http';
import { isIP } from 'node:net';
import { zoneOf } from '../../../mcp/auth/auth-fetch.ts';
import { isLoopback, proxyFor } from '../../../mcp/transports/http/proxy.ts';
import { VERIFIED } from '../../../mcp/transports/http/tls-options.ts';

const MAX_BYTES = 10 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 5;
const MAX_URL_LENGTH = 2_000;

/** A page, the redirect to another host that was not followed, or why there is none. */
export type FetchedPage =
  | {
      readonly kind: 'page';
      readonly url: string;
      readonly type: string;
      readonly bytes: Buffer;
      readonly code: number;
    }
  | { readonly kind: 'redirect'; readonly code: number; readonly url: string; readonly target: string }
  | { readonly kind: 'refused'; readonly fault: string };

/** The name of an HTTP status code, such as `Not Found`. */
export function codeText(code: number): string {
  return STATUS_CODES[code] ?? '';
}

/**
 * The URL that is requested: https, unless it names this machine or a private address. Such an address is requested only
 * if the URL itself names it, so that the user sees it in the permission prompt.
 */
export function pageUrl(text: string): URL | { readonly fault: string } {
  if (text.length > MAX_URL_LENGTH) return { fault: `The URL is longer than ${MAX_URL_LENGTH} characters` };
  if (!URL.canParse(text))
    return {
      fault: `Invalid URL "${text.slice(0, 200)}": write a complete one, such as https://example.com`,
    };
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return { fault: `WebFetch supports http and https, not ${url.protocol}` };
  if (url.username !== '' || url.password !== '')
    return { fault: 'The URL contains a user name or password: remove it' };
  // `example.com.` names the same host as `example.com`.
  url.hostname = url.hostname.replace(/\.+$/, '');
  const host = bareHost(url);
  if (!isLocal(host)) {
    if (isIP(host) === 0 && !host.includes('.'))
      return {
        fault: `The host name ${host} has no domain: write the full name, such as ${host}.example.com`,
      };
    url.protocol = 'https:';
  }
  if (isIP(host) !== 0 && zoneOf(host) === 'link-local')
    return { fault: `${host} is a link-local address, which WebFetch does not request` };
  url.hash = '';
  return url;
}

/** Requests a page. Redirects within the host are followed; every address is checked before it is connected to. */
export async function fetchPage(
  start: URL,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<FetchedPage> {
  let url = start;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const answer = await request(url, env, limit);
      if (!('target' in answer)) return answer;
      const next = URL.canParse(answer.target, url.href)
        ? pageUrl(new URL(answer.target, url).href)
        : { fault: 'invalid' };
      if ('fault' in next)
        return refused(`${url.origin} redirects to an address that is not allowed: ${next.fault}`);
      if (next.host.replace(/^www\./, '') !== start.host.replace(/^www\./, ''))
        return { kind: 'redirect', code: answer.code, url: start.href, target: next.href };
      url = next;
    }
    return refused(`${start.origin} redirects more than ${MAX_REDIRECTS} times`);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof AddressError) return refused(cause.message);
    if (limit.aborted)
      return refused(`${start.host} did not send the whole page within ${TIMEOUT_MS / 1000} s`);
    const { code, message } = cause as NodeJS.ErrnoException;
    return refused(`${start.host} cannot be reached (${code ?? message})`);
  }
}

type Answer =
  | Extract<FetchedPage, { kind: 'page' | 'refused' }>
  | { readonly target: string; readonly code: number };

async function request(
  url: URL,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Answer> {
  const { Agent, ProxyAgent } = await import('undici');
  const connect = { ...VERIFIED, timeout: TIMEOUT_MS, lookup: lookupFor(bareHost(url)) };
  const proxy = proxyFor(url, env);
  const pool =
    proxy === undefined
      ? new Agent({ connect })
      : new ProxyAgent({ uri: proxy, requestTls: VERIFIED, proxyTls: VERIFIED });
  try {
    const answer = await pool.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'GET',
      headers: { accept: 'text/markdown, text/html, text/*;q=0.9, */*;q=0.1', 'user-agent': 'toolplane' },
      signal,
    });
    const { statusCode: code, headers } = answer;
    const { location } = headers;
    if (code >= 300 && code < 400 && typeof location === 'string') {
      await answer.body.dump();
      return { target: location, code };
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of answer.body) {
      size += (chunk as Uint8Array).length;
      if (size > MAX_BYTES) return refused(`${url.href} is larger than ${MAX_BYTES / 1024 / 1024} MB`);
      chunks.push(chunk as Uint8Array);
    }
    const type = String(headers['content-type'] ?? 'text/html');
    return { kind: 'page', url: url.href, type, bytes: Buffer.concat(chunks), code };
  } finally {
    void pool.destroy().catch(() => {});
  }
}

function refused(fault: string): Extract<FetchedPage, { kind: 'refused' }> {
  return { kind: 'refused', fault };
}

/** An address that may not be connected to. */
class AddressError extends Error {
  override readonly name = 'AddressError';
}

/**
 * A host name that is not local must resolve to public addresses only: the owner of the name sets them, and the user
 * does not see them.
 */
function lookupFor(host: string): typeof lookup {
  return ((
    name: string,
    options: object,
    done: (error: Error | null, found?: LookupAddress[] | string, family?: number) => void,
  ) =>
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error) return done(error);
      const hidden = isLocal(host) ? undefined : found.find(({ address }) => zoneOf(address) !== 'public');
      if (hidden)
        return done(
          new AddressError(
            `${host} has the ${zoneOf(hidden.address)} address ${hidden.address}, which WebFetch does not request: if you want that address, write it in the URL`,
          ),
        );
      if ('all' in options && options.all) return done(null, found);
      done(null, found[0]?.address ?? '', found[0]?.family ?? 4);
    })) as typeof lookup;
}

/** Whether the name or address itself says that it is on this machine or in a private network. */
function isLocal(host: string): boolean {
  return isLoopback(host) || (isIP(host) !== 0 && zoneOf(host) !== 'public');
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}
