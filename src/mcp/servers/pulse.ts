import type { Connection } from '../connection/connection.ts';
import { HostError } from '../connection/host-error.ts';
import type { Heartbeat, Patient } from './heartbeat.ts';
import { isUnauthorized } from './trouble.ts';

/** So many failures of the connection in a row, and it is given up (R181). */
const STRIKES = 3;
/** A server that works on a call and cannot answer meanwhile is left in peace for about five minutes. */
const STRIKES_AT_WORK = 30;

/** Whether one connection is still good for anything, judged by what came of calls and signs of life. */
export class Pulse implements Patient {
  readonly #connection: Connection;
  readonly #heartbeat: Heartbeat | undefined;
  readonly #onDead: (failure: unknown) => void;
  readonly #unlisten: () => void;
  #strikes = 0;
  #heardAt: number;
  /** Questions in a row that it has not answered. */
  #silences = 0;
  /** A call has ended without an answer: who does not answer calls either is not at work. */
  #hasTimedOut = false;

  /** Without a heartbeat it is not asked for signs of life. `onDead` is told the last failure. */
  constructor(connection: Connection, heartbeat: Heartbeat | undefined, onDead: (failure: unknown) => void) {
    this.#connection = connection;
    this.#heartbeat = heartbeat;
    this.#onDead = onDead;
    this.#heardAt = connection.heardAt();
    heartbeat?.watch(this);
    this.#unlisten = heartbeat ? connection.onTrouble(() => heartbeat.suspect(this)) : () => {};
  }

  /** What a call came to: a terminal failure is counted, anything else ends the count. */
  report(failure?: unknown): void {
    const isFault = failure instanceof HostError;
    if (isFault && (failure.isTerminal || isFatal(failure))) {
      this.#strike(failure);
      return;
    }
    this.#strikes = 0;
    if (failure === undefined || isAnswer(failure)) this.#live();
    if (isFault && failure.code === 'timeout') {
      this.#hasTimedOut = true;
      this.#heartbeat?.suspect(this);
    }
  }

  ping(signal: AbortSignal): Promise<void> {
    return this.#connection.ping(signal);
  }

  beat(failure?: unknown): void {
    if (failure === undefined || this.#hasSpoken()) this.#live();
    else if (failure instanceof HostError) this.#strike(failure);
    else if (++this.#silences >= (this.#isAtWork() ? STRIKES_AT_WORK : STRIKES))
      this.#onDead(this.#silent(failure));
  }

  end(): void {
    this.#unlisten();
    this.#heartbeat?.unwatch(this);
  }

  #silent(cause: unknown): HostError {
    return new HostError(
      'timeout',
      this.#connection.name,
      'it gives no sign of life any more; see whether it still runs',
      { cause },
    );
  }

  #live(): void {
    this.#strikes = 0;
    this.#silences = 0;
    this.#hasTimedOut = false;
    this.#heartbeat?.seen(this);
  }

  /** Whether anything came from it since the last look: progress of a call is a sign of life too. */
  #hasSpoken(): boolean {
    const before = this.#heardAt;
    this.#heardAt = this.#connection.heardAt();
    return this.#heardAt > before;
  }

  #isAtWork(): boolean {
    return this.#connection.isBusy() && !this.#hasTimedOut;
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
