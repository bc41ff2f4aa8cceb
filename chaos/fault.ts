import type { Limits, Session, Target } from './contender.ts';
import type { Events } from './events.ts';

/** One fault, and what a client must do about it. */
export type Fault = {
  /** The statement that must hold. */
  holds: string;
  /** Sets up the fault, runs the client, and throws a `Failed` if the statement does not hold; may return a note for the report. */
  play(stage: Stage): Promise<string | undefined>;
  /** Servers that are still broken at the end: `status()` has to explain them. */
  remains?: readonly string[];
  /** Time limit of the whole fault. Default: 20 s. */
  limitMs?: number;
};

/** Faults by name. */
export type Faults = Readonly<Record<string, Fault>>;

/** What a fault needs to set up servers and to run one client. */
export type Stage = {
  /** Smaller counts and shorter observation. */
  readonly isQuick: boolean;
  readonly directory: string;
  /** The events that the server processes recorded. */
  readonly events: Events;
  /** A server process with the behaviour of that name in `servers/behaviours`. */
  stdio(behaviour: string, options?: { env?: Record<string, string>; isTrusted?: boolean }): Target;
  /** Opens the client; it is closed after the fault. */
  open(targets: Readonly<Record<string, Target>>, limits?: Partial<Limits>): Session;
  /** Closed after the fault, whatever its outcome. */
  own<T extends AsyncDisposable>(it: T): T;
  /** Starts a separate program that opens the same targets and then waits; returns its process id. */
  openElsewhere(targets: Readonly<Record<string, Target>>): Promise<number>;
};
