import type { LookupAddress } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { isRecord } from '../../base/json-value.ts';
import { NETWORK_ERRORS } from '../errors/classify-failure.ts';
import { isLoopback, proxyFor } from '../transports/http/proxy.ts';
import { type TlsOptions, tlsOptions, VERIFIED } from '../transports/http/tls-options.ts';

/** Sends requests to authorization servers and for their metadata. */
export type AuthFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** An `AuthFetch` that also checks addresses which are opened elsewhere. */
export type CheckedFetch = AuthFetch & {
  /** Rejects with an `AuthRequestError` if a browser must not open the URL, for example a page of the local network. */
  checkPage(url: URL): Promise<void>;
};

/**
 * A request of the authorization flow that was not made or failed. It is a `TypeError` because the official discovery
 * ignores all other errors and would then try another address.
 */
export class AuthRequestError extends TypeError {
  override readonly name = 'AuthRequestError';
  /**
   * `address` if the address is not allowed, `connect` if no connection could be opened, so that nothing was sent,
   * `network` if no response arrived, `response` if the response exceeds the limits.
   */
  readonly reason: 'address' | 'connect' | 'network' | 'response';

  constructor(reason: AuthRequestError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export type AuthFetchOptions = {
  /** The URL of the MCP server. Addresses that the server supplies must not be less public than the server itself. */
  readonly server: URL;
  /** URLs from the configuration, whose origins may be anywhere. */
  readonly trusted?: readonly (string | undefined)[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A certificate authority besides the default ones: PEM text or the path of a PEM file. */
  readonly ca?: string | undefined;
};

/** Limits of one request. A POST waits longer, because its effect would be lost with the response: tokens, or a client. */
const MAX_BYTES = 256 * 1024;
const TIMEOUT_MS = 10_000;
const POST_TIMEOUT_MS = 60_000;

/**
 * A `fetch` for addresses that a server supplied: https or loopback only, no private addresses unless the server itself
 * is private, no redirects, limited size and time. Through a proxy only literal addresses can be checked.
 */
export function createAuthFetch({ server, trusted = [], env, ca }: AuthFetchOptions): CheckedFetch {
  const origins = new Set(
    trusted.flatMap((url) => (url !== undefined && URL.canParse(url) ? [new URL(url).origin] : [])),
  );
  let zone: Promise<AddressZone> | undefined;
  let tls: Promise<TlsOptions> | undefined;
  /** Checks a URL; returns the TLS options, and the zone that limits the addresses of its host. */
  const check = async (url: URL) => {
    const fault = urlFault(url);
    if (fault !== undefined) throw new AuthRequestError('address', fault);
    tls ??= tlsOptions(server.host, ca === undefined ? undefined : { ca });
    const options = await tls;
    const isExempt = origins.has(url.origin) || url.origin === server.origin;
    if (!isExempt) zone ??= zoneOfServer(server, options, proxyFor(server, env) !== undefined);
    const allowed: AddressZone | 'any' = isExempt ? 'any' : ((await zone) ?? 'public');
    const host = bareHost(url);
    if (isIP(host) !== 0) checkAddress(host, allowed);
    return { allowed, tls: options };
  };
  const request: AuthFetch = async (input, init = {}) => {
    const url = new URL(input);
    return send(url, init, { ...(await check(url)), proxy: proxyFor(url, env) });
  };
  const checkPage = async (url: URL) => {
    const { allowed } = await check(url);
    // Browsers do not look up names below `localhost`: they connect to the loopback address.
    if (isLoopback(url.hostname)) checkAddress('127.0.0.1', allowed);
    // The lookup fails for a name that only the browser or its proxy can resolve.
    const found = await lookupAll(bareHost(url)).catch(() => []);
    for (const { address } of found) checkAddress(address, allowed);
  };
  return Object.assign(request, { checkPage });
}

/** The networks from which an address can be reached. */
export type AddressZone = 'loopback' | 'link-local' | 'private' | 'public';

/** Whether a server in one zone may refer to an address in another one. */
export function mayName(server: AddressZone | 'any', address: AddressZone): boolean {
  if (server === 'any' || server === address) return true;
  if (address === 'link-local') return false;
  return address === 'public' || (server === 'loopback' && address === 'private');
}

export function zoneOf(address: string): AddressZone {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (LOOPBACK.check(address, family)) return 'loopback';
  if (LINK_LOCAL.check(address, family)) return 'link-local';
  return PRIVATE.check(address, family) ? 'private' : 'public';
}

const LOOPBACK = subnets('127.0.0.0/8', '::1/128');
const LINK_LOCAL = subnets('169.254.0.0/16', 'fe80::/10');
/** Private and shared networks, and ranges that are reserved for special use. */
const PRIVATE_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
];
const PRIVATE = subnets(
  ...PRIVATE_IPV4,
  // In networks without IPv4, all public IPv4 addresses have this prefix too (NAT64).
  ...[...PRIVATE_IPV4, '127.0.0.0/8', '169.254.0.0/16'].map(translated),
  '::/96',
  // IPv4 addresses that are translated without state (SIIT), the discard prefix, and protocol assignments (Teredo).
  '::ffff:0:0:0/96',
  '100::/64',
  '2001::/23',
  '64:ff9b:1::/48',
  '2002::/16',
  'fc00::/7',
  'fec0::/10',
  'ff00::/8',
);

/** An IPv4 range behind the well-known prefix of NAT64. */
function translated(range: string): string {
  const [address = '', bits] = range.split('/');
  return `64:ff9b::${address}/${96 + Number(bits)}`;
}

function subnets(...ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    list.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** Why a URL must not be requested, apart from its IP address; undefined if it may be requested. */
export function urlFault(url: URL): string | undefined {
  if (url.username !== '' || url.password !== '')
    return `the URL of ${url.origin} contains a user name or password, which is not allowed`;
  if (url.protocol === 'https:') return undefined;
  if (url.protocol !== 'http:') return 'the URL does not use https';
  return isLoopback(url.hostname) ? undefined : `${url.origin} must use https, or http on this machine`;
}

/**
 * The zone of a server. The owner of a name chooses its addresses, and may choose others for each lookup: a name counts
 * as private only if all its addresses are, and if a server with a certificate for it responds at one of them.
 */
export async function zoneOfServer(
  server: URL,
  tls: TlsOptions,
  isProxied: boolean,
  resolve: (host: string) => Promise<readonly LookupAddress[]> = lookupAll,
): Promise<AddressZone> {
  const host = bareHost(server);
  if (isLoopback(host)) return 'loopback';
  if (isIP(host) !== 0) return zoneOf(host);
  try {
    const found = (await resolve(host)).map(({ address }) => address);
    if (found.length === 0 || found.some((address) => zoneOf(address) !== 'private')) return 'public';
    if (isProxied || server.protocol === 'http:') return 'private';
    await Promise.any(found.map((address) => shakeHands(server, address, tls)));
    return 'private';
  } catch {
    // The name may be known to the proxy only.
    return 'public';
  }
}

/** The modules for names and TLS are loaded when they are needed: most agents connect to no server that requires them. */
async function lookupAll(host: string): Promise<LookupAddress[]> {
  const { lookup } = await import('node:dns/promises');
  return lookup(host, { all: true });
}

/** Rejects unless the server is at this address and has a certificate for its name. */
async function shakeHands(server: URL, address: string, tls: TlsOptions): Promise<void> {
  const { connect } = await import('node:tls');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const port = Number(server.port || 443);
  const socket = connect({ servername: bareHost(server), ...tls, host: address, port }, resolve);
  socket.once('error', reject);
  socket.setTimeout(TIMEOUT_MS, () => reject(new Error('timeout')));
  return promise.finally(() => socket.destroy());
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

function checkAddress(address: string, allowed: AddressZone | 'any'): void {
  const zone = zoneOf(address);
  if (mayName(allowed, zone)) return;
  throw new AuthRequestError(
    'address',
    `the server refers to the ${zone} address ${address}, which is not allowed; if you trust this address, set "oauth.issuer" or "oauth.authServerMetadataUrl" in the entry of the server`,
  );
}

type SendOptions = {
  readonly allowed: AddressZone | 'any';
  readonly proxy: string | undefined;
  readonly tls: TlsOptions;
};

/** Sends one request; each address that the name resolves to is checked before it is connected to. */
async function send(url: URL, init: RequestInit, { allowed, proxy, tls }: SendOptions): Promise<Response> {
  const [{ Agent, ProxyAgent }, { lookup }] = await Promise.all([import('undici'), import('node:dns')]);
  const checkedLookup: typeof lookup = ((
    host: string,
    options: object,
    done: (error: Error | null, found?: LookupAddress[] | string, family?: number) => void,
  ) =>
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error);
      try {
        for (const { address } of found) checkAddress(address, allowed);
      } catch (refusal) {
        return done(refusal as Error);
      }
      if ('all' in options && options.all) return done(null, found);
      done(null, found[0]?.address ?? '', found[0]?.family ?? 4);
    })) as typeof lookup;
  const connect = { ...tls, timeout: TIMEOUT_MS };
  const pool =
    proxy === undefined
      ? new Agent({ connect: { ...connect, lookup: checkedLookup } })
      : new ProxyAgent({ uri: proxy, requestTls: connect, proxyTls: { ...VERIFIED, timeout: TIMEOUT_MS } });
  const limit = AbortSignal.timeout(init.method === 'POST' ? POST_TIMEOUT_MS : TIMEOUT_MS);
  const signal = AbortSignal.any([limit, ...(init.signal ? [init.signal] : [])]);
  try {
    const answer = await pool.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: (init.method ?? 'GET') as 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      body: init.body === undefined || init.body === null ? null : String(init.body),
      signal,
    });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of answer.body) {
      size += (chunk as Uint8Array).length;
      if (size > MAX_BYTES)
        throw new AuthRequestError(
          'response',
          `the response of ${url.origin} is larger than ${MAX_BYTES / 1024} KiB; report this to its operator`,
        );
      chunks.push(chunk as Uint8Array);
    }
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined) headers.set(name, String(value));
    }
    const status = answer.statusCode;
    const body = status === 204 || status === 205 || status === 304 ? null : Buffer.concat(chunks);
    return new Response(body, { status, headers });
  } catch (failure) {
    if (failure instanceof AuthRequestError || init.signal?.aborted) throw failure;
    const { stage, fault } = (isRecord(failure) && NETWORK_ERRORS[String(failure.code)]) || {};
    const why =
      stage === 'tls'
        ? `the connection to ${url.origin} failed: ${fault}`
        : `${url.origin} cannot be reached or did not respond in time; check the network and try again`;
    throw new AuthRequestError(hasNoConnection(failure) ? 'connect' : 'network', why);
  } finally {
    void pool.destroy().catch(() => {});
  }
}

/** Whether the name lookup or the connection failed. */
function hasNoConnection(failure: unknown): boolean {
  // Several addresses of a host were tried.
  const [first = failure] = failure instanceof AggregateError ? failure.errors : [failure];
  const { code, syscall } = first as NodeJS.ErrnoException;
  return code === 'UND_ERR_CONNECT_TIMEOUT' || syscall === 'connect' || syscall === 'getaddrinfo';
}
