const INTERVAL_MS = 60_000;

/** Lets one note per subject and minute pass, so that a server cannot flood the user with notes. */
export class NoteLimit {
  readonly #now: () => number;
  readonly #passedAt = new Map<string, number>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  passes(subject: string): boolean {
    const now = this.#now();
    if (now - (this.#passedAt.get(subject) ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return false;
    this.#passedAt.set(subject, now);
    return true;
  }
}
