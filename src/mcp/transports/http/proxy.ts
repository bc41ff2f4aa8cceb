import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { HttpError, toNetworkError, toProxyError } from './http-error.ts';
import { VERIFIED } from './tls-options.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a URL from the environment, with the rules of curl: `HTTPS_PROXY` or `HTTP_PROXY` by scheme, else
 * `ALL_PROXY`, lower case first, except hosts in `NO_PROXY`. Loopback addresses never use a proxy.
 */
export function proxyFor(url: URL, env: Environment): string | undefined {
  const isSecure = url.protocol === 'https:' || url.protocol === 'wss:';
  const proxy = read(env, isSecure ? 'https_proxy' : 'http_proxy') ?? read(env, 'all_proxy');
  if (proxy === undefined || isLoopback(url.hostname)) return undefined;
  const port = url.port || (isSecure ? '443' : '80');
  const exempt = (read(env, 'no_proxy') ?? '').split(/[\s,]+/).filter((it) => it !== '');
  if (exempt.some((rule) => isExempt(bare(url.hostname), port, rule))) return undefined;
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
}

/** A loopback address. */
export function isLoopback(hostname: string): boolean {
  const host = bare(hostname);
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127(\.\d+){3}$/.test(host)
  );
}

function read(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined;
}

/** A rule is a host including its subdomains, `*.host` for the subdomains only, or `*`; each with an optional port. */
function isExempt(host: string, port: string, rule: string): boolean {
  const split = /^(\[.+\]|[^:]+):(\d+)$/.exec(rule);
  if (split?.[2] !== undefined && split[2] !== port) return false;
  const name = bare(split?.[1] ?? rule);
  if (name === '*') return true;
  if (name.startsWith('*.')) return host.endsWith(name.slice(1));
  const domain = name.replace(/^\./, '');
  return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
}

function bare(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(.)\.$/, '$1');
}

/** Opens a tunnel with CONNECT; the credentials of the proxy come from its URL. */
export async function openTunnel(
  proxy: URL,
  to: { host: string; port: number },
  limitMs: number,
): Promise<Socket> {
  const { request } = proxy.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const target = `${to.host.includes(':') ? `[${to.host}]` : to.host}:${to.port}`;
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const connecting = request({
    host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: target,
    headers: {
      host: target,
      ...(user !== ':' && { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }),
    },
    agent: false,
    ...VERIFIED,
    timeout: limitMs,
  });
  connecting.on('connect', ({ statusCode = 0 }, socket: Duplex) => {
    if (statusCode === 200) return resolve(socket as Socket);
    socket.destroy();
    reject(refused(`the proxy ${proxy.host} refused the tunnel (HTTP ${statusCode})`));
  });
  connecting.on('response', ({ statusCode }) => {
    connecting.destroy();
    reject(refused(`the proxy ${proxy.host} refused the tunnel (HTTP ${statusCode})`));
  });
  connecting.on('timeout', () => connecting.destroy(refused(`the proxy ${proxy.host} does not respond`)));
  connecting.on('error', (failure) => {
    reject(toProxyError(toNetworkError(failure), proxy));
  });
  connecting.end();
  return promise;
}

function refused(message: string): HttpError {
  return new HttpError(`${message}; check the proxy variables of the environment`, {
    code: 'proxy',
    wasSent: false,
  });
}
