import type { ApiContentBlock } from '../../../protocol/messages-api.ts';
import type { WebSearchFilter } from '../../models/model.ts';
import type { FetchedPage } from './fetch-page.ts';

/** How long a page is kept, and how many pages are kept. */
const CACHE_MS = 15 * 60_000;
const MAX_CACHED = 20;

/** The pages of the last minutes, so that a second question about a page needs no request. */
export class PageCache {
  readonly #pages = new Map<
    string,
    { readonly page: Extract<FetchedPage, { kind: 'page' }>; readonly at: number }
  >();

  get(url: string): Extract<FetchedPage, { kind: 'page' }> | undefined {
    const found = this.#pages.get(url);
    return found && performance.now() - found.at < CACHE_MS ? found.page : undefined;
  }

  set(url: string, page: Extract<FetchedPage, { kind: 'page' }>): void {
    if (this.get(url) === page) return;
    this.#pages.delete(url);
    this.#pages.set(url, { page, at: performance.now() });
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > MAX_CACHED && oldest !== undefined) this.#pages.delete(oldest);
  }
}

/** What `WebFetch` and `WebSearch` need of a session. */
export type WebService = {
  readonly cache: PageCache;
  /** Answers a question with one model request without tools. */
  ask(text: string, signal: AbortSignal): Promise<string>;
  /** Why the model cannot search; undefined if it can. */
  searchFault(): string | undefined;
  /** Searches with one model request; returns the blocks of the reply. */
  search(search: WebSearch, signal: AbortSignal): Promise<readonly ApiContentBlock[]>;
};

export type WebSearch = WebSearchFilter & { readonly query: string };
