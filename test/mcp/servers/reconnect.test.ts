import { describe, expect, test } from 'vitest';
import { HostError } from '../../../src/mcp/errors/host-error.ts';
import { SharedConnectLimits } from '../../../src/mcp/servers/connect-queue.ts';
import { AbortError } from '../../../src/protocol/sdk-error.ts';
import { FakeClock } from './support/fake-clock.ts';
import { come, Fleet, hang, http, refuse, stdio, terminal } from './support/fleet.ts';

/** A fleet with one connected server. */
async function one(entry = http, options = {}) {
  const fleet = new Fleet(options);
  fleet.servers.add({ a: entry }, 'dynamic');
  await fleet.clock.advance(0);
  const target = fleet.servers.target('a');
  if (!target) throw new Error('no target');
  return { fleet, target, clock: fleet.clock };
}

describe('a connection', () => {
  test('is replaced after three terminal failures in a row, not before (R181)', async () => {
    const { fleet, target, clock } = await one();
    const first = fleet.now('a');
    for (const failure of [terminal(), terminal()]) target.report(first, failure);
    await clock.advance(10_000);
    expect(fleet.dials).toHaveLength(1);
    target.report(first, terminal());
    expect(fleet.state('a')).toMatchObject({ state: 'failed', cause: { code: 'unreachable' }, attempt: 0 });
    await clock.advance(250);
    expect(first.isClosed).toBe(true);
    expect(fleet.state('a')).toMatchObject({ state: 'connected', attempt: 0 });
    expect(fleet.of('a')).toHaveLength(2);
  });

  test.each([
    ['an answer', undefined],
    ['a refusal of the server’s own', Object.assign(new Error('no such tool'), { code: -32602 })],
    ['a call that took too long', new HostError('timeout', 'a', 'slow')],
    ['a call that was taken back', new AbortError('stop')],
    ['a tool that is forbidden', new HostError('unauthorized', 'a', 'x', { cause: { status: 403 } })],
  ])('resets its failure count after %s', async (_, outcome) => {
    const { fleet, target } = await one();
    const first = fleet.now('a');
    for (const it of [terminal(), terminal(), outcome, terminal(), terminal()]) target.report(first, it);
    expect(fleet.state('a')).toMatchObject({ state: 'connected' });
  });

  test('that was replaced does not count against the current one', async () => {
    const { fleet, target, clock } = await one();
    const first = fleet.now('a');
    first.die();
    await clock.advance(250);
    for (let n = 0; n < 5; n++) target.report(first, terminal());
    expect(fleet.state('a')).toMatchObject({ state: 'connected' });
    await clock.advance(30_000);
    expect([first.pings, fleet.now('a').pings]).toEqual([0, 1]);
  });

  test('whose session is lost is replaced at once', async () => {
    const { fleet, target, clock } = await one();
    target.report(fleet.now('a'), terminal('session-lost'));
    await clock.advance(0);
    expect(fleet.timesOf('a')).toEqual([0, 0]);
    expect(fleet.state('a')).toMatchObject({ state: 'connected' });
  });

  test('that starts to refuse credentials needs authorization and is not retried', async () => {
    const { fleet, target, clock } = await one();
    target.report(fleet.now('a'), new HostError('unauthorized', 'a', 'it refused our token'));
    await clock.advance(1_000_000);
    expect(fleet.state('a')).toMatchObject({ state: 'needs-auth', cause: { code: 'unauthorized' } });
    expect(fleet.state('a')).not.toHaveProperty('nextRetryAt');
    expect(fleet.dials).toHaveLength(1);
    await expect(target.connect()).rejects.toMatchObject({
      code: 'unauthorized',
      hasRun: 'no',
      message:
        'MCP server "a": it refused our token; if the server is still not connected afterwards, reconnect it',
    });
    expect(await fleet.servers.reconnect('a')).toMatchObject({ kind: 'connected' });
  });

  test('that misses three health checks is lost', async () => {
    const { fleet, clock } = await one();
    fleet.now('a').answer = () => Promise.reject(terminal());
    await clock.advance(31_999);
    expect(fleet.state('a')).toMatchObject({ state: 'connected' });
    await clock.advance(1);
    expect(fleet.state('a')).toMatchObject({ state: 'failed' });
    await clock.advance(500);
    expect(fleet.state('a')).toMatchObject({ state: 'connected' });
  });

  test('with a pending call may miss health checks for minutes', async () => {
    const { fleet, clock } = await one();
    const first = fleet.now('a');
    first.answer = () => new Promise(() => {});
    first.atWork = true;
    await clock.advance(240_000);
    expect(fleet.state('a')).toMatchObject({ state: 'connected' });
    await clock.advance(240_000);
    expect(first.isClosed).toBe(true);
  });

  test('that sends any message is alive', async () => {
    const { fleet, clock } = await one();
    const first = fleet.now('a');
    first.answer = () => new Promise(() => {});
    for (let minute = 0; minute < 20; minute++) {
      first.spokeAt = clock.now();
      await clock.advance(10_000);
    }
    expect(first.isClosed).toBe(false);
  });

  test('that answers a health check with an error status is alive', async () => {
    const { fleet, clock } = await one();
    const first = fleet.now('a');
    first.answer = () => Promise.reject(new HostError('unreachable', 'a', 'it failed (HTTP 501)'));
    await clock.advance(300_000);
    expect(first.isClosed).toBe(false);
  });

  test('that let a call time out and misses health checks is not considered busy', async () => {
    const { fleet, target, clock } = await one();
    const first = fleet.now('a');
    first.answer = () => new Promise(() => {});
    first.atWork = true;
    target.report(first, new HostError('timeout', 'a', 'slow'));
    await clock.advance(40_000);
    expect(first.isClosed).toBe(true);
  });

  test('that is closed before a call was sent is replaced at once', async () => {
    const { fleet, target, clock } = await one();
    const first = fleet.now('a');
    target.report(first, new HostError('closed', 'a', 'gone', { isTerminal: true, hasRun: 'no' }));
    expect(target.isCurrent(first)).toBe(false);
    await clock.advance(250);
    expect(fleet.state('a')).toMatchObject({ state: 'connected' });
  });

  test('whose health checks hang is lost, and the reason says so', async () => {
    const { fleet, clock } = await one();
    fleet.now('a').answer = () => new Promise(() => {});
    fleet.set('a', hang);
    await clock.advance(30_000 + 3 * 10_000 + 2 * 1_000);
    expect(fleet.state('a')).toMatchObject({
      state: 'failed',
      cause: {
        code: 'timeout',
        message:
          'MCP server "a": the server stopped responding to health checks (3 in a row); check that it is still running',
      },
    });
  });

  test('with a transport error is checked soon', async () => {
    const { fleet, clock } = await one();
    fleet.now('a').trouble.emit();
    await clock.advance(100);
    expect(fleet.now('a').pings).toBe(1);
  });

  test('to a process has no health checks', async () => {
    const { fleet, clock } = await one(stdio);
    fleet.now('a').trouble.emit();
    await clock.advance(100_000);
    expect(fleet.now('a').pings).toBe(0);
  });
});

