import { type Configuration, readConfiguration } from '../configuration.ts';
import { faultText } from '../fault-text.ts';
import { FileWatch } from './watch-files.ts';

/** Who hears of a configuration that changed. */
export type Followed = {
  /** Everything as it is now, never half of it; called for one change at a time. */
  apply(now: Configuration, before: Configuration): void | Promise<void>;
  /** Hears why a change that was saved does not count yet; one line each, each once. */
  note(text: string): void;
};

/**
 * Applies what is saved in any of the files. While one that was good is broken, as in the middle of an edit, everything
 * stays as it was.
 */
export class Following implements Disposable {
  readonly #followed: Followed;
  readonly #watch: FileWatch;
  #current: Configuration;
  #told: ReadonlySet<string>;
  #work: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(first: Configuration, followed: Followed) {
    this.#current = first;
    this.#followed = followed;
    this.#told = new Set(first.faults.map(faultText));
    this.#watch = new FileWatch(first.paths, first.readAt, () => void this.refresh());
  }

  /** What counts now. */
  get current(): Configuration {
    return this.#current;
  }

  /** Reads everything anew and applies it; settles when that is done. */
  refresh(): Promise<void> {
    this.#work = this.#work.then(() => this.#read());
    return this.#work;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#watch[Symbol.dispose]();
  }

  async #read(): Promise<void> {
    if (this.#isOver) return;
    const before = this.#current;
    const now = await readConfiguration(before.world, before.wanted);
    if (this.#isOver) return;
    this.#watch.set(now.paths, now.readAt);
    const texts = now.faults.map(faultText);
    for (const text of texts) if (!this.#told.has(text)) this.#followed.note(text);
    this.#told = new Set(texts);
    const broken = brokenSince(before, now);
    if (broken.length > 0) {
      this.#followed.note(
        `${broken.join(', ')} cannot be read, so everything stays as it was before it changed`,
      );
      return;
    }
    this.#current = now;
    await this.#followed.apply(now, before);
  }
}

/** Files that could be read before and cannot be now; one that is gone is gone. */
function brokenSince(before: Configuration, now: Configuration): string[] {
  const good = new Set(before.sources.filter(({ state }) => state !== 'unusable').map(({ label }) => label));
  return now.sources
    .filter(({ state, label }) => state === 'unusable' && good.has(label))
    .map(({ label }) => label);
}
