import { matchesWildcard } from '../../base/text/patterns.ts';

/**
 * A URL pattern such as `https://*.example.com/*`, split into parts before it is compared, so that no part of a URL can
 * pass for another. A part that a deny pattern leaves out (port, path, query) matches anything; in an allow pattern it
 * means the default port, `/` and no query. A deny pattern ignores the scheme, except for unencrypted schemes of any host.
 */
export type UrlPattern = {
  /** `*` matches any scheme. */
  readonly scheme: string;
  readonly host: string;
  readonly port?: number | '*';
  readonly path?: string;
  readonly query?: string;
};

/** Parses a pattern; undefined if the text is not one. */
export function parseUrlPattern(text: string): UrlPattern | undefined {
  const parts = /^([a-z]+|\*):\/\/(\[[\da-f:.]+\]|[^:/?]+)(?::(\*|\d{1,5}))?(\/[^?]*)?(\?.*)?$/i.exec(text);
  // URL parsers differ in how they treat these characters.
  if (!parts || /[\s\\@#\p{Cc}]/u.test(text)) return undefined;
  const [, scheme = '', host = '', port, path, query] = parts;
  const known = scheme.toLowerCase();
  if (known !== '*' && !DEFAULT_PORTS.has(known)) return undefined;
  if (Number(port) > 65_535) return undefined;
  const normal = normalizeUrl(`https://${host}${path ?? ''}${query ?? ''}`);
  if (!normal || normal.host === '') return undefined;
  return {
    scheme: known,
    host: normal.host,
    ...(port !== undefined && { port: port === '*' ? port : Number(port) }),
    ...(path !== undefined && { path: normal.path }),
    ...(query !== undefined && { query: normal.query }),
  };
}

/** Whether an allow pattern matches the URL; an ambiguous URL does not match. */
export function allowsUrl(pattern: UrlPattern, url: NormalizedUrl): boolean {
  const { scheme, host, port = DEFAULT_PORTS.get(url.scheme), path = '/', query } = pattern;
  if (scheme !== '*' && scheme !== url.scheme) return false;
  if (port !== '*' && port !== url.port) return false;
  if (!isHostAllowed(host, url.host)) return false;
  if (path !== url.path && path !== '/*' && (isAmbiguousPath(url.path) || !matchesWildcard(path, url.path)))
    return false;
  if (query !== undefined) return matchesWildcard(query, url.query);
  return url.query === '' || path.endsWith('*');
}

/** Whether a deny pattern matches the URL; an ambiguous URL matches. */
export function deniesUrl(pattern: UrlPattern, url: NormalizedUrl): boolean {
  const { scheme, host, port = '*', path, query } = pattern;
  // `http://*` denies unencrypted connections; with a host, a pattern denies the host with any scheme.
  if (host === '*' && PLAIN.has(scheme) && !PLAIN.has(url.scheme)) return false;
  if (port !== '*' && url.port !== undefined && port !== url.port) return false;
  if (!matchesWildcard(host, url.host)) return false;
  if (query !== undefined && !matchesWildcard(query, url.query)) return false;
  if (path === undefined || isAmbiguousPath(url.path)) return true;
  const bare = url.path.replace(/\/$/, '').toLowerCase();
  return [bare, `${bare}/`].some((it) => matchesWildcard(path.toLowerCase(), it));
}

const PLAIN: ReadonlySet<string> = new Set(['http', 'ws']);

/** A leading `*.` matches any number of labels; elsewhere `*` stays within one: `10.0.0.*` is not `10.0.0.example.com`. */
function isHostAllowed(pattern: string, host: string): boolean {
  if (pattern === '*') return true;
  const [wanted, labels] = [pattern.split('.'), host.split('.')];
  if (labels.includes('')) return false;
  if (wanted[0] === '*') {
    if (labels.length < wanted.length) return false;
    return wanted
      .slice(1)
      .every((label, index) => matchesWildcard(label, labels.at(1 - wanted.length + index) ?? ''));
  }
  return (
    labels.length === wanted.length &&
    wanted.every((label, index) => matchesWildcard(label, labels[index] ?? ''))
  );
}

/** Whether servers differ in how they read the path: encoded slashes and dots, or empty segments. */
function isAmbiguousPath(path: string): boolean {
  let text = path;
  for (let depth = 0; depth < MAX_DECODING_DEPTH; depth += 1) {
    if (/\/\/|\\|%2f|%5c|\/\.\.?(\/|$)/i.test(text)) return true;
    const next = text.replaceAll(/%25/g, '%').replaceAll(/%2e/gi, '.');
    if (next === text) return false;
    text = next;
  }
  return true;
}

const MAX_DECODING_DEPTH = 4;

/** A URL in its normalized form: different spellings of the same URL are equal. */
export type NormalizedUrl = {
  readonly scheme: string;
  /** Lower case, without a trailing dot. */
  readonly host: string;
  /** The default port if the URL has none; undefined if it is not known before connecting. */
  readonly port: number | undefined;
  readonly path: string;
  /** With the question mark; empty if there is none. */
  readonly query: string;
};

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
  ['ws', 80],
  ['wss', 443],
]);

/** Normalizes a URL, without user, password and fragment; undefined if it is invalid or its scheme is not supported. */
export function normalizeUrl(text: string): NormalizedUrl | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const scheme = url.protocol.slice(0, -1);
  const usual = DEFAULT_PORTS.get(scheme);
  if (usual === undefined) return undefined;
  return {
    scheme,
    host: normalHost(url.hostname),
    port: url.port === '' ? usual : Number(url.port),
    path: normalEscapes(url.pathname),
    query: normalEscapes(url.search),
  };
}

/** Handles what the URL parser leaves as it is: trailing dots, and IPv4 addresses in IPv6 notation. */
function normalHost(hostname: string): string {
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return hostname.replace(/\.+$/, '');
  return [high, low]
    .map((part) => Number.parseInt(part, 16))
    .flatMap((part) => [part >> 8, part & 255])
    .join('.');
}

/** Decodes unreserved characters and writes other escapes in upper case (RFC 3986, 6.2.2). */
function normalEscapes(text: string): string {
  return text.replaceAll(/%[0-9a-f]{2}/gi, (written) => {
    const character = String.fromCharCode(Number.parseInt(written.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : written.toUpperCase();
  });
}
