import type { StartProgress } from './servers-options.ts';

/** How far the start of many servers is, told whenever it changes. */
export class StartWatch<Slot> {
  /** Those whose first dial has not come to anything yet. */
  readonly #starting = new Set<Slot>();
  readonly #started: () => readonly (readonly [key: string, slot: Slot])[];
  readonly #tell: ((progress: StartProgress) => void) | undefined;

  /** `started` gives those that do not wait to be asked for. */
  constructor(
    started: () => readonly (readonly [key: string, slot: Slot])[],
    tell: ((progress: StartProgress) => void) | undefined,
  ) {
    this.#started = started;
    this.#tell = tell;
  }

  begin(slots: readonly Slot[]): void {
    for (const slot of slots) this.#starting.add(slot);
  }

  /** Its first dial came to something. */
  settle(slot: Slot): void {
    if (this.#starting.delete(slot)) this.tell();
  }

  /** It is not waited for any more, and that is nobody's news. */
  forget(slot: Slot): void {
    this.#starting.delete(slot);
  }

  tell(): void {
    if (!this.#tell) return;
    const started = this.#started();
    const waitingFor = started.flatMap(([key, slot]) => (this.#starting.has(slot) ? [key] : []));
    const total = started.length;
    this.#tell({ settled: total - waitingFor.length, total, waitingFor });
  }
}
