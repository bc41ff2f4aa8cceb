import { join } from 'node:path';
import { lastingStore } from '../../../../src/agent/results/result-files.ts';
import { Transcript } from '../../../../src/agent/transcript/transcript.ts';
import { openSecretStore } from '../../../../src/config/secrets/secret-store.ts';
import { cachePath, writeCache } from '../../../../src/config/sources/read-connectors.ts';
import { fileEraCache } from '../../../../src/mcp/connection/protocol-era.ts';
import { fileToolCache } from '../../../../src/mcp/discovery/tool-cache.ts';
import { openPins } from '../../../../src/pool/pinning/pins.ts';
import { options } from '../../../agent/transcript/sessions.ts';
import { tool } from '../../../pool/pinning/tools.ts';

/** Makes every store write to a home, as sessions do; returns the path of the transcript. */
export async function keepAll(home: string): Promise<string> {
  openSecretStore({ home, env: { TOOLPLANE_SECRETS: 'file' }, platform: process.platform }).set(
    'a',
    'sk-hidden',
  );
  openPins(join(home, 'pins')).observe({ server: 's', place: 'p' }, [tool({})]);
  const eras = fileEraCache(join(home, 'cache', 'eras.json'));
  eras.remember('s', { era: 'legacy' });
  await eras.flush();
  const catalogue = fileToolCache(join(home, 'cache', 'catalogue'));
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
