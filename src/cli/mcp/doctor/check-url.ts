import { once } from 'node:events';
import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConfigWorld } from '../../../config/config-context.ts';
import { NETWORK_FAULTS } from '../../../mcp/errors/classify-failure.ts';
import { proxyFor } from '../../../mcp/transports/http/proxy.ts';
import { tlsOptions } from '../../../mcp/transports/http/tls-options.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import type { Finding } from './finding.ts';

/** Nobody waits longer for a door to open. */
const PATIENCE_MS = 5_000;

/** Whether the address of a server can be reached: its name, its port, its certificate. The entry is expanded. */
export async function checkUrl(
  name: string,
  { url, tls }: { readonly url: string; readonly tls?: Parameters<typeof tlsOptions>[1] },
  { env }: Pick<ConfigWorld, 'env'>,
): Promise<Finding[]> {
  const target = new URL(url);
  const proxy = proxyFor(target, env);
  if (proxy !== undefined) {
    const { host } = URL.canParse(proxy) ? new URL(proxy) : { host: 'a proxy' };
    return [ok('proxy', `it is reached through ${host}, as the environment says`)];
  }
  const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = target.protocol === 'https:' || target.protocol === 'wss:';
  const port = Number(target.port) || (isSecure ? 443 : 80);
  const until = AbortSignal.timeout(PATIENCE_MS);
  let check = 'address';
  try {
    await open(() => connect({ host, port }), 'connect', until);
    const reached = ok('address', `${host}:${port} answers`);
    if (!isSecure) return [reached];
    check = 'tls';
    const options = await tlsOptions(name, tls);
    // An address is no name that a certificate could be asked for.
    const asked = isIP(host) === 0 ? { servername: host } : {};
    await open(() => connectTls({ ...asked, ...options, host, port }), 'secureConnect', until);
    return [reached, ok('tls', 'its certificate is good')];
  } catch (cause) {
    return [{ check, level: 'error', ...faultOf(cause, `${host}:${port}`) }];
  }
}

function ok(check: string, text: string): Finding {
  return { check, level: 'ok', text };
}

function faultOf(cause: unknown, where: string): Pick<Finding, 'text' | 'fix'> {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const known = Object.hasOwn(NETWORK_FAULTS, code) ? NETWORK_FAULTS[code] : undefined;
  const isLate = cause instanceof Error && cause.name === 'TimeoutError';
  const said =
    known?.fault ?? (isLate ? 'it does not answer; check "url" and the network' : messageOf(cause));
  const [text = '', ...rest] = said.split('; ');
  const fix = rest.join('; ');
  const named = code === '' ? '' : ` (${code})`;
  return {
    text: `${where}: ${text}${named}`,
    fix: fix === '' ? 'check "url" and the network' : fix,
  };
}

/** Settles when the socket is open, and closes it. */
async function open(
  make: () => ReturnType<typeof connect>,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<void> {
  const socket = make();
  try {
    await once(socket, event, { signal });
  } catch (cause) {
    throw signal.aborted ? signal.reason : cause;
  } finally {
    socket.on('error', () => {});
    socket.destroy();
  }
}
