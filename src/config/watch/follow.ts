import { messageOf } from '../../protocol/sdk-error.ts';
import { type Configuration, readConfiguration } from '../configuration.ts';
import { faultText } from '../fault-text.ts';
import { heldFiles, sayMended, unusableFiles } from './held.ts';
import { keepHeld } from './keep-held.ts';
import { FileWatch } from './watch-files.ts';

/** Who hears of a configuration that changed. */
export type Followed = {
  /** Everything as it is now, never half of it; called for one change at a time. */
  apply(now: Configuration, before: Configuration): void | Promise<void>;
  /** Hears why a change that was saved does not count yet; one line each, each once. */
  note(text: string): void;
};

/**
 * Applies what is saved in any of the files. While one that was good is broken, as in the middle of an edit, what it said
 * before counts.
 */
export class Following implements Disposable {
  readonly #followed: Followed;
  readonly #watch: FileWatch;
  #current: Configuration;
  #told: ReadonlySet<string>;
  /** Files of which nothing could be read since something was last applied. */
  #unusable: Map<string, string>;
  #work: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(first: Configuration, followed: Followed) {
    this.#current = first;
    this.#followed = followed;
    this.#told = new Set(first.faults.map(faultText));
    this.#unusable = unusableFiles(first);
    this.#watch = new FileWatch(pathsOf(first), first.readAt, () => void this.refresh());
  }

  /** What counts now. */
  get current(): Configuration {
    return this.#current;
  }

  /** Reads everything anew and applies it; settles when that is done, and never rejects. */
  refresh(): Promise<void> {
    this.#work = this.#work
      .then(() => this.#read())
      // Whoever could not apply this change hears of the next one all the same.
      .catch((cause) => this.#note(`what was saved was not applied in full: ${messageOf(cause)}`));
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
    this.#watch.set(pathsOf(now), now.readAt);
    const held = heldFiles(before, now);
    const texts = [...now.faults.map(faultText), ...held.why];
    const news = texts.filter((text) => !this.#told.has(text));
    this.#told = new Set(texts);
    for (const text of news) this.#note(text);
    for (const text of sayMended(this.#unusable, now)) this.#note(text);
    this.#unusable = unusableFiles(now);
    if (this.#isOver) return;
    // Of a broken file what it said before counts; whatever others say counts as they say it now, denials above all.
    this.#current = keepHeld(before, now, held.paths);
    await this.#followed.apply(this.#current, before);
  }

  /** Who throws when told something ends nothing by that. */
  #note(text: string): void {
    try {
      this.#followed.note(text);
    } catch {
      // There is nobody else to tell.
    }
  }
}

function pathsOf({ files }: Configuration): string[] {
  return files.map(({ path }) => path);
}
