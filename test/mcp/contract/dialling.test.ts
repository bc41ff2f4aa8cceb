import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  createHost,
  type Host,
  HostError,
  type HostOptions,
  type HostServerEntry,
} from '../../../src/entry/host.ts';
import { ENV, textOf } from './support/drive.ts';
import { admitAll, localGates, remoteGates } from './support/gates.ts';
import type { SetUpName } from './support/set-up.ts';
import { SET_UPS } from './support/set-ups.ts';
import { PROCESSES } from './support/third-party-servers.ts';

const start = (name: SetUpName) => {
  const found = SET_UPS.find((setUp) => setUp.name === name);
  if (!found) throw new Error(`no set-up is named ${name}`);
  return found.start();
};

const hostWith = (mcpServers: Record<string, HostServerEntry>, options: HostOptions = {}): Host =>
  createHost({ env: ENV, retry: { attempts: 0 }, mcpServers, ...options });

/** A process that reads and never answers. */
const SILENT: HostServerEntry = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] };
const ABSENT: HostServerEntry = { command: '/no/such/program' };

describe('servers that do not come', () => {
  test('do not affect other servers, and each is explained (R141)', async () => {
    await using http = await start('http legacy');
    await using modern = await start('http modern');
    await using ws = await start('ws legacy');
    const refused = await closedPort();
    await using host = hostWith(
      {
        absent: ABSENT,
        http: http.entry,
        dies: { command: process.execPath, args: ['-e', 'console.error("no licence"); process.exit(3)'] },
        python: PROCESSES.python,
        refused: { type: 'http', url: refused },
        modern: modern.entry,
        silent: { ...SILENT, connectTimeoutMs: 1000 },
        ws: ws.entry,
      },
      { concurrency: { yieldAfterMs: 200 } },
    );
    await host.ready();
    const status = host.status();
    const states = Object.fromEntries(Object.entries(status).map(([name, { state }]) => [name, state]));
    expect(states).toEqual({
      absent: 'failed',
      http: 'connected',
      dies: 'failed',
      python: 'connected',
      refused: 'failed',
      modern: 'connected',
      silent: 'failed',
      ws: 'connected',
    });
    expect(status.absent?.cause).toEqual({
      code: 'spawn-failed',
      stage: 'command',
      message: expect.stringMatching(/"absent".*\/no\/such\/program/),
      detail: expect.stringMatching(/^command not found: \/no\/such\/program/),
    });
    expect(status.dies?.cause).toEqual({
      code: 'spawn-failed',
      message: expect.stringMatching(/"dies".*no licence/),
      detail: expect.stringContaining('no licence'),
    });
    // A process that exits on the protocol probe is started a second time.
    expect(new Set(status.dies?.stderr)).toEqual(new Set(['no licence']));
    expect(status.refused?.cause?.code).toBe('unreachable');
    expect(status.silent?.cause?.code).toBe('timeout');
    const listed = new Set((await host.listTools()).map(({ server }) => server));
    expect([...listed].toSorted()).toEqual(['http', 'modern', 'python', 'ws']);
    const answers = ['http', 'modern', 'python', 'ws'].map((server) =>
      host.callTool(server, 'echo', { text: server }),
    );
    expect((await Promise.all(answers)).map(textOf)).toEqual(['http', 'modern', 'python', 'ws']);
  });

  test('reject `ready` if they are required or named, and else do not', async () => {
    await using http = await start('http modern');
    await using host = hostWith({ absent: ABSENT, http: http.entry });
    await host.ready();
    await host.ready({ servers: ['http'] });
    await expect(host.ready({ servers: ['absent'] })).rejects.toMatchObject({ server: 'absent' });
    await using strict = hostWith({ absent: { ...ABSENT, required: true }, http: http.entry });
    const thrown = await strict.ready().catch((fault: unknown) => fault);
    expect(thrown).toBeInstanceOf(HostError);
    expect(thrown).toMatchObject({ code: 'spawn-failed', server: 'absent' });
  });

  test('hold `ready` up no longer than its deadline, and never those who wait for others', async () => {
    await using http = await start('http modern');
    await using host = hostWith({ silent: SILENT, http: http.entry });
    const at = performance.now();
    await host.ready({ servers: ['http'] });
    await host.ready({ deadline: 100 });
    await expect(host.ready({ servers: ['silent'], deadline: 100 })).rejects.toMatchObject({
      server: 'silent',
    });
    expect(performance.now() - at).toBeLessThan(5000);
    expect(host.status().silent?.state).toBe('connecting');
  });

  test('give their place away when they stay silent', async () => {
    await using gates = await remoteGates();
    await using http = await start('http modern');
    await using host = hostWith(
      { mute: gates.entry(0), http: http.entry },
      { concurrency: { remote: 1, yieldAfterMs: 100 } },
    );
    await host.ready({ servers: ['http'] });
    expect(gates.waiting()).toBe(1);
    gates.admit();
    await host.ready({ servers: ['mute'] });
  });
});

