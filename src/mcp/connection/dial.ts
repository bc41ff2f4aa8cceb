import type { Transport } from '@modelcontextprotocol/client';
import type { ConnectWorld } from './world.ts';

/** A transport that is not started yet, and how to be rid of it. */
export type Dialed = {
  transport: Transport;
  /** Never rejects; resolves once nothing is left. */
  close(): Promise<void>;
  /** The last lines a process wrote to stderr, without secrets. */
  stderr(): readonly string[];
};

/** Makes the transport for an entry; nothing runs before the transport is started. */
export type Dial<Entry> = (name: string, entry: Entry, world: ConnectWorld) => Promise<Dialed>;
