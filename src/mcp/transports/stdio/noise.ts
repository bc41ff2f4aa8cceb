import { Secrets } from '../../connection/secrets.ts';

const FIRST = 10;
const WIDTH = 200;
/** A credential may be several thousand characters long. */
const LOOKED_AT = 100_000;

/**
 * Tells of noise without becoming noise: the first ten in full, then only whenever their number has doubled. Each is
 * shortened and without secrets.
 */
export class NoiseTeller {
  readonly #tell: (what: string) => void;
  readonly #secrets: Pick<Secrets, 'mask'>;
  #count = 0;
  #next = 1;

  constructor(tell: (what: string) => void, secrets: Pick<Secrets, 'mask'> = new Secrets()) {
    this.#tell = tell;
    this.#secrets = secrets;
  }

  hear(what: string): void {
    this.#count++;
    if (this.#count < this.#next) return;
    this.#next = this.#count < FIRST ? this.#count + 1 : this.#count * 2;
    // A secret that is cut in two is not known for one any more: what is cut off is looked at too, up to a point.
    const safe = this.#secrets.mask(what.slice(0, LOOKED_AT));
    const short = safe.length > WIDTH ? `${safe.slice(0, WIDTH)}…` : safe;
    try {
      this.#tell(this.#count > FIRST ? `${short} (number ${this.#count} of its kind)` : short);
    } catch {
      // What a listener throws is no fault of the server's.
    }
  }
}
