import { HostError } from '../connection/host-error.ts';
import type { Clock } from './clock.ts';

/** What is listened to: `ping` asks for a sign of life, `beat` hears what came of it. */
export type Patient = {
  ping(signal: AbortSignal): Promise<void>;
  /** `failure` is why there was no sign of life; without it there was one. */
  beat(failure?: unknown): void;
};

/** How long a server may take to give a sign of life: as long as until the next question, within these. */
const SHORTEST_PING_MS = 1_000;
const LONGEST_PING_MS = 10_000;
/** After a missed one the next is asked for soon: it is either back or gone. */
const AGAIN_MS = 1_000;
/** Trouble comes in bursts; one question answers for all of it. */
const TROUBLE_MS = 100;

type Watch = { dueAt: number; hasMissed: boolean; asking: AbortController | undefined };

/** Asks servers that have said nothing for a while for a sign of life, all by one timer that keeps no process alive. */
export class Heartbeat {
  readonly #everyMs: number;
  readonly #clock: Clock;
  readonly #onWake: () => void;
  readonly #watches = new Map<Patient, Watch>();
  #isOver = false;
  #timer: { at: number; stop: () => void } | undefined;

  /** `onWake` hears that the clock has jumped: the machine slept. With `everyMs` 0 nothing is ever asked. */
  constructor(everyMs: number, clock: Clock, onWake: () => void) {
    this.#everyMs = everyMs;
    this.#clock = clock;
    this.#onWake = onWake;
    this.#plan();
  }

  watch(patient: Patient): void {
    this.#watches.set(patient, {
      dueAt: this.#clock.now() + this.#everyMs,
      hasMissed: false,
      asking: undefined,
    });
    this.#plan();
  }

  unwatch(patient: Patient): void {
    this.#watches.get(patient)?.asking?.abort();
    this.#watches.delete(patient);
  }

  /** It has answered something else: there is no need to ask. */
  seen(patient: Patient): void {
    const watch = this.#watches.get(patient);
    if (!watch) return;
    watch.hasMissed = false;
    watch.dueAt = this.#clock.now() + this.#everyMs;
  }

  /** Something about it is odd: it is asked soon. */
  suspect(patient: Patient): void {
    const watch = this.#watches.get(patient);
    // Whoever is being asked, or asked again, is suspected already.
    if (!watch || watch.asking || watch.hasMissed) return;
    watch.dueAt = Math.min(watch.dueAt, this.#clock.now() + TROUBLE_MS);
    this.#plan();
  }

  end(): void {
    this.#isOver = true;
    this.#timer?.stop();
    for (const patient of [...this.#watches.keys()]) this.unwatch(patient);
  }

  /** Sets the timer to the first that is due; without anybody to ask it still watches for a jump of the clock. */
  #plan(): void {
    if (this.#everyMs === 0 || this.#isOver) return;
    const now = this.#clock.now();
    let at = now + this.#everyMs;
    for (const { dueAt, asking } of this.#watches.values()) if (!asking) at = Math.min(at, dueAt);
    if (this.#timer && this.#timer.at <= at) return;
    this.#timer?.stop();
    this.#timer = { at, stop: this.#clock.after(Math.max(0, at - now), () => this.#tick(at), 'background') };
  }

  #tick(plannedAt: number): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    const hasSlept = now - plannedAt > 2 * this.#everyMs;
    for (const [patient, watch] of this.#watches) {
      if (!watch.asking && (hasSlept || watch.dueAt <= now)) void this.#ask(patient, watch);
    }
    if (hasSlept) this.#onWake();
    this.#plan();
  }

  async #ask(patient: Patient, watch: Watch): Promise<void> {
    const asking = new AbortController();
    watch.asking = asking;
    const failure = await this.#answer(patient, asking);
    watch.asking = undefined;
    if (this.#watches.get(patient) !== watch) return;
    watch.hasMissed = failure !== undefined;
    watch.dueAt = this.#clock.now() + (watch.hasMissed ? AGAIN_MS : this.#everyMs);
    patient.beat(failure);
    this.#plan();
  }

  async #answer(patient: Patient, asking: AbortController): Promise<unknown> {
    const limitMs = Math.min(LONGEST_PING_MS, Math.max(SHORTEST_PING_MS, this.#everyMs));
    const tooLate = Promise.withResolvers<'too-late'>();
    const stop = this.#clock.after(limitMs, () => tooLate.resolve('too-late'), 'background');
    try {
      const came = await Promise.race([patient.ping(asking.signal), tooLate.promise]);
      return came === 'too-late' ? new Error('it gives no sign of life') : undefined;
    } catch (failure) {
      return isSignOfLife(failure) ? undefined : failure;
    } finally {
      stop();
      asking.abort();
    }
  }
}

/** Whoever refuses the question, by the protocol or by a status of HTTP, has answered it. */
function isSignOfLife(failure: unknown): boolean {
  if (!(failure instanceof HostError)) return true;
  const isFaultOfConnection =
    failure.isTerminal || failure.code === 'timeout' || failure.code === 'unauthorized';
  return !isFaultOfConnection;
}
