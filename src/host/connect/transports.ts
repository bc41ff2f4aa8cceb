import type { HttpServerEntry, StdioServerEntry } from '../../protocol/server-entry.ts';
import { ChannelTransport } from './channel-transport.ts';
import type { Dial, Dialed } from './dial.ts';
import { dialHttp } from './dial-http.ts';
import { dialStdio } from './dial-stdio.ts';
import { HostError } from './host-error.ts';
import { replayed } from './replayed.ts';
import type { ConnectWorld, SdkServerEntry, ServerEntry } from './world.ts';

/** How each kind of server is reached. */
export const TRANSPORTS: {
  stdio: Dial<StdioServerEntry>;
  http: Dial<HttpServerEntry>;
  sdk: Dial<SdkServerEntry>;
} = { stdio: dialStdio, http: dialHttp, sdk: dialSdk };

/** Reaches a server by the kind of its entry. */
export function dial(name: string, entry: ServerEntry, world: ConnectWorld): Promise<Dialed> {
  const type = entry.type ?? 'stdio';
  if (!Object.hasOwn(TRANSPORTS, type)) {
    const known = Object.keys(TRANSPORTS).join(', ');
    throw new HostError('bad-config', name, `servers of type "${type}" cannot be reached; use ${known}`);
  }
  return (TRANSPORTS[type as keyof typeof TRANSPORTS] as Dial<ServerEntry>)(name, entry, world);
}

async function dialSdk(name: string, entry: SdkServerEntry, world: ConnectWorld): Promise<Dialed> {
  if (!world.openPort) {
    throw new HostError('bad-config', name, 'it is an in-process server, but no program is connected');
  }
  const port = world.openPort(name);
  const transport = new ChannelTransport(entry.manifest ? replayed(port, entry.manifest) : port);
  return { transport, close: () => transport.close(), stderr: () => [] };
}
