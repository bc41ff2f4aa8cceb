import type { Connection } from '../connection/connection.ts';
import { type KeptList, keptLists, type Lists } from './lists.ts';
import { Pulse } from './pulse.ts';
import { Relist } from './relist.ts';
import type { SlotWorld } from './slot-world.ts';
import type { Introduction } from './state.ts';

/** A connection that is in use. */
export type Live = {
  readonly connection: Connection;
  readonly pulse: Pulse;
  readonly lists: Lists;
  readonly relist: Relist;
};

type Care = {
  /** Whether it is asked for signs of life. */
  readonly heartbeat: boolean;
  readonly lists: Lists;
  /** Lists these anew. */
  readonly list: (which: readonly KeptList[]) => Promise<void>;
  readonly lose: (failure: unknown) => void;
  /** Aborted at the end of the connection. */
  readonly signal: AbortSignal;
};

/** Listens to a connection: to its changes, and whether it is alive. */
export function attend(
  connection: Connection,
  { clock, heartbeat }: Pick<SlotWorld, 'clock' | 'heartbeat'>,
  care: Care,
): Live {
  const relist = new Relist(clock, care.list, care.signal);
  connection.onListChanged((kind) => relist.changed(keptLists(kind)));
  const pulse = new Pulse(connection, care.heartbeat ? heartbeat : undefined, care.lose);
  return { connection, pulse, lists: care.lists, relist };
}

/** What it said of itself, as it is told to people. */
export function introductionOf(connection: Connection, tools: number): Introduction {
  const { era, protocolVersion, serverInfo, instructions } = connection;
  return {
    era,
    protocolVersion,
    tools,
    ...(serverInfo && { serverInfo }),
    ...(instructions !== undefined && { instructions }),
  };
}
