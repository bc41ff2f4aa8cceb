// "toolplane/host": the host half alone. It never loads the SDK half.
import { Host } from '../host/host.ts';
import type { HostOptions } from '../host/host-options.ts';
import { VERSION } from './version.ts';

/** A host whose servers are being dialled from now on; `await using` ends them. */
export function createHost(options: HostOptions = {}): Host {
  return new Host(options, { env: process.env, cwd: process.cwd(), version: VERSION });
}

export { HostError, type HostErrorCode } from '../host/connect/host-error.ts';
export { ServerFault } from '../host/connect/server-fault.ts';
export type { ServerLog } from '../host/connect/world.ts';
export type { Host } from '../host/host.ts';
export type {
  HostAnswer,
  HostCallOptions,
  HostEvent,
  HostEvents,
  HostHandlers,
  HostOptions,
  HostServerEntry,
  HostTool,
  InProcessEntry,
} from '../host/host-options.ts';
export type { CallRecord } from '../host/servers/call/journal.ts';
export { NotReadyError, type Ready } from '../host/servers/ready.ts';
export type { Replaced } from '../host/servers/servers.ts';
export type { ServerStatus } from '../host/servers/status.ts';
