import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  cachePath,
  readCache,
  writeCache,
} from '../../../../src/config/sources/connectors/connector-cache.ts';
import { configPlace } from '../../config-place.ts';

const CACHED = { etag: '"1"', fetchedAt: '2026-01-02T03:04:05.000Z', body: { mcpServers: {} } };
const CONNECTOR = { url: 'https://h.example/?key=s3cret', label: 'https://h.example/' };

test('what is written is read again, for its owner only, without the secrets of the address', async () => {
  const { home } = configPlace();
  const path = cachePath(home, CONNECTOR);
  expect(path).toMatch(/[/\\]cache[/\\]connectors[/\\][0-9a-f]{64}\.json$/);
  writeCache(path, CONNECTOR, CACHED);
  expect(await readCache(path)).toEqual(CACHED);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    version: 1,
    url: 'https://h.example/',
    ...CACHED,
  });
});

test.each<[string, unknown]>([
  ['no JSON', '{'],
  ['of another version', { version: 2, ...CACHED }],
  ['without a body', { version: 1, fetchedAt: '' }],
  ['too large', { version: 1, ...CACHED, more: 'x'.repeat(9 * 2 ** 20) }],
])('one that is %s is as if there were none', async (_name, content) => {
  const place = configPlace();
  expect(await readCache(place.write(join(place.home, 'c.json'), content))).toBeUndefined();
});

test('one that is not there, or cannot be read, is none', async () => {
  const place = configPlace();
  expect(await readCache(join(place.home, 'none.json'))).toBeUndefined();
  expect(await readCache(place.project)).toBeUndefined();
});