test('a server that sent Retry-After is not reconnected early by calls', async () => {
  const { fleet, target, clock } = await one();
  fleet.set('a', refuse('unreachable', { retryAfterMs: 20_000 }));
  fleet.now('a').die();
  await clock.advance(500);
  const dials = fleet.timesOf('a').length;
  await expect(target.connect()).rejects.toMatchObject({ code: 'unreachable', retryAfterMs: 19_750 });
  await clock.advance(19_000);
  await expect(target.connect()).rejects.toMatchObject({ code: 'unreachable' });
  expect(fleet.timesOf('a')).toHaveLength(dials);
  await clock.advance(2_000);
  expect(fleet.timesOf('a').length).toBeGreaterThan(dials);
});

test('a crashed process is restarted, and its last stderr lines are kept', async () => {
  const { fleet, clock } = await one(stdio);
  fleet.now('a').die();
  expect(fleet.state('a')).toMatchObject({
    state: 'failed',
    stderr: ['last words'],
    cause: { code: 'closed' },
    nextRetryAt: clock.now() + 250,
  });
  await clock.advance(250);
  expect(fleet.state('a')).toMatchObject({ state: 'connected' });
});

test('retry delays double up to the maximum', async () => {
  const fleet = new Fleet();
  fleet.set('a', refuse('unreachable'));
  fleet.servers.add({ a: http }, 'dynamic');
  await fleet.clock.advance(60_000);
  const times = fleet.timesOf('a');
  expect(times.slice(1).map((at, n) => at - (times[n] ?? 0))).toEqual([
    250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000,
  ]);
  expect(fleet.state('a')).toMatchObject({ state: 'failed', attempt: 9 });
  await fleet[Symbol.asyncDispose]();
  expect(fleet.clock.waiting).toBe(0);
});

