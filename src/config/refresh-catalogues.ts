import { join } from 'node:path';
import type { Configuration } from './configuration.ts';
import { makeExpander } from './expand/expander.ts';
import { fileSecretStore } from './secrets/file-secret-store.ts';
import { refreshConnectors } from './sources/connectors/refresh-connectors.ts';

/** Who waits for catalogues, and hears of those that could not be asked. */
export type Refreshing = { readonly signal: AbortSignal; note(text: string): void };

/** Asks the catalogues that settings name what they say now; true if one says something else. Never rejects. */
export async function refreshCatalogues(
  { world, settings, connectors }: Configuration,
  { signal, note }: Refreshing,
): Promise<boolean> {
  if (connectors.length === 0) return false;
  const expand = makeExpander({
    env: { ...world.env, ...settings.env },
    secrets: () => fileSecretStore(join(world.home, 'secrets.json')),
  });
  const { changed } = await refreshConnectors(world, connectors, {
    signal,
    note,
    expandHeaders(headers, { label, url }) {
      const { entry } = expand(label, { type: 'http', url, headers: { ...headers } });
      return 'headers' in entry ? (entry.headers ?? {}) : {};
    },
  });
  return changed;
}