describe('servers on demand', () => {
  test('are not connected before their first call', async () => {
    await using http = await start('http modern');
    await using stdio = await start('stdio legacy');
    await using host = hostWith({
      http: { ...http.entry, start: 'on-demand' } as HostServerEntry,
      stdio: { ...stdio.entry, start: 'on-demand' } as HostServerEntry,
    });
    await host.ready();
    expect(host.status()).toMatchObject({ http: { state: 'pending' }, stdio: { state: 'pending' } });
    expect([await http.left(), await stdio.left()]).toEqual([0, 0]);
    const answers = ['http', 'stdio'].map((server) => host.callTool(server, 'echo', { text: server }));
    expect((await Promise.all(answers)).map(textOf)).toEqual(['http', 'stdio']);
    expect(host.status()).toMatchObject({ http: { state: 'connected' }, stdio: { state: 'connected' } });
  });

  test('are connected when ready() names them', async () => {
    await using http = await start('http modern');
    await using host = hostWith({ http: { ...http.entry, start: 'on-demand' } as HostServerEntry });
    await host.ready({ servers: ['http'] });
    expect(host.status().http?.state).toBe('connected');
  });
});

describe('many servers', () => {
  test('are dialled three local and twenty remote at a time, both at once (R159)', async () => {
    await using local = await localGates();
    await using remote = await remoteGates();
    const servers = [
      ...Array.from({ length: 7 }, (_, index) => [`local-${index}`, local.entry(index)] as const),
      ...Array.from({ length: 26 }, (_, index) => [`remote-${index}`, remote.entry(index)] as const),
    ];
    await using host = hostWith(Object.fromEntries(servers), { concurrency: { yieldAfterMs: 60_000 } });
    const most = await Promise.all([
      admitAll(local, { total: 7, atOnce: 3 }),
      admitAll(remote, { total: 26, atOnce: 20 }),
    ]);
    expect(most).toEqual([3, 20]);
    await host.ready();
    const states = new Set(Object.values(host.status()).map(({ state }) => state));
    expect([...states]).toEqual(['connected']);
  });

  test('are dialled as many at a time as was asked for', async () => {
    await using remote = await remoteGates();
    const servers = Array.from(
      { length: 6 },
      (_, index) => [`remote-${index}`, remote.entry(index)] as const,
    );
    await using host = hostWith(Object.fromEntries(servers), {
      concurrency: { remote: 2, yieldAfterMs: 60_000 },
    });
    expect(await admitAll(remote, { total: 6, atOnce: 2 })).toBe(2);
    await host.ready();
  });

  test('are told of as they come', async () => {
    await using remote = await remoteGates();
    const names = ['first', 'second', 'third'];
    await using host = hostWith(Object.fromEntries(names.map((name, index) => [name, remote.entry(index)])));
    const seen: { settled: number; total: number; waitingFor: readonly string[] }[] = [];
    using _listening = host.events.on((event) => {
      if (event.type === 'progress') {
        seen.push({ settled: event.settled, total: event.total, waitingFor: event.waitingFor });
      }
    });
    await admitAll(remote, { total: 3, atOnce: 3 });
    await host.ready();
    const counts = seen.map(({ settled }) => settled);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(new Set(counts)).toEqual(new Set([1, 2, 3, ...counts]));
    expect(
      seen.every(({ total, settled, waitingFor }) => total === 3 && waitingFor.length === 3 - settled),
    ).toBe(true);
    expect(seen.at(-1)).toEqual({ settled: 3, total: 3, waitingFor: [] });
  });
});

/** An address that refuses connections. */
async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}/mcp`;
}