test.each([
  ['an entry that is wrong', refuse('bad-config'), 'correct its entry'],
  [
    'a command that is not there',
    refuse('spawn-failed', { cause: { code: 'ENOENT' } }),
    'reconnect the server to try again',
  ],
])('%s is not retried, and the status says so', async (_, reply, words) => {
  const fleet = new Fleet();
  fleet.set('a', reply);
  fleet.servers.add({ a: stdio }, 'dynamic');
  await fleet.clock.advance(1_000_000);
  expect(fleet.dials).toHaveLength(1);
  expect(fleet.state('a')).toMatchObject({ state: 'failed', attempt: 1 });
  expect(fleet.state('a')).not.toHaveProperty('nextRetryAt');
  await expect(fleet.servers.target('a')?.connect()).rejects.toThrow(words);
});

test('a process that never starts is retried rarely, and at once for a call', async () => {
  const fleet = new Fleet();
  fleet.set('a', refuse('spawn-failed'));
  fleet.servers.add({ a: stdio }, 'dynamic');
  await fleet.clock.advance(60_000);
  const dials = fleet.dials.length;
  expect(dials).toBeGreaterThanOrEqual(6);
  await fleet.clock.advance(600_000);
  expect(fleet.dials.length - dials).toBeLessThanOrEqual(4);
  expect(fleet.state('a')).toHaveProperty('nextRetryAt');
  fleet.set('a', come);
  await fleet.servers.target('a')?.connect();
  expect(fleet.state('a')).toMatchObject({ state: 'connected' });
});

test.each([['while it is listed'], ['together with the list']])(
  'tools that change %s are not missed',
  async (when) => {
    let lists = 0;
    const fleet = new Fleet();
    fleet.lists = async () => {
      if (++lists > 1) return;
      if (when === 'while it is listed') fleet.now('a').changed.emit('tools');
      else queueMicrotask(() => fleet.now('a').changed.emit('tools'));
    };
    fleet.servers.add({ a: http }, 'dynamic');
    await fleet.clock.advance(1_000);
    expect(lists).toBeGreaterThanOrEqual(2);
  },
);

test('an invalid entry fails without being connected', async () => {
  const fleet = new Fleet();
  fleet.servers.add({ a: { command: 7 } as never, b: null as never, c: http }, 'dynamic');
  await fleet.clock.advance(100_000);
  expect(fleet.dials.map(({ name }) => name)).toEqual(['c']);
  expect(fleet.state('a')).toMatchObject({
    state: 'failed',
    cause: { code: 'bad-config', message: expect.stringContaining('"command", a non-empty string') },
  });
  expect(fleet.state('b')).toMatchObject({ state: 'failed', attempt: 1, cause: { code: 'bad-config' } });
});

test('an in-process server that fails is not retried', async () => {
  const fleet = new Fleet();
  fleet.set('a', refuse('unreachable'));
  fleet.servers.add({ a: { type: 'sdk', name: 'a' } }, 'sdk');
  await fleet.clock.advance(100_000);
  expect(fleet.dials).toHaveLength(1);
  expect(fleet.state('a')).not.toHaveProperty('nextRetryAt');
});

