import type { connect } from '../connection/connect.ts';
import type { WarningSubject } from '../connection/world.ts';
import type { Clock } from './clock.ts';
import type { SharedDialLimits } from './dial-limit.ts';
import type { Dialling } from './dial-queue.ts';
import type { readEntry } from './read-entry.ts';
import type { RetryPolicy } from './retry.ts';
import type { ServerState } from './state.ts';
import type { ServerStatus } from './status.ts';

/** How many servers are kept over time, and who hears of it; listeners must not throw. */
export type ServersOptions = {
  dialling?: Partial<Dialling>;
  retry?: Partial<RetryPolicy>;
  /** Limits shared with others that start servers from the same entries; by default each server has its own. */
  dialLimits?: SharedDialLimits;
  /** How often a server that says nothing is asked for a sign of life; by default every 30 s, 0 never asks. */
  heartbeatMs?: number;
  /** How long the tools of a server that was lost stay offered; by default 5 s. */
  graceMs?: number;
  clock?: Clock;
  /** Spreads retries: a number in [0, 1) at every call. */
  random?: () => number;
  connect?: typeof connect;
  /** Reads what `replace` is given; by default as what came over a wire. */
  readEntry?: typeof readEntry;
  onState?: (key: string, state: ServerState, status: ServerStatus) => void;
  /** Hears that what a server offers has changed. */
  onTools?: (key: string) => void;
  /** Hears of what a server listed that cannot be offered. */
  onWarning?: (key: string, message: string, subject?: WarningSubject) => void;
  onProgress?: (progress: StartProgress) => void;
};

/** How far the start is: of `total` servers that are dialled, so many have come or failed. */
export type StartProgress = {
  readonly settled: number;
  readonly total: number;
  readonly waitingFor: readonly string[];
};
