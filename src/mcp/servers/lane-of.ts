import { isRecord } from '../../base/is-record.ts';
import type { ServerEntry } from '../connection/world.ts';
import type { Lane } from './dial-queue.ts';

/** Servers in the program wait for nobody, processes are started a few at a time, all others are on the network. */
export function laneOf(entry: ServerEntry): Lane {
  // What is no entry is not dialled, so it waits for nobody either.
  if (!isRecord(entry) || entry.type === 'sdk') return undefined;
  return 'command' in entry ? 'local' : 'remote';
}
