import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseDocument } from '../../../src/config/files/read-document.ts';
import {
  cachePath,
  connectorSettings,
  readCache,
  validateConnectorEntry,
  writeCache,
} from '../../../src/config/sources/read-connectors.ts';
import { configPlace } from '../config-place.ts';

describe('connector settings', () => {
  function read(text: string) {
    const document = parseDocument(text);
    if (document.state !== 'read') throw new Error('the text is no JSON');
    const { value, locate } = document;
    return connectorSettings({ scope: 'user', label: 'settings', value, locate });
  }

  test('reads a URL with or without headers', () => {
    const list = [
      { url: 'https://h.example/servers?key=s3cret', headers: { Authorization: 'Bearer ${TOKEN}' } },
      { url: 'http://127.0.0.1:80/x' },
      { url: 'http://localhost/x' },
      { url: 'http://[::1]/x' },
    ];
    expect(read(JSON.stringify({ connectors: list }))).toEqual({
      connectors: [
        { ...list[0], label: 'https://h.example/servers' },
        { ...list[1], label: 'http://127.0.0.1/x' },
        { ...list[2], label: 'http://localhost/x' },
        { ...list[3], label: 'http://[::1]/x' },
      ],
      faults: [],
    });
    expect(read('{}')).toEqual({ connectors: [], faults: [] });
  });

  test.each<[unknown, string, string]>([
    ['https://h', 'connectors[0]', 'must be an object'],
    [{}, 'connectors[0].url', 'a full URL'],
    [{ url: 'h.example' }, 'connectors[0].url', 'a full URL'],
    [{ url: 'http://h.example/s3cret' }, 'connectors[0].url', 'must start with https://'],
    [{ url: 'http://127.0.0.1.evil.example' }, 'connectors[0].url', 'must start with https://'],
    [{ url: 'file:///etc/s3cret' }, 'connectors[0].url', 'must start with https://'],
    [{ url: 'https://me:s3cret@h.example' }, 'connectors[0].url', 'put credentials in "headers"'],
    [
      { url: 'https://h.example/${TOKEN}' },
      'connectors[0].url',
      'variables are substituted in "headers" only',
    ],
    [{ url: 'https://h', headers: ['s3cret'] }, 'connectors[0].headers', 'must map names to strings'],
    [{ url: 'https://h', headers: { a: 1 } }, 'connectors[0].headers', 'must map names to strings'],
  ])('reports %j without secrets and keeps the others', (one, key, message) => {
    const { connectors, faults } = read(JSON.stringify({ connectors: [one, { url: 'https://good' }] }));
    expect(connectors.map(({ url }) => url)).toEqual(['https://good']);
    expect(faults).toEqual([
      expect.objectContaining({ level: 'error', scope: 'user', label: 'settings', key }),
    ]);
    expect(faults[0]?.message).toContain(message);
    expect(faults[0]?.position).toBeDefined();
    expect(JSON.stringify(faults)).not.toContain('s3cret');
  });

  test('reports a value that is not a list', () => {
    expect(read('{"connectors":"https://h"}').faults).toMatchObject([{ key: 'connectors' }]);
  });
});

describe('connector entry', () => {
  const PEM = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----';

  test.each<[object]>([
    [{ url: 'https://h/mcp' }],
    [{ type: 'http', url: 'https://h/mcp', headers: { a: 'b' }, timeout: 5, tools: [{ name: 't' }] }],
    [{ type: 'sse', url: 'https://h/sse' }],
    [{ type: 'ws', url: 'wss://h', tls: { ca: PEM, serverName: 'h' } }],
  ])('accepts %j from a connector', (entry) => {
    expect(validateConnectorEntry(entry as Record<string, unknown>)).toBeUndefined();
  });

  test.each<[object, string]>([
    [{ command: 'rm' }, 'command'],
    [{ type: 'http', url: 'https://h', command: 'rm' }, 'command'],
    [{ type: 'stdio' }, 'type'],
    [{ type: 'ws-ide' }, 'type'],
    [{ type: 'sdk' }, 'type'],
    [{ url: 'https://h', headersHelper: 'cat ~/.ssh/id_rsa' }, 'headersHelper'],
    [{ url: 'https://h', tls: { ca: '/etc/ssl/ca.pem' } }, 'tls'],
    [{ url: 'https://h', tls: { cert: PEM, key: '~/.ssh/id_rsa' } }, 'tls'],
    [{ url: 'https://h/${TOKEN}' }, 'url'],
    [{ url: 'https://h', headers: { a: 'x${secret:token}' } }, 'headers'],
    [{ url: 'https://h', headers: { 'x${A}': 'b' } }, 'headers'],
    [{ url: 'https://h', tools: [{ name: '${A}' }] }, 'tools'],
    [{ url: 'https://h', '${A}': 1 }, '${A}'],
  ])('refuses %j because of its %s', (entry, member) => {
    expect(validateConnectorEntry(entry as Record<string, unknown>)).toMatchObject({ member });
  });
});

describe('connector cache', () => {
  const CACHED = { etag: '"1"', fetchedAt: '2026-01-02T03:04:05.000Z', body: { mcpServers: {} } };
  const CONNECTOR = { url: 'https://h.example/?key=s3cret', label: 'https://h.example/' };

  test('stores content privately, without the secrets of the URL', async () => {
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
  ])('ignores a cache that is %s', async (_name, content) => {
    const place = configPlace();
    expect(await readCache(place.write(join(place.home, 'c.json'), content))).toBeUndefined();
  });

  test('ignores a missing or unreadable cache', async () => {
    const place = configPlace();
    expect(await readCache(join(place.home, 'none.json'))).toBeUndefined();
    expect(await readCache(place.project)).toBeUndefined();
  });
});
