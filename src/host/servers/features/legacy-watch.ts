import type { Connection } from '../../connect/connection.ts';
import { CONFIRM_MS, type Watch } from './watch.ts';

/** The older protocol: a request for each resource, and another that ends it. */
export function legacyWatch({ ask }: Pick<Connection, 'ask'>): Watch {
  return {
    async begin(fresh) {
      const limit = { timeoutMs: CONFIRM_MS };
      await Promise.all(fresh.map((uri) => ask('resources/subscribe', { uri }, limit)));
    },
    async end(uri) {
      await ask('resources/unsubscribe', { uri }, { timeoutMs: CONFIRM_MS });
    },
    close() {},
  };
}
