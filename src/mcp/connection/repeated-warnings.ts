import { truncate } from '../../base/text/display-text.ts';
import type { WarningSubject } from './connect-context.ts';
import { SecretMask } from './secret-mask.ts';

/** Maximum number of different warnings about one server. */
const MAX_WARNINGS = 200;

/** Reports each warning once, since a server is listed often. */
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
      this.#report(`its lists have more than ${MAX_WARNINGS} problems; further ones are not reported`);
    } else this.#report(message, subject);
  }
}

/**
 * Reports the first ten warnings, then only each time their number has doubled. Each is truncated, with secrets masked.
 */
export class ThrottledWarnings {
  readonly #report: (what: string) => void;
  readonly #secrets: Pick<SecretMask, 'mask'>;
  #count = 0;
  #next = 1;

  constructor(report: (what: string) => void, secrets: Pick<SecretMask, 'mask'> = new SecretMask()) {
    this.#report = report;
    this.#secrets = secrets;
  }

  report(what: string): void {
    this.#count++;
    if (this.#count < this.#next) return;
    this.#next = this.#count < FIRST ? this.#count + 1 : this.#count * 2;
    // Masked before truncating, since half a secret would not be recognized.
    const safe = this.#secrets.mask(what.slice(0, LOOKED_AT));
    const short = truncate(safe, WIDTH);
    try {
      this.#report(this.#count > FIRST ? `${short} (${this.#count} so far)` : short);
    } catch {
      // An error of the listener is not an error of the server.
    }
  }
}

const FIRST = 10;
const WIDTH = 200;
/** Text beyond this is not masked, so it is cut first; a credential may have several thousand characters. */
const LOOKED_AT = 100_000;
