import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createExpander } from '../../../src/config/expand/expand-entry.ts';
import { openSecretStore } from '../../../src/config/secrets/secret-store.ts';
import type { ServerEntry, ToolCache } from '../../../src/mcp/connection/connect-context.ts';
import type { Connection } from '../../../src/mcp/connection/connection.ts';
import { fileEraCache } from '../../../src/mcp/connection/protocol-era.ts';
import { Servers } from '../../../src/mcp/servers/servers.ts';
import { Fleet } from '../../mcp/servers/support/fleet.ts';
import { rawServer } from '../../mcp/support/raw-servers.ts';
import { script, startHttpServer, testWorld } from '../../mcp/support/servers.ts';
import { configPlace } from '../config-place.ts';

const VALUES = { TOKEN: 'tok-aaaa-1111', PLACE: 'place-bbbb-2222', FLAG: 'flag-dddd-4444' };
const SECRET = 'sec-cccc-3333';
const HIDDEN = [VALUES.TOKEN, SECRET];

/** Servers with their own variables and secret store, and everything that is reported about them. */
function serversWith(env: Record<string, string | undefined> = VALUES) {
  const { home, world: context } = configPlace();
  const store = openSecretStore(context());
  store.set('key', SECRET);
  const told: unknown[] = [];
  const tell = (...what: unknown[]) => void told.push(what);
  const world = testWorld({
    expand: createExpander({ env, secrets: store }),
    onStderr: tell,
    onUnexpectedOutput: tell,
    eraCache: fileEraCache(join(home, 'eras.json')),
  });
  const servers = new Servers(world, { onState: tell, onWarning: tell, retry: { attempts: 0 } });
  onTestFinished(() => servers[Symbol.asyncDispose]());
  const dial = async (entry: ServerEntry) => {
    servers.add({ srv: entry }, 'dynamic');
    await servers.settled();
    return servers.all.get('srv');
  };
  return { servers, store, told, dial };
}

/** A server that reports how it was started: by its tool, reversed so that nothing is masked, and on stderr. */
const TELLING = rawServer(`(message, send, greet) => {
  const told = JSON.stringify([process.argv.slice(1), process.env.A, process.env.B, process.cwd()]);
  if (message.method === 'initialize') { console.error(told); return greet(message); }
  if (message.method === 'tools/list') return send({ id: message.id, result: { tools: [{ name: 'tell', inputSchema: { type: 'object' } }] } });
  if (message.method === 'tools/call') return send({ id: message.id, result: { content: [{ type: 'text', text: [...told].reverse().join('') }] } });
  if (message.id !== undefined) send({ id: message.id, error: { code: -32601, message: told } });
}`);

async function toldBy(connection: Connection | undefined): Promise<string> {
  const answer = await connection?.callTool('tell', {});
  const [block] = answer?.content ?? [];
  return [...(block?.type === 'text' ? block.text : '')].reverse().join('');
}

test('substitutes values in command, args, env and cwd; stderr and status do not show secrets', async () => {
  const { servers, told, dial } = serversWith({
    ...VALUES,
    NODE: process.execPath,
    DIR: import.meta.dirname,
  });
  const written: ServerEntry = {
    ...TELLING,
    command: '${NODE}',
    args: [...(TELLING.args ?? []), '--', 'x${TOKEN}', '${FLAG}', '$${FLAG}'],
    env: { A: '${secret:key}', B: '${NONE:-b}' },
    cwd: '${DIR}',
  };
  const server = await dial(written);
  expect(server).toMatchObject({ entry: written, status: { state: 'connected' } });
  const connection = await servers.target('srv')?.connect();
  expect(JSON.parse(await toldBy(connection))).toEqual([
    ['xtok-aaaa-1111', 'flag-dddd-4444', '${FLAG}'],
    SECRET,
    'b',
    import.meta.dirname,
  ]);
  const shown = JSON.stringify([told, server?.status, connection?.stderr()]);
  expect(shown).toContain('x[redacted]');
  for (const value of HIDDEN) expect(shown).not.toContain(value);
});

test('substitutes values in url and headers', async () => {
  await using web = await startHttpServer(`Bearer ${SECRET}`);
  const { port } = new URL(web.url);
  const { told, dial } = serversWith({ PORT: port });
  const written: ServerEntry = {
    type: 'http',
    url: 'http://127.0.0.1:${PORT}/mcp',
    headers: { Authorization: 'Bearer ${secret:key}' },
  };
  expect(await dial(written)).toMatchObject({ entry: written, status: { state: 'connected' } });
  expect(JSON.stringify(told)).not.toContain(SECRET);
});

