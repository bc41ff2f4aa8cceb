import { messageOf } from '../../../protocol/sdk-error.ts';
import { openSession, type SdkServerEntry as ProgramEntry } from '../../../tool-server/sdk-server.ts';
import { ChannelTransport } from '../../connection/channel-transport.ts';
import type { Dialed } from '../../connection/dial.ts';
import { HostError } from '../../connection/host-error.ts';
import { replayed } from '../../connection/replayed.ts';
import type { ConnectWorld, SdkServerEntry } from '../../connection/world.ts';
import { SessionTransport } from './session-transport.ts';

/** Reaches a server of this process directly, or one of the program at the far end of the control channel. */
export async function dialSdk(name: string, entry: SdkServerEntry, world: ConnectWorld): Promise<Dialed> {
  if (entry.instance !== undefined) return direct(name, entry);
  if (!world.openPort) {
    throw new HostError('bad-config', name, 'it is an in-process server, but no program is connected');
  }
  const port = world.openPort(name);
  const transport = new ChannelTransport(entry.manifest ? replayed(port, entry.manifest) : port);
  return { transport, close: () => transport.close(), stderr: () => [] };
}

function direct(name: string, { instance, assigns = {} }: SdkServerEntry): Dialed {
  const transport = new SessionTransport((send) => {
    try {
      return openSession(instance as ProgramEntry['instance'], { server: name, assigns, send });
    } catch (cause) {
      throw new HostError('bad-config', name, messageOf(cause), { cause });
    }
  });
  return { transport, close: () => transport.close(), stderr: () => [] };
}
