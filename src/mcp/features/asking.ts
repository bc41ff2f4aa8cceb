import type { TimeLimits } from '../calls/time-limits.ts';

/** Something asked of a server that may be asked twice: nothing changes by it. */
export type Asking = {
  readonly server: string;
  /** What is asked for, as the fault of a limit names it. */
  readonly what: string;
  readonly limits: TimeLimits;
  readonly signal?: AbortSignal | undefined;
};

/** What is left of the time once a connection is there. */
export type Left = {
  readonly timeoutMs: number;
  readonly idleTimeoutMs?: number;
  readonly signal?: AbortSignal;
};
