import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/client';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import type { SdkPort } from './channel-transport.ts';

/** A server in the program that drives the host. */
export type SdkServerEntry = { type: 'sdk'; name: string; timeout?: number };

/** Anything the host can be told to connect to. */
export type ServerEntry = ExternalServerEntry | SdkServerEntry;

/** What connecting takes from its surroundings. */
export type ConnectWorld = {
  /** Where the few variables come from that a server process inherits. */
  env: Readonly<Record<string, string | undefined>>;
  /** Where server processes run; by default where the host does. */
  cwd?: string;
  connectTimeoutMs: number;
  clientInfo: Implementation;
  /** What servers may ask of us; nothing by default. */
  capabilities?: ClientCapabilities;
  /** The way to an in-process server; without it there are none. */
  openPort?: (server: string) => SdkPort;
  /** Hears each line a server process writes to stderr. */
  onStderr?: (server: string, line: string) => void;
};
