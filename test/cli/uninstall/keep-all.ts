import { join } from 'node:path';
import { fileSecretStore } from '../../../src/host/config/secret/file-secret-store.ts';
import { cachePath, writeCache } from '../../../src/host/config/source/connectors/connector-cache.ts';
import { fileEras } from '../../../src/host/connect/file-eras.ts';
import { fileCatalogue } from '../../../src/host/discover/file-catalogue.ts';
import { openPins } from '../../../src/host/pin/open-pins.ts';
import { lastingStore } from '../../../src/host/result/result-store.ts';
import { Transcript } from '../../../src/host/transcript/transcript.ts';
import { tool } from '../../host/pin/tools.ts';
import { options } from '../../host/transcript/sessions.ts';

/** Has every store write something to a home, as sessions do; gives the transcript of the one session. */
export async function keepAll(home: string): Promise<string> {
  fileSecretStore(join(home, 'secrets.json')).set('a', 'sk-hidden');
  openPins(join(home, 'pins')).observe({ server: 's', place: 'p' }, [tool({})]);
  const eras = fileEras(join(home, 'cache', 'eras.json'));
  eras.remember('s', { era: 'legacy' });
  await eras.flush();
  const catalogue = fileCatalogue(join(home, 'cache', 'catalogue'));
  catalogue.remember('s', [tool({})]);
  await catalogue.flush();
  const connector = { url: 'https://example.com/c?key=x', label: 'https://example.com/c' };
  writeCache(cachePath(home, connector), connector, { fetchedAt: 'now', body: { mcpServers: {} } });
  await using transcript = new Transcript(options(home).given);
  await transcript.append([{ type: 'user', content: [{ type: 'text', text: 'hello' }] }]);
  await using results = lastingStore(`${transcript.path.replace(/\.jsonl$/, '')}/tool-results`);
  await results.save(new Uint8Array([1]), '.bin');
  return transcript.path;
}
