import type { Client, ServerCapabilities, SubscriptionFilter } from '@modelcontextprotocol/client';
import { startTimer } from '../../base/timer.ts';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
/** A stream that lasted so long was a good one: the next is opened soon. */
const GOOD_MS = 10_000;
const METHOD_NOT_FOUND = -32601;

/** Keeps the stream open on which a server of the stateless protocol tells of changed lists. */
export class ListStream {
  readonly #client: Pick<Client, 'listen' | 'transport'>;
  readonly #filter: SubscriptionFilter;
  /** Hears that the lists may have changed unnoticed. */
  readonly #onGap: () => void;
  readonly #life = new AbortController();
  #wait: NodeJS.Timeout | undefined;
  #failures = 0;

  constructor(client: Pick<Client, 'listen' | 'transport'>, filter: SubscriptionFilter, onGap: () => void) {
    this.#client = client;
    this.#filter = filter;
    this.#onGap = onGap;
  }

  /** Settles once the server listens, or cannot, and says which; never rejects. */
  async open(): Promise<'open' | 'failed'> {
    const { signal } = this.#life;
    try {
      const { closed } = await this.#client.listen(this.#filter, { signal });
      const since = performance.now();
      void closed.then(() => {
        if (performance.now() - since > GOOD_MS) this.#failures = 0;
        this.#reopen();
      });
      return 'open';
    } catch (failure) {
      // One that does not know the method never will.
      if ((failure as { code?: unknown }).code !== METHOD_NOT_FOUND) this.#reopen();
      return 'failed';
    }
  }

  close(): void {
    this.#life.abort();
    clearTimeout(this.#wait);
  }

  #reopen(): void {
    if (this.#life.signal.aborted || this.#client.transport === undefined) return;
    const ms = Math.min(FIRST_WAIT_MS * 2 ** this.#failures++, LONGEST_WAIT_MS);
    this.#wait = startTimer(ms, () => {
      void this.open().then((state) => state === 'open' && this.#onGap());
    });
    this.#wait.unref();
  }
}

/** What a server says it would tell of; undefined if that is nothing. */
export function listFilter(capabilities: ServerCapabilities): SubscriptionFilter | undefined {
  const filter: SubscriptionFilter = {
    ...(capabilities.tools?.listChanged && { toolsListChanged: true }),
    ...(capabilities.prompts?.listChanged && { promptsListChanged: true }),
    ...(capabilities.resources?.listChanged && { resourcesListChanged: true }),
  };
  return Object.keys(filter).length > 0 ? filter : undefined;
}
