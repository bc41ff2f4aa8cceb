import type { Clock } from '../../base/async/timers.ts';
import type { Connection } from '../connection/connection.ts';
import { HostError } from '../errors/host-error.ts';
import { isUnauthorized } from './server-state.ts';

/** After this many connection failures in a row the connection is replaced (R181). */
const MAX_FAILURES = 3;
/** The same during a call: a busy server may miss health checks for about five minutes. */
const MAX_FAILURES_DURING_CALL = 30;

/** Decides from the results of calls and health checks whether one connection still works. */
export class ConnectionHealth implements CheckedConnection {
  readonly #connection: Connection;
  readonly #heartbeat: HealthChecks | undefined;
  readonly #onDead: (failure: unknown) => void;
  readonly #unlisten: () => void;
  #strikes = 0;
  #lastMessageAt: number;
  /** Unanswered health checks in a row. */
  #silences = 0;
  /** A call has timed out: the server is then not assumed to be busy with it. */
  #hasTimedOut = false;

  /** Without `heartbeat` there are no health checks. `onDead` receives the last failure. */
  constructor(
    connection: Connection,
    heartbeat: HealthChecks | undefined,
    onDead: (failure: unknown) => void,
  ) {
    this.#connection = connection;
    this.#heartbeat = heartbeat;
    this.#onDead = onDead;
    this.#lastMessageAt = connection.lastMessageAt();
    heartbeat?.watch(this);
    this.#unlisten = heartbeat ? connection.onTransportError(() => heartbeat.suspect(this)) : () => {};
  }

  /** Reports the outcome of a call: terminal failures are counted, any other outcome resets the count. */
  report(failure?: unknown): void {
    const isHostError = failure instanceof HostError;
    if (isHostError && (failure.isTerminal || isFatal(failure))) {
      this.#strike(failure);
      return;
    }
    this.#strikes = 0;
    if (failure === undefined || isAnswer(failure)) this.#live();
    if (isHostError && failure.code === 'timeout') {
      this.#hasTimedOut = true;
      this.#heartbeat?.suspect(this);
    }
  }

  ping(signal: AbortSignal): Promise<void> {
    return this.#connection.ping(signal);
  }

  checked(failure?: unknown): void {
    if (failure === undefined || this.#hasSpoken()) this.#live();
    else if (failure instanceof HostError) this.#strike(failure);
    else if (++this.#silences >= (this.#isAtWork() ? MAX_FAILURES_DURING_CALL : MAX_FAILURES))
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
      `the server stopped responding to health checks (${this.#silences} in a row); check that it is still running`,
      { cause },
    );
  }

  #live(): void {
    this.#strikes = 0;
    this.#silences = 0;
    this.#hasTimedOut = false;
    this.#heartbeat?.seen(this);
  }

  /** Whether any message arrived since the last check; progress of a call counts too. */
  #hasSpoken(): boolean {
    const before = this.#lastMessageAt;
    this.#lastMessageAt = this.#connection.lastMessageAt();
    return this.#lastMessageAt > before;
  }

  #isAtWork(): boolean {
    return this.#connection.hasPendingCall() && !this.#hasTimedOut;
  }

  #strike(failure: HostError): void {
    if (++this.#strikes >= MAX_FAILURES || isFatal(failure)) this.#onDead(failure);
  }
}

/** Failures that replace the connection at once. */
function isFatal(failure: HostError): boolean {
  const isOver = failure.code === 'closed' && failure.hasRun === 'no';
  return isOver || isUnauthorized(failure) || failure.code === 'session-lost';
}

/** JSON-RPC error codes are numbers, so the server has answered. */
function isAnswer(failure: unknown): boolean {
  return failure instanceof Error && 'code' in failure && typeof failure.code === 'number';
}

/** A connection that health checks run on. */
export type CheckedConnection = {
  ping(signal: AbortSignal): Promise<void>;
  /** Receives the result of a health check: why it failed, or undefined if the server answered. */
  checked(failure?: unknown): void;
};

/** Bounds of the health-check timeout, which otherwise equals the interval. */
const MIN_PING_TIMEOUT_MS = 1_000;
const MAX_PING_TIMEOUT_MS = 10_000;
/** Delay of the next health check after a missed one. */
const RECHECK_MS = 1_000;
/** Delay of the health check after a transport error. Errors come in bursts; one health check covers a burst. */
const ERROR_BURST_MS = 100;

