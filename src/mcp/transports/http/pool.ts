import type { Dispatcher } from 'undici';
import { redactText } from '../../../base/redact.ts';
import { HostError } from '../../connection/host-error.ts';
import type { ConnectWorld } from '../../connection/world.ts';
import { proxyFor } from './proxy-for.ts';
import { tlsOptions, VERIFIED } from './tls-options.ts';

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
export type HttpPool = { pool: Dispatcher; via: URL | undefined };

/** Whoever opens a pool destroys it. */
export async function openPool(
  name: string,
  entry: { url: string; tls?: Parameters<typeof tlsOptions>[1] },
  world: ConnectWorld,
): Promise<HttpPool> {
  const connect = { ...(await tlsOptions(name, entry.tls)), timeout: CONNECT_MS };
  const proxy = proxyFor(new URL(entry.url), world.env);
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
  const fault = `the environment names the proxy "${redactText(proxy)}"; only http:// and https:// ones can be used`;
  throw new HostError('bad-config', name, fault);
}
