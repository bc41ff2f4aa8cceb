import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { WsServerEntry } from '../../../protocol/server-entry.ts';
import type { ConnectContext, Dialed } from '../../connection/connect-context.ts';

import { CONNECT_MS, checkProxy, headersOf, urlOf } from '../http/open-http.ts';

import { openTunnel, proxyFor } from '../http/proxy.ts';
import { type TlsOptions, tlsOptions } from '../http/tls-options.ts';
import { TrackedTransport } from '../http/tracked-transport.ts';

import { maxFrameBytesOf } from '../oversized-message.ts';
import { maxPayloadOf, WsTransport } from './ws-transport.ts';

const HEARTBEAT_MS = 15_000;

/** Creates a WebSocket transport with the subprotocol `mcp`. Refused headers are requested again, and retried if they changed. */
export async function dialWs(
  name: string,
  entry: Omit<WsServerEntry, 'type'>,
  context: ConnectContext,
  heartbeatMs = HEARTBEAT_MS,
): Promise<Dialed> {
  const url = urlOf(name, entry.url);
  const headers = headersOf(name, entry, context);
  const mask = (text: string) => context.secrets?.maskCredentials(text) ?? text;
  const limits = { heartbeatMs, limit: maxFrameBytesOf(entry, context), mask };
  const open = await opener(name, url, entry, context);
  let sent: Readonly<Record<string, string>> = {};
  const inner = new WsTransport(
    async () => {
      sent = await headers.get();
      return open(sent, maxPayloadOf(limits.limit));
    },
    limits,
    async () => (await headers.renew(sent)) !== undefined,
  );
  const transport = new WatchedSocket(inner);
  return {
    transport,
    async close() {
      await Promise.all([transport.close().catch(() => {}), headers.close()]);
    },
    stderr: () => [],
  };
}

/** A function that opens a socket, through the proxy from the environment. */
async function opener(name: string, url: URL, entry: Pick<WsServerEntry, 'tls'>, context: ConnectContext) {
  const tls = await tlsOptions(name, entry.tls);
  const proxy = proxyFor(url, context.env);
  const via = proxy === undefined ? undefined : checkProxy(name, proxy);
  const { WebSocket } = await import('ws');
  return async (headers: Readonly<Record<string, string>>, maxPayload: number): Promise<WebSocket> => {
    const tunnel = via && (await tunnelled(via, url, tls));
    return new WebSocket(url, 'mcp', {
      ...tls,
      headers,
      maxPayload,
      perMessageDeflate: false,
      handshakeTimeout: CONNECT_MS,
      ...(tunnel && { createConnection: () => tunnel }),
    });
  };
}

async function tunnelled(via: URL, { protocol, hostname, port }: URL, tls: TlsOptions): Promise<Socket> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = protocol === 'wss:';
  const socket = await openTunnel(via, { host, port: Number(port) || (isSecure ? 443 : 80) }, CONNECT_MS);
  if (!isSecure) return socket;
  const { connect } = await import('node:tls');
  return connect({ servername: host, ...tls, socket });
}

/** These members tell the official client that it may probe the era in place, and that no response is an answer. */
class WatchedSocket extends TrackedTransport {
  get pid(): null {
    return null;
  }

  get stderr(): null {
    return null;
  }
}
