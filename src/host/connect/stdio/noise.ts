import { redactText } from '../../../base/redact.ts';

const FIRST = 10;
const WIDTH = 200;

/**
 * Tells of noise without becoming noise: the first ten in full, then only whenever their number has doubled. Each is
 * shortened and without secrets.
 */
export class NoiseTeller {
  readonly #tell: (what: string) => void;
  #count = 0;
  #next = 1;

  constructor(tell: (what: string) => void) {
    this.#tell = tell;
  }

  hear(what: string): void {
    this.#count++;
    if (this.#count < this.#next) return;
    this.#next = this.#count < FIRST ? this.#count + 1 : this.#count * 2;
    // A secret that is cut in two is not known for one any more: what is cut off is looked at too, up to a point.
    const safe = redactText(what.slice(0, 5 * WIDTH));
    const short = safe.length > WIDTH ? `${safe.slice(0, WIDTH)}…` : safe;
    this.#tell(this.#count > FIRST ? `${short} (number ${this.#count} of its kind)` : short);
  }
}