test('a server that does not list its tools in time fails, and its connection is closed', async () => {
  const fleet = new Fleet();
  fleet.lists = (signal) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  fleet.servers.add({ a: { ...http, connectTimeoutMs: 700 } as typeof http }, 'dynamic');
  await fleet.clock.advance(700);
  expect(fleet.state('a')).toMatchObject({
    state: 'failed',
    cause: { code: 'timeout', message: expect.stringContaining('within 700 ms') },
  });
  expect(fleet.now('a').isClosed).toBe(true);
});

test('a flapping process is restarted at growing intervals', async () => {
  const { fleet, target, clock } = await one(stdio);
  for (let life = 0; life < 8; life++) {
    await clock.advance(300_000);
    // The delay is over, and the new connection closes at once.
    if (fleet.state('a')?.state === 'connected') fleet.now('a').die();
  }
  const lives = fleet.timesOf('a');
  expect(lives.length).toBeLessThanOrEqual(9);
  const before = fleet.dials.length;
  for (let n = 0; n < 100; n++) {
    await clock.advance(200);
    if (fleet.state('a')?.state === 'connected') fleet.now('a').die();
    await target.connect().catch(() => {});
  }
  // A call reconnects at once after the first lost connection; after that, the backoff applies to calls too.
  expect(fleet.dials.length - before).toBeLessThanOrEqual(6);
  await expect(target.connect()).rejects.toThrow(/repeatedly fail shortly.* retrying in \d+ s/);
});

test('servers of one name in several sub-agents share a rate limit', async () => {
  const dialLimits = new SharedConnectLimits(new FakeClock());
  const fleets = Array.from({ length: 12 }, () => new Fleet({ connectLimits: dialLimits }));
  for (const fleet of fleets) {
    fleet.set('a', refuse('spawn-failed'));
    fleet.servers.add({ a: stdio }, 'dynamic');
    await fleet.clock.advance(0);
  }
  expect(fleets.flatMap(({ dials }) => dials)).toHaveLength(8);
  await Promise.all(fleets.map((fleet) => fleet[Symbol.asyncDispose]()));
});

test('retryFailed() retries remote servers at most once every 10 s', async () => {
  const fleet = new Fleet();
  fleet.set('a', refuse('unreachable'));
  fleet.servers.add({ a: http }, 'dynamic');
  await fleet.clock.advance(30_000);
  const before = fleet.dials.length;
  for (let turn = 0; turn < 50; turn++) {
    void fleet.servers.retryFailed();
    await fleet.clock.advance(100);
  }
  expect(fleet.dials.length - before).toBe(1);
  await fleet.clock.advance(6_000);
  void fleet.servers.retryFailed();
  await fleet.clock.advance(0);
  expect(fleet.dials.length - before).toBe(2);
});

describe('when one server has reconnected', () => {
  test('other failed servers are retried at once, but not repeatedly', async () => {
    const fleet = new Fleet();
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) fleet.set(name, refuse('unreachable'));
    fleet.servers.add(Object.fromEntries(names.map((name) => [name, http])), 'dynamic');
    await fleet.clock.advance(20_000);
    for (const name of names.slice(1)) fleet.set(name, come);
    await fleet.clock.advance(0);
    expect(fleet.state('b')).toMatchObject({ state: 'failed' });
    fleet.set('a', come);
    void fleet.servers.reconnect('a');
    await fleet.clock.advance(1);
    expect(names.map((name) => fleet.state(name)?.state)).toEqual(names.map(() => 'connected'));
    fleet.set('d', refuse('unreachable'));
    fleet.now('d').die();
    await fleet.clock.advance(5_000);
    const dials = fleet.timesOf('d').length;
    fleet.now('a').die();
    await fleet.clock.advance(250);
    expect(fleet.state('a')).toMatchObject({ state: 'connected' });
    expect(fleet.timesOf('d')).toHaveLength(dials);
  });

  test('local processes are not retried early', async () => {
    const fleet = new Fleet();
    fleet.set('p', refuse('spawn-failed'));
    fleet.servers.add({ a: http, p: stdio }, 'dynamic');
    await fleet.clock.advance(5_000);
    const dials = fleet.timesOf('p').length;
    fleet.now('a').die();
    await fleet.clock.advance(250);
    expect([fleet.state('a')?.state, fleet.timesOf('p').length]).toEqual(['connected', dials]);
  });
});

