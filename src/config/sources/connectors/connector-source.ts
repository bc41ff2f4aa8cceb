import type { Source } from '../../model.ts';
import { contentOfValue } from '../content.ts';
import type { ConnectorSetting } from '../found.ts';
import { readServers } from '../read-servers.ts';
import { cachePath, readCache } from './connector-cache.ts';
import { connectorEntryFault } from './connector-entry.ts';

/** What a catalogue said when it was asked last; nobody is asked now. */
export async function connectorSource(connector: ConnectorSetting, home: string): Promise<Source> {
  const path = cachePath(home, connector);
  const cached = await readCache(path);
  const source = readServers(cached ? contentOfValue(cached.body) : { state: 'absent' }, {
    scope: 'connector',
    label: connector.label,
    owner: new URL(connector.url).host,
    kind: 'given',
    refuse: connectorEntryFault,
  });
  return { ...source, path };
}
