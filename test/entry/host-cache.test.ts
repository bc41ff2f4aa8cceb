import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHost, type HostOptions } from '../../src/entry/host.ts';
import { startWeb } from '../mcp/transports/http/support/web.ts';

const before = process.env.TOOLPLANE_HOME;
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'toolplane-cache-'));
  process.env.TOOLPLANE_HOME = join(home, 'own');
});

afterEach(() => {
  process.env.TOOLPLANE_HOME = before;
  rmSync(home, { recursive: true, force: true });
});

/** Connects two hosts to an older server, one after the other; returns the number of protocol probes. */
async function probes(options: HostOptions): Promise<number> {
  const list = { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
  await using web = await startWeb(({ message: { id, method } }, response) => {
    if (method !== 'server/discover' && method !== 'tools/list') return false;
    const answer = method === 'tools/list' ? { result: list } : { error: { code: -32601, message: 'no' } };
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
  for (let run = 0; run < 2; run++) {
    await using host = createHost({ mcpServers: { old: { type: 'http', url: web.url } }, ...options });
    await host.ready({ servers: ['old'] });
  }
  return web.seen.filter(({ message }) => message.method === 'server/discover').length;
}

test('only the protocol version of servers is cached by default', async () => {
  expect(await probes({})).toBe(1);
  const cache = join(home, 'own', 'cache');
  expect(readdirSync(cache)).toEqual(['eras.json']);
  expect(statSync(cache).mode & 0o777).toBe(0o700);
  expect(statSync(join(cache, 'eras.json')).mode & 0o777).toBe(0o600);
});

test('cacheDirectory: false caches in memory', async () => {
  expect(await probes({ cacheDirectory: false })).toBe(2);
  expect(readdirSync(home)).toEqual([]);
});

test('cacheDirectory sets the directory and enables the cache of tools', async () => {
  const cacheDirectory = join(home, 'elsewhere');
  expect(await probes({ cacheDirectory })).toBe(1);
  expect(readdirSync(cacheDirectory).sort()).toEqual(['catalogue', 'eras.json']);
  expect(readdirSync(home)).toEqual(['elsewhere']);
});
