import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import type { CallTarget } from '../../../src/mcp/servers/call-target.ts';
import type { ServerState } from '../../../src/mcp/servers/server-state.ts';
import { Servers } from '../../../src/mcp/servers/servers.ts';
import type { ServersOptions } from '../../../src/mcp/servers/servers-options.ts';
import { fixture, isAlive } from '../../support/fixture-server.ts';
import { rawServer } from '../support/raw-servers.ts';
import { testWorld } from '../support/servers.ts';
import { smallHttpServer } from './support/small-http-server.ts';

/** `Servers` with real connections and short retry delays. */
function heal(entries: Record<string, ServerEntry>, options: ServersOptions = {}) {
  const listeners = new Set<() => void>();
  const seen: string[] = [];
  const servers = new Servers(testWorld(), {
    retry: { firstMs: 20, ceilingMs: 50 },
    onState: (key, state) => {
      seen.push(`${key} ${state.kind}`);
      for (const listener of [...listeners]) listener();
    },
    ...options,
  });
  onTestFinished(() => servers[Symbol.asyncDispose]());
  servers.add(entries, 'dynamic');
  /** Resolves once the server is in this state. */
  const until = (key: string, kind: ServerState['kind']) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (servers.all.get(key)?.status.state !== kind) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
    });
  return { servers, until, seen };
}

/** Calls once and reports the outcome to the server, as callers do. */
async function call(target: CallTarget | undefined, tool: string): Promise<string> {
  const connection = await target?.connect();
  if (!target || !connection) throw new Error('there is no such server');
  try {
    const { content } = await connection.callTool(tool, {}, { timeoutMs: 5_000 });
    target.report(connection);
    return JSON.stringify(content);
  } catch (failure) {
    target.report(connection, failure);
    throw failure;
  }
}

const pidOf = async (target: CallTarget | undefined) => Number(/\d+/.exec(await call(target, 'pid'))?.[0]);

test('a process that crashes in a call is restarted for the next one', async () => {
  const { servers, seen } = heal({ fix: fixture() });
  const target = servers.target('fix');
  const first = await pidOf(target);
  await expect(call(target, 'die')).rejects.toMatchObject({ name: 'HostError', isTerminal: true });
  const second = await pidOf(target);
  expect([isAlive(first), isAlive(second), first === second]).toEqual([false, true, false]);
  expect(seen).toEqual([
    'fix pending',
    'fix connecting',
    'fix connected',
    'fix failed',
    'fix pending',
    'fix connecting',
    'fix connected',
  ]);
  await servers[Symbol.asyncDispose]();
  expect(isAlive(second)).toBe(false);
});

test('a process that is killed while idle is restarted', async () => {
  const { servers, until } = heal({ fix: fixture() });
  const first = await pidOf(servers.target('fix'));
  process.kill(first, 'SIGKILL');
  await until('fix', 'failed');
  expect([...servers.tools.keys()]).toEqual(['fix']);
  await until('fix', 'connected');
  expect(await pidOf(servers.target('fix'))).not.toBe(first);
});

test('a missing command is tried once', async () => {
  const { servers } = heal({ gone: { command: '/nowhere/server' } });
  await servers.ready();
  expect(servers.all.get('gone')?.status).toMatchObject({
    state: 'failed',
    attempt: 1,
    cause: { code: 'spawn-failed', message: expect.stringContaining('/nowhere/server') },
  });
  expect(servers.all.get('gone')?.status).not.toHaveProperty('nextRetryAt');
});

test('a process that exits with a reason is reported after its first start', async () => {
  const starts: string[] = [];
  const code = 'console.error("WEATHER_API_KEY is not set"); process.exit(1)';
  const servers = new Servers(testWorld({ onStderr: (_, line) => starts.push(line) }), {
    retry: { attempts: 0 },
  });
  onTestFinished(() => servers[Symbol.asyncDispose]());
  servers.add({ bad: { command: process.execPath, args: ['-e', code] } }, 'dynamic');
  await servers.ready();
  expect(servers.all.get('bad')?.status).toMatchObject({
    state: 'failed',
    cause: { code: 'spawn-failed', message: expect.stringContaining('WEATHER_API_KEY is not set') },
  });
  expect(starts).toEqual(['WEATHER_API_KEY is not set']);
});

test('a process that crashes on the probe with a misleading reason is connected by the next retry', async () => {
  const { args = [], command } = rawServer(`(message, send, greet) => {
    if (message.method === 'server/discover') process.exit(1);
    if (message.method === 'initialize') greet(message);
    else if (message.method === 'tools/list') send({ id: message.id, result: { tools: [] } });
  }`);
  // The server prints "boom" and nothing about the probe.
  const code = String(args.at(-1)).replaceAll(/console\.error\([^)]*\)/g, "console.error('boom')");
  const { until, seen } = heal({ odd: { command, args: ['-e', code] } });
  await until('odd', 'connected');
  expect(seen).toContain('odd failed');
});

test('an HTTP server that disappears is detected while idle, and reconnects', async () => {
  await using web = await smallHttpServer();
  const { servers, until } = heal({ web: web.entry }, { heartbeatMs: 40 });
  await servers.ready({ servers: ['web'] });
  await web.stop();
  await until('web', 'failed');
  expect(servers.all.get('web')?.status.cause?.message).toMatch(/^MCP server "web": /);
  await web.start();
  await until('web', 'connected');
  expect(await call(servers.target('web'), 'echo')).toContain('hello');
});

test('a lost session is replaced', async () => {
  await using web = await smallHttpServer();
  const { servers } = heal({ web: web.entry }, { heartbeatMs: 0 });
  expect(await call(servers.target('web'), 'echo')).toContain('hello');
  web.forget();
  await expect(call(servers.target('web'), 'echo')).rejects.toMatchObject({ code: 'session-lost' });
  expect(await call(servers.target('web'), 'echo')).toContain('hello');
  expect(web.inits()).toBe(2);
});

test('one that hangs among thirty does not delay the others, and no process stays behind', async () => {
  const open = new Set<object>();
  const silent = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => {});
    socket.resume();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  await using web = await smallHttpServer();
  const hung: ServerEntry = {
    type: 'http',
    url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp`,
    era: 'legacy',
  };
  const others = Object.fromEntries(Array.from({ length: 29 }, (_, n) => [`s${n}`, web.entry]));
  const concurrency = { remote: 1, yieldAfterMs: 100 };
  const { servers } = heal({ hung, ...others }, { concurrency });
  await servers.ready({ servers: Object.keys(others), deadline: 10_000 });
  expect(servers.all.get('hung')?.status.state).toBe('connecting');
  const closed = Promise.withResolvers<void>();
  for (const socket of open)
    (socket as NodeJS.Socket & { on: (...it: unknown[]) => void }).on('close', closed.resolve);
  await servers[Symbol.asyncDispose]();
  await closed.promise;
});
