import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../base/files/replace-file.ts';
import { isRecord } from '../../base/json-value.ts';
import { isLoopback } from '../../mcp/transports/http/proxy.ts';
import type { EntryError } from '../../protocol/server-entry.ts';
import { formatKeyPath } from '../files/diagnostics.ts';
import { parseStrictJson } from '../files/plain-json.ts';
import type { ConfigDiagnostic, Source } from '../model.ts';
import { addressLabel } from './config-paths.ts';
import { readServers } from './read-servers.ts';
import { type ConnectorSetting, contentOfValue, type SettingsSource } from './source-types.ts';

/** The catalogues that settings name in `connectors`; one that cannot be used harms no other. */
export function connectorSettings({ scope, label, value, locate }: SettingsSource): {
  readonly connectors: readonly ConnectorSetting[];
  readonly faults: readonly ConfigDiagnostic[];
} {
  const { connectors: list } = value;
  if (list === undefined) return { connectors: [], faults: [] };
  const fault = (way: readonly (string | number)[], message: string): ConfigDiagnostic => {
    const position = locate(way) ?? locate(way.slice(0, -1));
    return { level: 'error', scope, label, key: formatKeyPath(way), ...(position && { position }), message };
  };
  if (!Array.isArray(list))
    return { connectors: [], faults: [fault(['connectors'], 'must be a list of { "url": "https://…" }')] };
  const connectors: ConnectorSetting[] = [];
  const faults: ConfigDiagnostic[] = [];
  for (const [index, it] of (list as unknown[]).entries()) {
    const read = readConnector(it);
    if ('connector' in read) connectors.push(read.connector);
    else faults.push(fault(['connectors', index, ...read.way], read.message));
  }
  return { connectors, faults };
}

type Wrong = { readonly way: readonly string[]; readonly message: string };

function readConnector(value: unknown): { readonly connector: ConnectorSetting } | Wrong {
  if (!isRecord(value)) return { way: [], message: 'must be an object, such as { "url": "https://…" }' };
  const { url, headers } = value;
  const wrong = addressFault(url);
  if (wrong !== undefined) return { way: ['url'], message: wrong };
  if (headers !== undefined && !(isRecord(headers) && Object.values(headers).every(isText)))
    return { way: ['headers'], message: 'must map names to strings' };
  const connector = { url: String(url), label: addressLabel(String(url)) };
  return { connector: headers === undefined ? connector : { ...connector, headers: headers as Texts } };
}

type Texts = Readonly<Record<string, string>>;
const isText = (value: unknown) => typeof value === 'string';

/** What is fetched from elsewhere must come unchanged from there; only this machine may do without TLS. */
function addressFault(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return 'must be a full URL that starts with https://';
  if (url.includes('${')) return 'variables are substituted in "headers" only; write the address itself';
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return 'put credentials in "headers", not in the address';
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return undefined;
  return 'must start with https://; only a loopback address may use http://';
}

/** What a catalogue said when it was asked last; nobody is asked now. */
export async function connectorSource(connector: ConnectorSetting, home: string): Promise<Source> {
  const path = cachePath(home, connector);
  const cached = await readCache(path);
  const source = readServers(cached ? contentOfValue(cached.body) : { state: 'absent' }, {
    scope: 'connector',
    label: connector.label,
    owner: new URL(connector.url).host,
    kind: 'given',
    refuse: validateConnectorEntry,
  });
  return { ...source, path };
}

/** Why an entry from the network is not taken: it could run something here, read our files, or send our variables away. */
export function validateConnectorEntry(entry: Readonly<Record<string, unknown>>): EntryError | undefined {
  const { type, headersHelper, tls } = entry;
  if (entry.command !== undefined)
    return {
      member: 'command',
      message: 'a connector cannot name a command to run here; it can only provide http, sse and ws servers',
    };
  if (type !== undefined && !REMOTE.has(type))
    return { member: 'type', message: 'a connector can only provide http, sse and ws servers' };
  if (headersHelper !== undefined)
    return { member: 'headersHelper', message: 'a connector cannot name a command to run here' };
  if (
    isRecord(tls) &&
    PEM.some((part) => tls[part] !== undefined && !String(tls[part]).includes('-----BEGIN '))
  )
    return { member: 'tls', message: 'a connector cannot name files of this machine; inline PEM is allowed' };
  const member = Object.keys(entry).find((name) => name.includes('${') || hasPlace(entry[name]));
  if (member === undefined) return undefined;
  return { member, message: 'entries of a connector are taken literally, so "${" is not allowed' };
}

const REMOTE: ReadonlySet<unknown> = new Set(['http', 'sse', 'ws']);
const PEM = ['ca', 'cert', 'key'] as const;

function hasPlace(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('${');
  if (Array.isArray(value)) return value.some(hasPlace);
  return isRecord(value) && Object.entries(value).some(([name, it]) => name.includes('${') || hasPlace(it));
}

/** What a catalogue said last. */
type CachedCatalogue = {
  readonly etag?: string;
  /** When that came, in ISO's words. */
  readonly fetchedAt: string;
  readonly body: Readonly<Record<string, unknown>>;
};

const VERSION = 1;

/** An answer is at most 2 MiB; what is larger is not ours. */
const LARGEST = 8 * 1024 * 1024;

/** Where it is kept; an address may hold a secret, so that of the file does not. */
export function cachePath(home: string, { url }: Pick<ConnectorSetting, 'url'>): string {
  return join(home, 'cache', 'connectors', `${createHash('sha256').update(url).digest('hex')}.json`);
}

/** Undefined if there is none or it cannot be used: then it is fetched anew. */
export async function readCache(path: string): Promise<CachedCatalogue | undefined> {
  try {
    if ((await stat(path)).size > LARGEST) return undefined;
    const value = parseStrictJson(await readFile(path, 'utf8'))?.value;
    if (!isRecord(value) || value.version !== VERSION || !isRecord(value.body)) return undefined;
    const { etag, fetchedAt, body } = value;
    return { ...(typeof etag === 'string' && { etag }), fetchedAt: String(fetchedAt), body };
  } catch {
    return undefined;
  }
}

/** Only its owner may read it; of the address there is what can be shown, and nothing of the headers. */
export function writeCache(
  path: string,
  { label }: Pick<ConnectorSetting, 'label'>,
  it: CachedCatalogue,
): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceFile(path, `${JSON.stringify({ version: VERSION, url: label, ...it })}\n`, { mode: 0o600 });
}
