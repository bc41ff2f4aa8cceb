/** An address as it is dialled: what a person may write in several ways is the same here. */
export type NormalUrl = {
  readonly scheme: string;
  /** In small letters, without a dot at its end. */
  readonly host: string;
  /** Also if it is the one that nobody writes; undefined if it is not known before it is dialled. */
  readonly port: number | undefined;
  readonly path: string;
  /** With its question mark; empty if there is none. */
  readonly query: string;
};

export const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
  ['ws', 80],
  ['wss', 443],
]);

/** Undefined if nobody could dial it. Who we say we are there (`user:password@`) and a fragment are left out. */
export function normalUrl(text: string): NormalUrl | undefined {
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
