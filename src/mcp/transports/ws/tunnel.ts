import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { HttpFault, networkFault, proxyFault } from '../http/http-fault.ts';
import { VERIFIED } from '../http/tls-options.ts';

/** A connection to a host through a proxy's CONNECT; the proxy's own credentials come from its URL. */
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
    reject(refused(`the proxy ${proxy.host} answered ${statusCode}`));
  });
  connecting.on('response', ({ statusCode }) => {
    connecting.destroy();
    reject(refused(`the proxy ${proxy.host} answered ${statusCode}`));
  });
  connecting.on('timeout', () => connecting.destroy(refused(`the proxy ${proxy.host} does not answer`)));
  connecting.on('error', (failure) => {
    reject(proxyFault(networkFault(failure), proxy));
  });
  connecting.end();
  return promise;
}

function refused(message: string): HttpFault {
  return new HttpFault(message, { code: 'proxy', wasSent: false });
}
