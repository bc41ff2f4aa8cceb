import type { Limits, Session, Target } from './contender.ts';
import type { Events } from './events.ts';

/** One thing that goes wrong, and what its user may expect all the same. */
export type Fault = {
  /** One sentence of what must hold; it is what the judge checks. */
  holds: string;
  /** Sets the fault up, drives the client, and throws a `CommandFailed` at what does not hold; may give a word for the report. */
  play(stage: Stage): Promise<string | undefined>;
  /** Servers that are still broken when the play is over: `status()` has to explain them. */
  remains?: readonly string[];
  /** The longest the whole play may take; by default 20 s. */
  limitMs?: number;
};

/** Faults by their names. */
export type Faults = Readonly<Record<string, Fault>>;

/** Where a fault is played: what it needs to set up servers and to drive one client. */
export type Stage = {
  /** Smaller counts and shorter watching, for a run that has little time. */
  readonly isQuick: boolean;
  readonly directory: string;
  /** What the processes of the servers told of themselves. */
  readonly events: Events;
  /** A server process that behaves as its row in `servers/behaviours` says. */
  stdio(behaviour: string, options?: { env?: Record<string, string>; isTrusted?: boolean }): Target;
  /** Lets the client begin; everything is closed after the play. */
  open(targets: Readonly<Record<string, Target>>, limits?: Partial<Limits>): Session;
  /** What is to be closed after the play, whatever became of it. */
  own<T extends AsyncDisposable>(it: T): T;
  /** Starts a program of its own that opens the same targets and then waits; gives its process id. */
  openElsewhere(targets: Readonly<Record<string, Target>>): Promise<number>;
};
