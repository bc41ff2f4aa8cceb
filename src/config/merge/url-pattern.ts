import { matchesWildcard } from '../../base/text/patterns.ts';

/**
 * Addresses such as `https://*.example.com/*`, taken apart before anything is compared, so that no part of an address
 * can pass for another. What a pattern leaves out (port, path, query) is anything if the pattern forbids, and only the
 * usual port, `/` and no query if it allows. One that forbids is about where an address leads, and not how.
 */
export type UrlPattern = {
  /** `*` is any. */
  readonly scheme: string;
  readonly host: string;
  readonly port?: number | '*';
  readonly path?: string;
  readonly query?: string;
};

/** Undefined if it is none. */
export function parseUrlPattern(text: string): UrlPattern | undefined {
  const parts = /^([a-z]+|\*):\/\/(\[[\da-f:.]+\]|[^:/?]+)(?::(\*|\d{1,5}))?(\/[^?]*)?(\?.*)?$/i.exec(text);
  // Whoever reads these would read them differently from whoever dials.
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

/** Whether a pattern that allows says so of this address; in doubt it does not. */
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

/** Whether a pattern that forbids means this address; in doubt it does. */
export function deniesUrl(pattern: UrlPattern, url: NormalizedUrl): boolean {
  const { scheme, host, port = '*', path, query } = pattern;
  // Any host without encryption is about that, and any other pattern about the host.
  if (host === '*' && PLAIN.has(scheme) && !PLAIN.has(url.scheme)) return false;
  if (port !== '*' && url.port !== undefined && port !== url.port) return false;
  if (!matchesWildcard(host, url.host)) return false;
  if (query !== undefined && !matchesWildcard(query, url.query)) return false;
  if (path === undefined || isAmbiguousPath(url.path)) return true;
  const bare = url.path.replace(/\/$/, '').toLowerCase();
  return [bare, `${bare}/`].some((it) => matchesWildcard(path.toLowerCase(), it));
}

const PLAIN: ReadonlySet<string> = new Set(['http', 'ws']);

/** `*.` in front is any number of labels; elsewhere `*` stays within one, lest `10.0.0.*` be `10.0.0.example.com`. */
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

/** A path that some servers take for another: hidden slashes and dots, or empty segments. */
function isAmbiguousPath(path: string): boolean {
  let text = path;
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    if (/\/\/|\\|%2f|%5c|\/\.\.?(\/|$)/i.test(text)) return true;
    const next = text.replaceAll(/%25/g, '%').replaceAll(/%2e/gi, '.');
    if (next === text) return false;
    text = next;
  }
  return true;
}

const DEEPEST = 4;

/** An address as it is dialled: what a person may write in several ways is the same here. */
export type NormalizedUrl = {
  readonly scheme: string;
  /** In small letters, without a dot at its end. */
  readonly host: string;
  /** Also if it is the one that nobody writes; undefined if it is not known before it is dialled. */
  readonly port: number | undefined;
  readonly path: string;
  /** With its question mark; empty if there is none. */
  readonly query: string;
};

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
  ['ws', 80],
  ['wss', 443],
]);

/** Undefined if nobody could dial it. Who we say we are there (`user:password@`) and a fragment are left out. */
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

/** The parser has done letters, escapes and the many ways to write an IPv4 address; not the dot, nor IPv4 in IPv6. */
function normalHost(hostname: string): string {
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return hostname.replace(/\.+$/, '');
  return [high, low]
    .map((part) => Number.parseInt(part, 16))
    .flatMap((part) => [part >> 8, part & 255])
    .join('.');
}

/** A character that needs no escape is written without one, all others with capitals (RFC 3986, 6.2.2). */
function normalEscapes(text: string): string {
  return text.replaceAll(/%[0-9a-f]{2}/gi, (written) => {
    const character = String.fromCharCode(Number.parseInt(written.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : written.toUpperCase();
  });
}
