import type { connect } from '../connection/connect.ts';
import type { ConnectWorld, WarningSubject } from '../connection/world.ts';
import type { Clock } from './clock.ts';
import type { DialLimit } from './dial-limit.ts';
import type { DialQueue } from './dial-queue.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { RetryPolicy } from './retry.ts';
import type { ServerState } from './state.ts';

/** What the servers of one host have in common. */
export type SlotWorld = {
  readonly world: ConnectWorld;
  readonly connect: typeof connect;
  readonly queue: DialQueue;
  /** How often a server of that name may be dialled. */
  readonly limitOf: (key: string) => DialLimit;
  readonly heartbeat: Heartbeat;
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryPolicy;
  /** How long the tools of a server that was lost stay offered. */
  readonly graceMs: number;
};

/** Hears what becomes of one server. */
export type SlotListener = {
  state(before: ServerState, state: ServerState): void;
  tools(): void;
  warning(message: string, subject?: WarningSubject): void;
};
