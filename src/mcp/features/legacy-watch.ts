import type { Connection } from '../connection/connection.ts';
import { HostError } from '../connection/host-error.ts';
import { CONFIRM_MS, type Watch } from './watch.ts';

/** How long an end may take; nobody needs to know that it was heard. */
const END_MS = 5000;

/** The older protocol: a request for each resource, and another that ends it. */
export function legacyWatch({ ask }: Pick<Connection, 'ask'>): Watch {
  const end = async (uri: string) => {
    await ask('resources/unsubscribe', { uri }, { timeoutMs: END_MS });
  };
  const begin = async (uri: string, signal: AbortSignal | undefined) => {
    try {
      await ask('resources/subscribe', { uri }, { timeoutMs: CONFIRM_MS, ...(signal && { signal }) });
    } catch (failure) {
      // Who has not answered may have subscribed all the same.
      if (signal?.aborted || isLate(failure)) await end(uri).catch(() => {});
      throw failure;
    }
  };
  return {
    async begin(fresh, _all, signal) {
      signal?.throwIfAborted();
      await Promise.all(fresh.map((uri) => begin(uri, signal)));
    },
    end,
    close() {},
  };
}

function isLate(failure: unknown): boolean {
  return failure instanceof HostError && failure.code === 'timeout';
}
