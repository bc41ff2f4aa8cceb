import { truncate } from '../../base/text/display-text.ts';
import type { WarningSubject } from './connect-context.ts';
import { Secrets } from './secrets.ts';

/** So many different faults of one server are told; who has more has a fault that is worth one more line. */
const MAX_WARNINGS = 200;

/** Tells each fault once: a server lists the same again and again. */
export class UniqueWarnings {
  readonly #report: (message: string, subject?: WarningSubject) => void;
  readonly #reported = new Set<string>();

  constructor(report: (message: string, subject?: WarningSubject) => void) {
    this.#report = report;
  }

  report(message: string, subject?: WarningSubject): void {
    if (this.#reported.has(message) || this.#reported.size > MAX_WARNINGS) return;
    this.#reported.add(message);
    if (this.#reported.size > MAX_WARNINGS) {
      this.#report(`what it lists has more than ${MAX_WARNINGS} faults; the others are not told one by one`);
    } else this.#report(message, subject);
  }
}

const FIRST = 10;
const WIDTH = 200;
/** A credential may be several thousand characters long. */
const LOOKED_AT = 100_000;

/**
 * Tells of noise without becoming noise: the first ten in full, then only whenever their number has doubled. Each is
 * shortened and without secrets.
 */
export class ThrottledWarnings {
  readonly #report: (what: string) => void;
  readonly #secrets: Pick<Secrets, 'mask'>;
  #count = 0;
  #next = 1;

  constructor(report: (what: string) => void, secrets: Pick<Secrets, 'mask'> = new Secrets()) {
    this.#report = report;
    this.#secrets = secrets;
  }

  report(what: string): void {
    this.#count++;
    if (this.#count < this.#next) return;
    this.#next = this.#count < FIRST ? this.#count + 1 : this.#count * 2;
    // A secret that is cut in two is not known for one any more: what is cut off is looked at too, up to a point.
    const safe = this.#secrets.mask(what.slice(0, LOOKED_AT));
    const short = truncate(safe, WIDTH);
    try {
      this.#report(this.#count > FIRST ? `${short} (number ${this.#count} of its kind)` : short);
    } catch {
      // What a listener throws is no fault of the server's.
    }
  }
}
