import { backoffMs, within } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import type { Connection } from '../connection/connection.ts';
import { ServerFault } from '../errors/host-error.ts';

/** The error of MCP 2025-11-25 for a request that the server handles only after the user has visited a URL. */
const URL_REQUIRED = -32042;
/** Delays between attempts while the user is in the browser; a notification of the server ends the delay. */
const RETRY = { firstMs: 2_000, maxMs: 30_000 };
/** How long the user may take. */
const MAX_WAIT_MS = 10 * 60 * 1000;
const MAX_URLS = 5;

type RequiredUrl = { readonly url: string; readonly message: string; readonly elicitationId: string };

/**
 * The URLs that a server required during one request. The server refuses the request before it does anything, so a
 * repeated request does not run twice.
 */
export class UrlVisits {
  readonly #visited = new Set<string>();
  #attempts = 0;
  #since = 0;

  /** Asks the user to visit the URLs that a refused request requires. True if the request may be sent again. */
  async after(failure: unknown, connection: Connection, signal: AbortSignal = NEVER): Promise<boolean> {
    const urls = requiredUrls(failure);
    const { elicit } = connection;
    if (urls.length === 0 || !elicit) return false;
    if (this.#attempts++ === 0) this.#since = performance.now();
    const { completed, stop } = completions(connection, urls);
    try {
      for (const { url, message, elicitationId } of urls.filter((it) => !this.#visited.has(it.url))) {
        const { action } = await elicit({ mode: 'url', url, message, elicitationId }, signal);
        if (action !== 'accept') return false;
        this.#visited.add(url);
      }
      await within(backoffMs(RETRY, this.#attempts), completed, signal);
    } finally {
      stop();
    }
    return !signal.aborted && performance.now() - this.#since < MAX_WAIT_MS;
  }
}

const NEVER = new AbortController().signal;

/** Resolves when the server has reported that all visits are completed. */
function completions(
  { onNotification }: Connection,
  urls: readonly RequiredUrl[],
): { readonly completed: Promise<void>; stop(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const open = new Set(urls.map(({ elicitationId }) => elicitationId));
  const stop = onNotification?.((method, { elicitationId }) => {
    if (method !== 'notifications/elicitation/complete') return;
    open.delete(String(elicitationId));
    if (open.size === 0) resolve();
  });
  return { completed: promise, stop: () => stop?.() };
}

function requiredUrls(failure: unknown): RequiredUrl[] {
  if (!(failure instanceof ServerFault) || failure.code !== URL_REQUIRED) return [];
  const list = isRecord(failure.data) ? failure.data.elicitations : undefined;
  return (Array.isArray(list) ? list : []).slice(0, MAX_URLS).flatMap((given: unknown) => {
    if (!isRecord(given) || typeof given.url !== 'string') return [];
    const { url, message, elicitationId } = given;
    return [{ url, message: String(message ?? ''), elicitationId: String(elicitationId ?? '') }];
  });
}
