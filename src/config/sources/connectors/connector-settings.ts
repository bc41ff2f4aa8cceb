import { isRecord } from '../../../base/is-record.ts';
import { isLoopback } from '../../../mcp/transports/http/proxy.ts';
import type { ConfigFault } from '../../model.ts';
import type { ConnectorSetting, SettingsSource } from '../found.ts';
import { keyText } from '../key-text.ts';
import { addressLabel } from '../labels.ts';

/** The catalogues that settings name in `connectors`; one that cannot be used harms no other. */
export function connectorSettings({ scope, label, value, locate }: SettingsSource): {
  readonly connectors: readonly ConnectorSetting[];
  readonly faults: readonly ConfigFault[];
} {
  const { connectors: list } = value;
  if (list === undefined) return { connectors: [], faults: [] };
  const fault = (way: readonly (string | number)[], message: string): ConfigFault => {
    const position = locate(way) ?? locate(way.slice(0, -1));
    return { level: 'error', scope, label, key: keyText(way), ...(position && { position }), message };
  };
  if (!Array.isArray(list))
    return { connectors: [], faults: [fault(['connectors'], 'it must be a list of { "url": "https://…" }')] };
  const connectors: ConnectorSetting[] = [];
  const faults: ConfigFault[] = [];
  for (const [index, it] of (list as unknown[]).entries()) {
    const read = readConnector(it);
    if ('connector' in read) connectors.push(read.connector);
    else faults.push(fault(['connectors', index, ...read.way], read.message));
  }
  return { connectors, faults };
}

type Wrong = { readonly way: readonly string[]; readonly message: string };

function readConnector(value: unknown): { readonly connector: ConnectorSetting } | Wrong {
  if (!isRecord(value)) return { way: [], message: 'it must be an object, such as { "url": "https://…" }' };
  const { url, headers } = value;
  const wrong = addressFault(url);
  if (wrong !== undefined) return { way: ['url'], message: wrong };
  if (headers !== undefined && !(isRecord(headers) && Object.values(headers).every(isText)))
    return { way: ['headers'], message: 'it must map names to strings' };
  const connector = { url: String(url), label: addressLabel(String(url)) };
  return { connector: headers === undefined ? connector : { ...connector, headers: headers as Texts } };
}

type Texts = Readonly<Record<string, string>>;
const isText = (value: unknown) => typeof value === 'string';

/** What is fetched from elsewhere must come unchanged from there; only this machine may do without TLS. */
function addressFault(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return 'it must be a full URL that starts with https://';
  if (url.includes('${')) return 'variables are put into "headers" only; write the address itself';
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return 'credentials stand in "headers", not in the address';
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return undefined;
  return 'it must start with https://; only an address of this machine may do without';
}
