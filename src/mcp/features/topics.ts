import { Broadcast } from '../../base/broadcast.ts';
import { hrefOf, toldOf } from './told-of.ts';

/** The place of one listener. */
export type Seat = {
  /** Aborted once nobody listens to that resource any more. */
  readonly signal: AbortSignal;
  /** Whether that was the last who listened to it. */
  leave(): boolean;
};

type Topic = {
  readonly href: string;
  readonly heard: Broadcast<void>;
  readonly over: AbortController;
  users: number;
};

/** Who listens to which resource of one server. */
export class Topics {
  readonly #topics = new Map<string, Topic>();
  readonly #changed = new Set<string>();

  uris(): string[] {
    return [...this.#topics.keys()];
  }

  join(uri: string, listener: () => void): Seat {
    const topic = this.#topics.get(uri) ?? newTopic(uri);
    this.#topics.set(uri, topic);
    topic.users++;
    // The same function may listen twice.
    const listening = topic.heard.on(() => listener());
    return {
      signal: topic.over.signal,
      leave: () => {
        listening[Symbol.dispose]();
        if (--topic.users > 0 || this.#topics.get(uri) !== topic) return false;
        this.#topics.delete(uri);
        topic.over.abort();
        return true;
      },
    };
  }

  /** Aborted once nobody listens to it, and before anybody does. */
  signal(uri: string): AbortSignal {
    return this.#topics.get(uri)?.over.signal ?? AbortSignal.abort();
  }

  /** A server may tell of thousands in one go: whoever is concerned hears once, still in this tick. */
  changed(uri: string): void {
    if (this.#changed.size === 0) queueMicrotask(() => this.#tellChanged());
    this.#changed.add(uri);
  }

  /** Tells whoever listens to those, or everybody. */
  tell(uris: Iterable<string> = this.uris()): void {
    for (const uri of uris) this.#topics.get(uri)?.heard.emit();
  }

  clear(): void {
    this.#topics.clear();
  }

  #tellChanged(): void {
    const isTold = toldOf(Array.from(this.#changed, hrefOf));
    this.#changed.clear();
    const concerned = [...this.#topics].filter(([, { href }]) => isTold(href));
    this.tell(concerned.map(([uri]) => uri));
  }
}

function newTopic(uri: string): Topic {
  return { href: hrefOf(uri), heard: new Broadcast<void>(), over: new AbortController(), users: 0 };
}
