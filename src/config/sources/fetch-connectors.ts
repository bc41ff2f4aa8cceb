import type { Dispatcher } from 'undici';
import { isRecord } from '../../base/json-value.ts';
import { NETWORK_ERRORS } from '../../mcp/errors/classify-failure.ts';
import { checkProxy } from '../../mcp/transports/http/dial-http.ts';
import { proxyFor } from '../../mcp/transports/http/proxy.ts';
import { VERIFIED } from '../../mcp/transports/http/tls-options.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { ConfigContext } from '../config-context.ts';
import type { Configuration } from '../configuration.ts';
import { createExpander } from '../expand/expand-entry.ts';
import { parseDocument } from '../files/read-document.ts';
import { openSecretStore } from '../secrets/secret-store.ts';
import { cachePath, readCache, writeCache } from './read-connectors.ts';
import type { ConnectorSetting } from './source-types.ts';

/** Fetches the catalogs that settings name and caches them; true if one changed. Never rejects. */
export async function fetchConnectors(
  { context, settings, connectors }: Configuration,
  { signal, note }: Pick<RefreshOptions, 'signal' | 'note'>,
): Promise<boolean> {
  if (connectors.length === 0) return false;
  const expand = createExpander({
    env: { ...context.env, ...settings.env },
    secrets: () => openSecretStore(context, note),
  });
  const { changed } = await refreshCaches(context, connectors, {
    signal,
    note,
    expandHeaders(headers, { label, url }) {
      const { entry } = expand(label, { type: 'http', url, headers: { ...headers } });
      return 'headers' in entry ? (entry.headers ?? {}) : {};
    },
  });
  return changed;
}

type Headers = Readonly<Record<string, string>>;

export type RefreshOptions = {
  readonly signal: AbortSignal;
  /** Substitutes the variables in headers; throws an error without values if one is missing. */
  expandHeaders(headers: Headers, connector: ConnectorSetting): Headers | Promise<Headers>;
  /** Called for each catalog that could not be fetched, with whether earlier content of it is cached and stays active. */
  note(text: string, cache?: 'cached' | 'not-cached'): void;
  readonly now?: () => number;
};

/** Fetches all catalogs in parallel; never rejects. `changed`: the content of one is different. */
export async function refreshCaches(
  context: Pick<ConfigContext, 'home' | 'env'>,
  connectors: readonly ConnectorSetting[],
  options: RefreshOptions,
): Promise<{ readonly changed: boolean }> {
  const changes = await Promise.all(
    connectors.map(async (connector) => {
      const outcome = await refresh(context, connector, options).catch((thrown) => ({
        fault: `the catalog could not be stored (${messageOf(thrown)}); check the permissions of ${context.home} and the free disk space`,
      }));
      // Not reported after an abort.
      if ('fault' in outcome && !options.signal.aborted) {
        const cached = readCache(cachePath(context.home, connector));
        options.note(`${connector.label}: ${outcome.fault}`, cached ? 'cached' : 'not-cached');
      }
      return 'isChanged' in outcome && outcome.isChanged;
    }),
  );
  return { changed: changes.includes(true) };
}

async function refresh(
  { home, env }: Pick<ConfigContext, 'home' | 'env'>,
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
  const before = readCache(path);
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

/** A request for a catalog; variables in `headers` are substituted. */
export type ConnectorRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The ETag of the cached content. */
  readonly etag?: string;
  /** The environment, which may name a proxy. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Timeout of the whole request; 10 s by default. */
  readonly limitMs?: number;
};

type ConnectorAnswer =
  | { readonly kind: 'fresh'; readonly body: Readonly<Record<string, unknown>>; readonly etag?: string }
  | { readonly kind: 'same' }
  /** The reason, without parts of the request or the response. */
  | { readonly kind: 'failed'; readonly fault: string };

const LIMIT_MS = 10_000;
const MAX_BODY_BYTES = 2 * 1024 * 1024;
const MAX_REDIRECTS = 5;

/** Fetches a catalog once; never rejects. */
export async function fetchConnector(request: ConnectorRequest): Promise<ConnectorAnswer> {
  const limit = AbortSignal.timeout(request.limitMs ?? LIMIT_MS);
  const { Agent, ProxyAgent } = await import('undici');
  let agent: Dispatcher | undefined;
  try {
    const proxy = proxyFor(new URL(request.url), request.env);
    agent =
      proxy === undefined
        ? new Agent({ connect: VERIFIED })
        : new ProxyAgent({ uri: checkProxy('', proxy).href, requestTls: VERIFIED, proxyTls: VERIFIED });
    return await follow(request, agent, AbortSignal.any([request.signal, limit]));
  } catch (cause) {
    if (limit.aborted) return failed('the request timed out; it is retried at the next start');
    return failed(faultOf(cause));
  } finally {
    await agent?.destroy();
  }
}

/** Follows redirects within the configured origin only: headers may contain credentials. */
async function follow(
  asked: ConnectorRequest,
  agent: Dispatcher,
  signal: AbortSignal,
): Promise<ConnectorAnswer> {
  const { request } = await import('undici');
  const { etag } = asked;
  const given = Object.entries(asked.headers).map(([name, value]) => [name.toLowerCase(), value]);
  const headers = {
    accept: 'application/json',
    ...Object.fromEntries(given),
    ...(etag !== undefined && { 'if-none-match': etag }),
  };
  let url = new URL(asked.url);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await request(url, { dispatcher: agent, headers, signal });
    const { statusCode: status } = answer;
    if (status === 200) return await readBody(answer);
    // The body is not needed, and the connection is not used again.
    answer.body.on('error', () => {}).destroy();
    if (status === 304 && etag !== undefined) return { kind: 'same' };
    const location = answer.headers.location;
    if (!REDIRECTS.has(status) || typeof location !== 'string') return failed(statusFault(status));
    if (!URL.canParse(location, url.href))
      return failed('the server redirects to an invalid URL; check the URL of the connector');
    const next = new URL(location, url);
    if (next.origin !== url.origin)
      return failed(
        'a redirect to another host was not followed; if it is intended, configure the URL of that host',
      );
    url = next;
  }
  return failed('the server redirects too often; check the URL of the connector');
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

async function readBody({ body, headers }: Dispatcher.ResponseData): Promise<ConnectorAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES)
      return failed(`the response is longer than ${MAX_BODY_BYTES / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  const document = parseDocument(Buffer.concat(chunks).toString('utf8'));
  if (document.state !== 'read' || !isRecord(document.value.mcpServers))
    return failed('the response is not a JSON object with "mcpServers"; check the URL of the connector');
  const { etag } = headers;
  return {
    kind: 'fresh',
    body: document.value,
    ...(typeof etag === 'string' && etag.length <= 1000 && { etag }),
  };
}

function statusFault(status: number): string {
  if (status === 401 || status === 403)
    return `access denied (HTTP ${status}); check the "headers" of the connector`;
  return `the server answered with HTTP ${status}; check the URL of the connector, or try again later`;
}

/** Uses error codes only: messages of libraries may contain parts of the request. */
function faultOf(cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'UND_ERR_INVALID_ARG') return 'invalid "headers"; check their values for line breaks';
  if (code === 'bad-config')
    return 'the proxy URL in the environment is not supported; use an http:// or https:// proxy';
  if (typeof code !== 'string') return 'the request failed; check the URL of the connector and the network';
  return NETWORK_ERRORS[code]?.fault ?? `connection failed (${code})`;
}

function failed(fault: string): ConnectorAnswer {
  return { kind: 'failed', fault };
}
