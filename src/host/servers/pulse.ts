import type { Connection } from '../connect/connection.ts';
import { HostError } from '../connect/host-error.ts';
import type { Heartbeat, Patient } from './heartbeat.ts';
import { isUnauthorized } from './trouble.ts';

/** So many failures of the connection in a row, and it is given up (R181). */
const STRIKES = 3;

/** Whether one connection is still good for anything, judged by what came of calls and signs of life. */
export class Pulse implements Patient {
  readonly #connection: Connection;
  readonly #heartbeat: Heartbeat | undefined;
  readonly #onDead: (failure: unknown) => void;
  readonly #unlisten: () => void;
  #strikes = 0;

  /** Without a heartbeat it is not asked for signs of life. `onDead` is told the last failure. */
  constructor(connection: Connection, heartbeat: Heartbeat | undefined, onDead: (failure: unknown) => void) {
    this.#connection = connection;
    this.#heartbeat = heartbeat;
    this.#onDead = onDead;
    heartbeat?.watch(this);
    this.#unlisten = heartbeat ? connection.onTrouble(() => heartbeat.suspect(this)) : () => {};
  }

  /** What a call came to: a terminal failure is counted, anything else ends the count. */
  report(failure?: unknown): void {
    const isFault = failure instanceof HostError;
    if (isFault && (failure.isTerminal || isFatal(failure))) this.#strike(failure);
    else this.#strikes = 0;
    // A call that timed out, or that its caller took back, is no sign of life.
    if (failure === undefined || isAnswer(failure)) this.#heartbeat?.seen(this);
  }

  ping(signal: AbortSignal): Promise<void> {
    return this.#connection.ping(signal);
  }

  beat(failure?: unknown): void {
    if (failure === undefined) this.#strikes = 0;
    else this.#strike(failure instanceof HostError ? failure : this.#silent(failure));
  }

  end(): void {
    this.#unlisten();
    this.#heartbeat?.unwatch(this);
  }

  #silent(cause: unknown): HostError {
    return new HostError('timeout', this.#connection.name, 'it gives no sign of life any more', { cause });
  }

  #strike(failure: HostError): void {
    if (++this.#strikes >= STRIKES || isFatal(failure)) this.#onDead(failure);
  }
}

/** Some failures need no second and third to be believed. */
function isFatal(failure: HostError): boolean {
  const isOver = failure.code === 'closed' && failure.hasRun === 'no';
  return isOver || isUnauthorized(failure) || failure.code === 'session-lost';
}

/** Codes of JSON-RPC are numbers: the server has spoken. */
function isAnswer(failure: unknown): boolean {
  return failure instanceof Error && 'code' in failure && typeof failure.code === 'number';
}
