import { truncate } from '../../base/text/display-text.ts';
import { Secrets } from './secrets.ts';

/**
 * Reports the first ten warnings, then only each time their number has doubled. Each is truncated, with secrets masked.
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
