import { join } from 'node:path';
import type { Broadcast } from '../base/broadcast.ts';
import { configuredLimits } from '../config/configured-limits.ts';
import { CONNECT_TIMEOUT_MS } from '../mcp/calls/time-limits.ts';
import { fileEras } from '../mcp/connection/file-eras.ts';
import { memoryEras } from '../mcp/connection/memory-eras.ts';
import type { ConnectWorld, EraMemory } from '../mcp/connection/world.ts';
import { fileCatalogue } from '../mcp/discovery/file-catalogue.ts';
import { hostOffer } from './host-offers.ts';
import type { HostEvent, HostOptions } from './host-options.ts';

/** What a host takes from its surroundings. */
export type HostWorld = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly version: string;
  /** Where it is kept which protocol each server speaks, unless the options say otherwise; by default only in memory. */
  readonly cacheDirectory?: string | undefined;
};

/** How the servers of a host are reached, and who hears and answers them. */
export function hostConnectWorld(
  options: HostOptions,
  { env, cwd, version, cacheDirectory: ownCache }: HostWorld,
  events: Pick<Broadcast<HostEvent>, 'emit'>,
): ConnectWorld {
  const { cacheDirectory, handlers = {}, maxFrameBytes } = options;
  return {
    env: options.env ?? env,
    cwd: options.cwd ?? cwd,
    connectTimeoutMs:
      options.connectTimeoutMs ??
      configuredLimits(options.configuration).connectTimeoutMs ??
      CONNECT_TIMEOUT_MS,
    clientInfo: options.clientInfo ?? { name: 'toolplane', version },
    eras: erasIn(cacheDirectory ?? ownCache),
    ...(cacheDirectory && { catalogue: fileCatalogue(join(cacheDirectory, 'catalogue')) }),
    offerTo: (server) => hostOffer(server, handlers),
    onStderr: (server, line) => events.emit({ type: 'stderr', server, line }),
    onNoise: (server, message, subject) =>
      events.emit({ type: 'warning', server, message, ...(subject && { subject }) }),
    onRefused: (server, message) => events.emit({ type: 'warning', server, message }),
    onLog: (server, entry) => events.emit({ type: 'log', server, entry }),
    ...(maxFrameBytes !== undefined && { maxFrameBytes }),
    ...(options.configuration && { expand: options.configuration.running.expand }),
  };
}

function erasIn(directory: string | false | undefined): EraMemory {
  return directory ? fileEras(join(directory, 'eras.json')) : memoryEras();
}