test('after a suspend failed servers are retried and connected ones are checked', async () => {
  const fleet = new Fleet();
  fleet.set('b', refuse('unreachable', { retryAfterMs: 100_000 }));
  fleet.servers.add({ a: http, b: http }, 'dynamic');
  await fleet.clock.advance(20_000);
  expect(fleet.timesOf('b')).toHaveLength(1);
  fleet.set('b', come);
  fleet.clock.sleep(3_600_000);
  await fleet.clock.advance(10_001);
  expect(fleet.state('b')).toMatchObject({ state: 'connected' });
  expect(fleet.now('a').pings).toBe(1);
});

test('two hundred servers that lose the network reconnect twenty at a time', async () => {
  let dialling = 0;
  let most = 0;
  let drawn = 0;
  const fleet = new Fleet({ random: () => (drawn++ * 0.618) % 1 });
  const names = Array.from({ length: 200 }, (_, n) => `s${n}`);
  const slow = async () => {
    most = Math.max(most, ++dialling);
    await new Promise<void>((resolve) => fleet.clock.after(50, resolve));
    dialling--;
  };
  for (const name of names) fleet.set(name, slow);
  fleet.servers.add(Object.fromEntries(names.map((name) => [name, http])), 'dynamic');
  await fleet.clock.advance(500);
  expect(fleet.connections).toHaveLength(200);
  for (const connection of [...fleet.connections]) connection.die();
  await fleet.clock.advance(1_500);
  expect([fleet.connections.length, most]).toEqual([400, 20]);
});

describe('what a server offers', () => {
  test('stays for five seconds after a lost connection', async () => {
    const { fleet, clock } = await one();
    fleet.now('a').die();
    await clock.advance(250);
    expect(fleet.state('a')).toMatchObject({ state: 'connected' });
    fleet.set('a', hang);
    fleet.now('a').die();
    await clock.advance(4_999);
    expect([...fleet.servers.tools.keys()]).toEqual(['a']);
    const { version } = fleet.servers;
    await clock.advance(1);
    expect([...fleet.servers.tools.keys()]).toEqual([]);
    expect(fleet.servers.version).toBeGreaterThan(version);
  });

  test.each([
    ['turned off', (fleet: Fleet) => void fleet.servers.toggle('a', 'disabled')],
    [
      'refused',
      (fleet: Fleet) =>
        fleet.servers.target('a')?.report(fleet.now('a'), new HostError('unauthorized', 'a', 'x')),
    ],
  ])('is dropped at once if it is %s', async (_, end) => {
    const { fleet } = await one();
    end(fleet);
    expect([...fleet.servers.tools.keys()]).toEqual([]);
  });

  test('is listed once per burst of changes, and invalid tools are reported once', async () => {
    const warnings: string[] = [];
    const onWarning = (key: string, message: string) => void warnings.push(`${key}: ${message}`);
    const { fleet, clock } = await one(http, { onWarning });
    const it = fleet.now('a');
    it.tools = [
      ...it.tools,
      { name: 'more', inputSchema: { type: 'object' } },
      { name: 'odd', inputSchema: 7 },
    ];
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 1_000; n++) it.changed.emit('tools');
      const listed = fleet.servers.listed();
      await clock.advance(50);
      await listed;
    }
    expect(it.lists).toBe(4);
    expect(fleet.state('a')).toMatchObject({ tools: 2 });
    expect(fleet.servers.target('a')?.tool('more')).toMatchObject({ name: 'more' });
    expect(warnings).toEqual(['a: tool "odd": "inputSchema" must be an object; not offered']);
  });
});
