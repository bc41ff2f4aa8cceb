import { messageOf } from '../../../protocol/sdk-error.ts';
import type { ConfigWorld } from '../../world.ts';
import type { ConnectorSetting } from '../found.ts';
import { cachePath, readCache, writeCache } from './connector-cache.ts';
import { fetchConnector } from './fetch-connector.ts';

type Headers = Readonly<Record<string, string>>;

export type RefreshOptions = {
  readonly signal: AbortSignal;
  /** Puts in what the headers of a catalogue name; throws one sentence, without a value, if it cannot. */
  expandHeaders(headers: Headers, connector: ConnectorSetting): Headers | Promise<Headers>;
  /** Hears of each catalogue that could not be asked; what it said before still counts. */
  note(text: string): void;
  readonly now?: () => number;
};

/** Asks every catalogue, all at once and each on its own; never rejects. `changed`: one of them says something else now. */
export async function refreshConnectors(
  world: Pick<ConfigWorld, 'home' | 'env'>,
  connectors: readonly ConnectorSetting[],
  options: RefreshOptions,
): Promise<{ readonly changed: boolean }> {
  const changes = await Promise.all(
    connectors.map(async (connector) => {
      const outcome = await refresh(world, connector, options).catch(() => ({
        fault: 'it could not be kept',
      }));
      // Who gave up need not hear why.
      if ('fault' in outcome && !options.signal.aborted) options.note(`${connector.label}: ${outcome.fault}`);
      return 'isChanged' in outcome && outcome.isChanged;
    }),
  );
  return { changed: changes.includes(true) };
}

async function refresh(
  { home, env }: Pick<ConfigWorld, 'home' | 'env'>,
  connector: ConnectorSetting,
  { signal, expandHeaders, now = Date.now }: RefreshOptions,
): Promise<{ readonly isChanged: boolean } | { readonly fault: string }> {
  let headers: Headers;
  try {
    headers = await expandHeaders(connector.headers ?? {}, connector);
  } catch (cause) {
    return { fault: messageOf(cause) };
  }
  const path = cachePath(home, connector);
  const before = await readCache(path);
  const etag = before?.etag;
  const answer = await fetchConnector({
    url: connector.url,
    headers,
    ...(etag !== undefined && { etag }),
    env,
    signal,
  });
  if (answer.kind === 'same') return { isChanged: false };
  if (answer.kind === 'failed') return answer;
  const { body, etag: next } = answer;
  const isChanged = JSON.stringify(before?.body) !== JSON.stringify(body);
  if (isChanged || next !== etag)
    writeCache(path, connector, {
      ...(next !== undefined && { etag: next }),
      fetchedAt: new Date(now()).toISOString(),
      body,
    });
  return { isChanged };
}
