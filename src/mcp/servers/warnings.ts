import type { WarningSubject } from '../connection/world.ts';

/** So many different faults of one server are told; who has more has a fault that is worth one more line. */
const MOST = 200;

/** Tells each fault once: a server lists the same again and again. */
export class Warnings {
  readonly #tell: (message: string, subject?: WarningSubject) => void;
  readonly #told = new Set<string>();

  constructor(tell: (message: string, subject?: WarningSubject) => void) {
    this.#tell = tell;
  }

  tell(message: string, subject?: WarningSubject): void {
    if (this.#told.has(message) || this.#told.size > MOST) return;
    this.#told.add(message);
    if (this.#told.size > MOST) {
      this.#tell(`what it lists has more than ${MOST} faults; the others are not told one by one`);
    } else this.#tell(message, subject);
  }
}