type Watch = { dueAt: number; hasMissed: boolean; pending: AbortController | undefined };

/** Sends health checks to idle servers, using one timer that does not keep the process alive. */
export class HealthChecks {
  readonly #everyMs: number;
  readonly #clock: Clock;
  readonly #onClockJump: () => void;
  readonly #watches = new Map<CheckedConnection, Watch>();
  #isOver = false;
  #timer: { at: number; stop: () => void } | undefined;

  /** `onClockJump` is called after the machine was suspended. With `everyMs` 0 there are no health checks. */
  constructor(everyMs: number, clock: Clock, onClockJump: () => void) {
    this.#everyMs = everyMs;
    this.#clock = clock;
    this.#onClockJump = onClockJump;
    this.#plan();
  }

  watch(patient: CheckedConnection): void {
    this.#watches.set(patient, {
      dueAt: this.#clock.now() + this.#everyMs,
      hasMissed: false,
      pending: undefined,
    });
    this.#plan();
  }

  unwatch(patient: CheckedConnection): void {
    this.#watches.get(patient)?.pending?.abort();
    this.#watches.delete(patient);
  }

  /** The server answered another request, so the next health check is postponed. */
  seen(patient: CheckedConnection): void {
    const watch = this.#watches.get(patient);
    if (!watch) return;
    watch.hasMissed = false;
    watch.dueAt = this.#clock.now() + this.#everyMs;
  }

  /** Checks the connection soon, after a transport error or a timeout. */
  suspect(patient: CheckedConnection): void {
    const watch = this.#watches.get(patient);
    // A check is pending or will follow soon anyway.
    if (!watch || watch.pending || watch.hasMissed) return;
    watch.dueAt = Math.min(watch.dueAt, this.#clock.now() + ERROR_BURST_MS);
    this.#plan();
  }

  end(): void {
    this.#isOver = true;
    this.#timer?.stop();
    for (const patient of [...this.#watches.keys()]) this.unwatch(patient);
  }

  /** Sets the timer to the next due check; without connections it still detects that the machine was suspended. */
  #plan(): void {
    if (this.#everyMs === 0 || this.#isOver) return;
    const now = this.#clock.now();
    let at = now + this.#everyMs;
    for (const { dueAt, pending } of this.#watches.values()) if (!pending) at = Math.min(at, dueAt);
    if (this.#timer && this.#timer.at <= at) return;
    this.#timer?.stop();
    this.#timer = { at, stop: this.#clock.after(Math.max(0, at - now), () => this.#tick(at), 'background') };
  }

  #tick(plannedAt: number): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    const hasSlept = now - plannedAt > 2 * this.#everyMs;
    for (const [patient, watch] of this.#watches) {
      if (!watch.pending && (hasSlept || watch.dueAt <= now)) void this.#check(patient, watch);
    }
    if (hasSlept) this.#onClockJump();
    this.#plan();
  }

  async #check(patient: CheckedConnection, watch: Watch): Promise<void> {
    const pending = new AbortController();
    watch.pending = pending;
    const failure = await this.#answer(patient, pending);
    watch.pending = undefined;
    if (this.#watches.get(patient) !== watch) return;
    watch.hasMissed = failure !== undefined;
    watch.dueAt = this.#clock.now() + (watch.hasMissed ? RECHECK_MS : this.#everyMs);
    patient.checked(failure);
    this.#plan();
  }

  async #answer(patient: CheckedConnection, pending: AbortController): Promise<unknown> {
    const limitMs = Math.min(MAX_PING_TIMEOUT_MS, Math.max(MIN_PING_TIMEOUT_MS, this.#everyMs));
    const tooLate = Promise.withResolvers<'too-late'>();
    const stop = this.#clock.after(limitMs, () => tooLate.resolve('too-late'), 'background');
    try {
      const result = await Promise.race([patient.ping(pending.signal), tooLate.promise]);
      return result === 'too-late' ? new Error('the health check timed out') : undefined;
    } catch (failure) {
      return isResponse(failure) ? undefined : failure;
    } finally {
      stop();
      pending.abort();
    }
  }
}

/** A server that rejects the health check with a JSON-RPC error or an HTTP status is alive. */
function isResponse(failure: unknown): boolean {
  if (!(failure instanceof HostError)) return true;
  const isConnectionError =
    failure.isTerminal || failure.code === 'timeout' || failure.code === 'unauthorized';
  return !isConnectionError;
}
