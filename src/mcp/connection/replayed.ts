import { readRpc, rpcResult } from '../../protocol/json-rpc.ts';
import type { SdkPort, ServerManifest } from './world.ts';

/** The same port with the handshake answered by the manifest: nothing is asked twice. Lists are answered from it once. */
export function replayed(port: SdkPort, { initializeResult, toolsListResult }: ServerManifest): SdkPort {
  let isListed = false;
  return {
    listen: port.listen,
    async send(message, signal) {
      const read = readRpc(message);
      if (read.kind === 'notification' && read.method === 'notifications/initialized') return undefined;
      if (read.kind === 'request' && read.method === 'initialize')
        return rpcResult(read.id, initializeResult);
      if (read.kind === 'request' && read.method === 'tools/list' && toolsListResult && !isListed) {
        isListed = true;
        return rpcResult(read.id, toolsListResult);
      }
      return port.send(message, signal);
    },
  };
}