test('masks secret values in the error messages of a server', async () => {
  const seen: IncomingMessage[] = [];
  const http = createServer((request, response) => {
    seen.push(request);
    response.writeHead(500, { 'content-type': 'application/json' });
    const { authorization, 'x-place': place } = request.headers;
    response.end(JSON.stringify({ no: request.url, authorization, place }));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  const { port } = http.address() as AddressInfo;
  const { told, dial } = serversWith();
  const server = await dial({
    type: 'http',
    url: `http://127.0.0.1:${port}/\${secret:key}/\${TOKEN}`,
    headers: { Authorization: '${TOKEN}', 'X-Place': '${PLACE}' },
  });
  http.closeAllConnections();
  expect(seen[0]).toMatchObject({
    url: `/${SECRET}/${VALUES.TOKEN}`,
    headers: { authorization: VALUES.TOKEN, 'x-place': VALUES.PLACE },
  });
  expect(server?.status).toMatchObject({
    state: 'failed',
    cause: { message: expect.stringContaining('[redacted]') },
  });
  for (const value of [...HIDDEN, VALUES.PLACE])
    expect(JSON.stringify([told, server?.status])).not.toContain(value);
});

test.each<[string, ServerEntry, string]>([
  [
    'a process that ends and says why',
    { ...script('console.error("bad " + process.argv[1]); process.exit(3)'), env: {} },
    'its process exited before it was ready; stderr: bad [redacted]',
  ],
  [
    'a command that is not there',
    { command: 'no-such-${secret:key}' },
    'command not found: no-such-[redacted]',
  ],
  [
    'a directory that is not there',
    { command: 'x', cwd: '/none/${TOKEN}' },
    '"cwd" is not a directory: /none/[redacted]',
  ],
  [
    'a url that is none',
    { type: 'http', url: '${TOKEN}' },
    'needs "url", a full URL (after variable substitution)',
  ],
  [
    'a header that can be none',
    { type: 'http', url: 'http://${TOKEN}/', headers: { A: '${TOKEN}\n' } },
    '"A" in "headers"',
  ],
])('%s: does not show secrets', async (_, entry, fault) => {
  const { told, dial } = serversWith();
  const args = 'args' in entry ? { args: [...(entry.args ?? []), '${secret:key}', '${TOKEN}'] } : {};
  const server = await dial({ ...entry, ...args });
  expect(server?.status).toMatchObject({
    state: 'failed',
    cause: { message: expect.stringContaining(fault) },
  });
  for (const value of HIDDEN)
    expect(JSON.stringify([told, server?.status, server?.entry])).not.toContain(value);
});

test('does not retry a missing value automatically; a reconnect uses the current values', async () => {
  const env: Record<string, string | undefined> = {};
  const store = openSecretStore(configPlace().world());
  const fleet = new Fleet({}, { expand: createExpander({ env, secrets: store }) });
  const entry: ServerEntry = { command: '${BIN}', env: { A: '${secret:key}' } };
  fleet.servers.add({ srv: entry }, 'dynamic');
  await fleet.clock.advance(1_000_000);
  expect(fleet.dials).toEqual([]);
  expect(fleet.state('srv')).toMatchObject({
    state: 'failed',
    cause: { code: 'bad-config', message: expect.stringMatching(/variable BIN, .* secret key/) },
  });
  expect(fleet.state('srv')).not.toHaveProperty('nextRetryAt');
  await expect(fleet.servers.target('srv')?.connect()).rejects.toThrow(
    'fix the cause and reconnect the server',
  );
  env.BIN = 'x';
  store.set('key', SECRET);
  await fleet.servers.reconnect('srv');
  expect(fleet.state('srv')).toMatchObject({ state: 'connected' });
  expect(fleet.servers.all.get('srv')?.entry).toBe(entry);
  await fleet[Symbol.asyncDispose]();
});

test('uses a changed value at the next connection', async () => {
  const env: Record<string, string | undefined> = { A: 'first-value' };
  const { servers, dial } = serversWith(env);
  await dial({ ...TELLING, env: { A: '${A}' } });
  env.A = 'second-value';
  await servers.reconnect('srv');
  const connection = await servers.target('srv')?.connect();
  expect(await toldBy(connection)).toContain('second-value');
});

test('does not reuse a tool list that was cached with other credentials', async () => {
  const env: Record<string, string | undefined> = { TOKEN: 'alices-token' };
  const keys: string[] = [];
  const catalogue: ToolCache = {
    recall: async (key) => void keys.push(key),
    remember: (key) => void keys.push(key),
  };
  const fleet = () =>
    new Fleet(
      {},
      {
        toolCache: catalogue,
        expand: createExpander({ env, secrets: () => openSecretStore(configPlace().world()) }),
      },
    );
  const dialled = async (entry: ServerEntry) => {
    await using own = fleet();
    own.servers.add({ srv: entry }, 'dynamic');
    await own.clock.advance(1);
    return keys.splice(0);
  };
  const entry: ServerEntry = { url: 'http://127.0.0.1:1/', headers: { Authorization: '${TOKEN}' } };
  const alices = await dialled(entry);
  expect(alices).toEqual([alices[0], alices[0]]);
  expect(await dialled(entry)).toEqual(alices);
  env.TOKEN = 'bobs-token';
  const bobs = await dialled(entry);
  expect(bobs[0]).not.toBe(alices[0]);
  env.TOKEN = undefined;
  expect(await dialled(entry)).toEqual([]);
  expect(JSON.stringify([alices, bobs])).not.toMatch(/token/);
});
