import type { Dispatcher } from 'undici';
import { isRecord } from '../../../base/is-record.ts';
import { NETWORK_FAULTS } from '../../../mcp/errors/classify-failure.ts';
import { checkProxy } from '../../../mcp/transports/http/open-http.ts';
import { proxyFor } from '../../../mcp/transports/http/proxy.ts';
import { VERIFIED } from '../../../mcp/transports/http/tls-options.ts';
import { readPlain } from '../../files/plain-json.ts';

/** What is asked for; `headers` are expanded already. */
export type ConnectorRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of what is known already. */
  readonly etag?: string;
  /** Where the proxy is named. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Longest time for all of it; 10 s by default. */
  readonly limitMs?: number;
};

export type ConnectorAnswer =
  | { readonly kind: 'fresh'; readonly body: Readonly<Record<string, unknown>>; readonly etag?: string }
  | { readonly kind: 'same' }
  /** A sentence that shows neither what was sent nor what came. */
  | { readonly kind: 'failed'; readonly fault: string };

const LIMIT_MS = 10_000;
const MOST_BYTES = 2 * 1024 * 1024;
const MOST_REDIRECTS = 5;

/** Asks a catalogue once; never rejects. */
export async function fetchConnector(asked: ConnectorRequest): Promise<ConnectorAnswer> {
  const limit = AbortSignal.timeout(asked.limitMs ?? LIMIT_MS);
  const { Agent, ProxyAgent } = await import('undici');
  let agent: Dispatcher | undefined;
  try {
    const proxy = proxyFor(new URL(asked.url), asked.env);
    agent =
      proxy === undefined
        ? new Agent({ connect: VERIFIED })
        : new ProxyAgent({ uri: checkProxy('', proxy).href, requestTls: VERIFIED, proxyTls: VERIFIED });
    return await follow(asked, agent, AbortSignal.any([asked.signal, limit]));
  } catch (cause) {
    if (limit.aborted) return failed('it did not answer in time; it is asked again at the next start');
    return failed(faultOf(cause));
  } finally {
    await agent?.destroy();
  }
}

/** Headers may be credentials, so they go nowhere but to the origin that the person named. */
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
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const answer = await request(url, { dispatcher: agent, headers, signal });
    const { statusCode: status } = answer;
    if (status === 200) return await readBody(answer);
    // What else it says is not of interest; the connection is not used again.
    answer.body.on('error', () => {}).destroy();
    if (status === 304 && etag !== undefined) return { kind: 'same' };
    const location = answer.headers.location;
    if (!REDIRECTS.has(status) || typeof location !== 'string') return failed(statusFault(status));
    if (!URL.canParse(location, url.href)) return failed('it leads to an address that is none');
    const next = new URL(location, url);
    if (next.origin !== url.origin)
      return failed('it leads to another host, where nothing is sent; if that is meant, name that address');
    url = next;
  }
  return failed('it leads from address to address without end');
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

async function readBody({ body, headers }: Dispatcher.ResponseData): Promise<ConnectorAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return failed(`its answer is longer than ${MOST_BYTES / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  const value = readPlain(Buffer.concat(chunks).toString('utf8'))?.value;
  if (!isRecord(value) || !isRecord(value.mcpServers))
    return failed('its answer is no JSON object with "mcpServers"');
  const { etag } = headers;
  return { kind: 'fresh', body: value, ...(typeof etag === 'string' && etag.length <= 1000 && { etag }) };
}

function statusFault(status: number): string {
  if (status === 401 || status === 403) return `it refuses us (HTTP ${status}); check its "headers"`;
  return `it answered with HTTP ${status}`;
}

/** Only the system's words for it: texts of libraries may show what was sent. */
function faultOf(cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'UND_ERR_INVALID_ARG')
    return 'its "headers" cannot be sent; look for line breaks in their values';
  if (code === 'bad-config') return 'the environment names a proxy that cannot be used';
  if (typeof code !== 'string') return 'it could not be asked';
  return NETWORK_FAULTS[code]?.fault ?? `it could not be reached (${code})`;
}

function failed(fault: string): ConnectorAnswer {
  return { kind: 'failed', fault };
}
