import type { Clock } from './clock.ts';
import type { Listing } from './open-server.ts';
import type { Offer } from './server.ts';
import type { SlotListener } from './slot-world.ts';
import type { ServerState } from './state.ts';

/** What a server offers. A quick restart does not shake it: it goes when the server stays away for a while. */
export class OfferKeeper {
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #listener: Pick<SlotListener, 'tools' | 'warning'>;
  readonly #warned = new Set<string>();
  #offer: Offer | undefined;
  #stopGrace: (() => void) | undefined;

  constructor(clock: Clock, graceMs: number, listener: Pick<SlotListener, 'tools' | 'warning'>) {
    this.#clock = clock;
    this.#graceMs = graceMs;
    this.#listener = listener;
  }

  get offer(): Offer | undefined {
    return this.#offer;
  }

  /** Warns of each thing once: a server lists the same again and again. */
  take({ offer, diagnostics }: Listing): void {
    for (const { tool, fault } of diagnostics) {
      const message = tool === undefined ? fault : `tool "${tool}": ${fault}`;
      if (!this.#warned.has(message)) this.#listener.warning(message);
      this.#warned.add(message);
    }
    this.#offer = offer;
    this.#listener.tools();
  }

  follow(state: ServerState): void {
    if (state.kind === 'connected') this.end();
    else if (isHopeless(state) || this.#graceMs === 0) this.#drop();
    else if (this.#offer) {
      this.#stopGrace ??= this.#clock.after(this.#graceMs, () => this.#drop(), 'background');
    }
  }

  /** Waits for nothing any more. */
  end(): void {
    this.#stopGrace?.();
    this.#stopGrace = undefined;
  }

  #drop(): void {
    this.end();
    if (!this.#offer) return;
    this.#offer = undefined;
    this.#listener.tools();
  }
}

/** Whether it does not come back by itself. */
function isHopeless(state: ServerState): boolean {
  if (state.kind === 'failed') return state.nextRetryAt === undefined;
  return state.kind === 'needs-auth' || state.kind === 'disabled';
}
