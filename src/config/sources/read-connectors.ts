import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../base/files/replace-file.ts';
import { isRecord } from '../../base/json-value.ts';
import { isLoopback } from '../../mcp/transports/http/proxy.ts';
import type { EntryError } from '../../protocol/server-entry.ts';
import { diagnosticAt } from '../files/diagnostics.ts';
import { documentOfValue, parseDocument } from '../files/read-document.ts';
import type { ConfigDiagnostic, Source } from '../model.ts';
import { addressLabel } from './config-paths.ts';
import { readServers } from './read-servers.ts';
import type { ConnectorSetting, SettingsSource } from './source-types.ts';

/** The catalogs in `connectors` of settings; an invalid one does not affect the others. */
export function connectorSettings(source: SettingsSource): {
  readonly connectors: readonly ConnectorSetting[];
  readonly faults: readonly ConfigDiagnostic[];
} {
  const { connectors: list } = source.value;
  if (list === undefined) return { connectors: [], faults: [] };
  if (!Array.isArray(list)) {
    const fault = diagnosticAt(source, ['connectors'], 'must be a list of { "url": "https://…" }');
    return { connectors: [], faults: [fault] };
  }
  const connectors: ConnectorSetting[] = [];
  const faults: ConfigDiagnostic[] = [];
  for (const [index, it] of (list as unknown[]).entries()) {
    const read = readConnector(it);
    if ('connector' in read) connectors.push(read.connector);
    else faults.push(diagnosticAt(source, ['connectors', index, ...read.path], read.message));
  }
  return { connectors, faults };
}

type InvalidConnector = { readonly path: readonly string[]; readonly message: string };

function readConnector(value: unknown): { readonly connector: ConnectorSetting } | InvalidConnector {
  if (!isRecord(value)) return { path: [], message: 'must be an object, such as { "url": "https://…" }' };
  const { url, headers } = value;
  const fault = urlFault(url);
  if (fault !== undefined) return { path: ['url'], message: fault };
  if (headers !== undefined && !(isRecord(headers) && Object.values(headers).every(isString)))
    return { path: ['headers'], message: 'must map names to strings' };
  const connector = { url: String(url), label: addressLabel(String(url)) };
  return { connector: headers === undefined ? connector : { ...connector, headers: headers as Strings } };
}

type Strings = Readonly<Record<string, string>>;
const isString = (value: unknown) => typeof value === 'string';

/** A catalog must be fetched over TLS, except from a loopback address. */
function urlFault(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return 'must be a full URL that starts with https://';
  if (url.includes('${'))
    return 'variables are substituted in "headers" only; write the URL without variables';
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return 'put credentials in "headers", not in the URL';
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return undefined;
  return 'must start with https://; only a loopback address may use http://';
}

/** The cached content of a catalog; nothing is fetched. */
export function connectorSource(connector: ConnectorSetting, home: string): Source {
  const path = cachePath(home, connector);
  const cached = readCache(path);
  const source = readServers(cached ? documentOfValue(cached.body) : { state: 'absent' }, {
    scope: 'connector',
    label: connector.label,
    owner: new URL(connector.url).host,
    kind: 'given',
    refuse: validateConnectorEntry,
  });
  return { ...source, path };
}

/** Rejects entries from the network that could run commands here, read local files or send variables away. */
export function validateConnectorEntry(entry: Readonly<Record<string, unknown>>): EntryError | undefined {
  const { type, headersHelper, tls } = entry;
  if (entry.command !== undefined)
    return {
      member: 'command',
      message: 'a connector cannot contain a local command; it can only provide http, sse and ws servers',
    };
  if (type !== undefined && !REMOTE.has(type))
    return { member: 'type', message: 'a connector can only provide http, sse and ws servers' };
  if (headersHelper !== undefined)
    return { member: 'headersHelper', message: 'a connector cannot contain a local command' };
  if (
    isRecord(tls) &&
    PEM.some((part) => tls[part] !== undefined && !String(tls[part]).includes('-----BEGIN '))
  )
    return { member: 'tls', message: 'a connector cannot refer to local files; use inline PEM instead' };
  const member = Object.keys(entry).find((name) => name.includes('${') || hasVariable(entry[name]));
  if (member === undefined) return undefined;
  return {
    member,
    message: 'variables are not substituted in entries of a connector, so "${" is not allowed',
  };
}

const REMOTE: ReadonlySet<unknown> = new Set(['http', 'sse', 'ws']);
const PEM = ['ca', 'cert', 'key'] as const;

function hasVariable(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('${');
  if (Array.isArray(value)) return value.some(hasVariable);
  return (
    isRecord(value) && Object.entries(value).some(([name, it]) => name.includes('${') || hasVariable(it))
  );
}

/** The last content of a catalog. */
type CachedCatalog = {
  readonly etag?: string;
  /** ISO 8601 time of the fetch. */
  readonly fetchedAt: string;
  readonly body: Readonly<Record<string, unknown>>;
};

const VERSION = 1;

/** Maximum size of a cache file. Responses are limited to 2 MiB, so Toolplane does not write larger ones. */
const MAX_CACHE_BYTES = 8 * 1024 * 1024;

/** The path of the cache file. A URL may contain a secret, so the name of the file is a hash. */
export function cachePath(home: string, { url }: Pick<ConnectorSetting, 'url'>): string {
  return join(home, 'cache', 'connectors', `${createHash('sha256').update(url).digest('hex')}.json`);
}

/** Undefined if the file is missing or unusable; the catalog is then fetched again. */
export function readCache(path: string): CachedCatalog | undefined {
  try {
    if (statSync(path).size > MAX_CACHE_BYTES) return undefined;
    const document = parseDocument(readFileSync(path, 'utf8'));
    if (document.state !== 'read' || document.value.version !== VERSION) return undefined;
    const { etag, fetchedAt, body } = document.value;
    if (!isRecord(body)) return undefined;
    return { ...(typeof etag === 'string' && { etag }), fetchedAt: String(fetchedAt), body };
  } catch {
    return undefined;
  }
}

/** Writes a file that only its owner can read, with the URL as shown to users and without the headers. */
export function writeCache(
  path: string,
  { label }: Pick<ConnectorSetting, 'label'>,
  it: CachedCatalog,
): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceFile(path, `${JSON.stringify({ version: VERSION, url: label, ...it })}\n`, { mode: 0o600 });
}
