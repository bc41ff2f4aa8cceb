import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gate } from '../../support/gate.ts';
import { Fleet, hang, http, refuse, stdio } from './support/fleet.ts';

const open = (fleet: Fleet) => fleet.connections.filter(({ isClosed }) => !isClosed).length;

describe('wishes', () => {
  let entries = 0;
  const WISHES = {
    reconnect: (it: Fleet) => it.servers.reconnect('a'),
    connect: (it: Fleet) => it.servers.connect('a'),
    'turn off': (it: Fleet) => it.servers.toggle('a', 'disabled'),
    'turn on': (it: Fleet) => it.servers.toggle('a', 'enabled'),
    call: (it: Fleet) =>
      it.servers
        .target('a')
        ?.connect()
        .catch(() => {}),
    replace: (it: Fleet) => it.servers.replace({ a: { ...http, headers: { n: String(++entries) } } }),
    keep: (it: Fleet) => it.servers.replace({ a: it.servers.all.get('a')?.entry ?? http }),
    crash: async (it: Fleet) => it.connections.at(-1)?.die(),
    'wait a little': (it: Fleet) => it.clock.advance(30),
    wait: (it: Fleet) => it.clock.advance(700),
  };

  test('in any order and at any time: the last one wins, and nothing stays open', async () => {
    const names = fc.constantFrom(...(Object.keys(WISHES) as (keyof typeof WISHES)[]));
    const steps = fc.array(fc.tuple(names, fc.boolean()), { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(3), async (wishes, slowness) => {
        const fleet = new Fleet();
        fleet.set('a', () => new Promise((resolve) => fleet.clock.after(slowness * 20, resolve)));
        fleet.servers.add({ a: http }, 'dynamic');
        const under: Promise<unknown>[] = [];
        for (const [wish, isAwaited] of wishes) {
          const done = Promise.resolve(WISHES[wish](fleet));
          under.push(done);
          if (isAwaited) await fleet.clock.advance(1);
        }
        await fleet.clock.advance(400_000);
        await Promise.all(under);
        const isOff = wishes.reduce((off, [wish]) => nextOff(off, wish), false);
        expect(fleet.state('a')?.state).toBe(isOff ? 'disabled' : 'connected');
        expect(open(fleet)).toBe(isOff ? 0 : 1);
        await fleet[Symbol.asyncDispose]();
        expect([open(fleet), fleet.clock.waiting]).toEqual([0, 0]);
      }),
      { numRuns: 150 },
    );
  });

  function nextOff(isOff: boolean, wish: keyof typeof WISHES): boolean {
    if (wish === 'turn off') return true;
    // A changed entry makes a new server, which is not disabled.
    return wish === 'turn on' || wish === 'reconnect' || wish === 'replace' ? false : isOff;
  }
});

test('end() aborts a running attempt, a queued one, and a pending retry', async () => {
  const fleet = new Fleet({ concurrency: { local: 1 } });
  fleet.set('a', hang);
  fleet.set('c', refuse('unreachable'));
  fleet.servers.add({ a: stdio, b: stdio, c: http }, 'dynamic');
  await fleet.clock.advance(100);
  expect(['a', 'b', 'c'].map((it) => fleet.state(it)?.state)).toEqual(['connecting', 'pending', 'failed']);
  const waiting = expect(fleet.servers.target('a')?.connect()).rejects.toMatchObject({
    code: 'closed',
    message: 'MCP server "a": the server was removed',
  });
  await fleet.servers[Symbol.asyncDispose]();
  await waiting;
  await fleet.clock.advance(100_000);
  expect([fleet.dials.length, fleet.clock.waiting]).toEqual([2, 0]);
});

test('disabling a server rejects callers that wait for it', async () => {
  const fleet = new Fleet();
  fleet.set('a', hang);
  fleet.servers.add({ a: http }, 'dynamic');
  await fleet.clock.advance(0);
  const waiting = expect(fleet.servers.target('a')?.connect()).rejects.toMatchObject({ code: 'disabled' });
  await fleet.servers.toggle('a', 'disabled');
  await waiting;
});

describe('those who call', () => {
  test('of an idle server connect it', async () => {
    const fleet = new Fleet();
    fleet.servers.add({ a: { ...http, start: 'on-demand' } as typeof http, b: http }, 'dynamic');
    await fleet.clock.advance(100_000);
    expect(fleet.dials.map(({ name }) => name)).toEqual(['b']);
    const target = fleet.servers.target('a');
    const [one, two] = await Promise.all([target?.connect(), target?.connect()]);
    expect(one).toBe(fleet.now('a'));
    expect(two).toBe(one);
    expect(fleet.timesOf('a')).toEqual([100_000]);
  });

  test('of a server that was just lost reconnect it without waiting for the backoff', async () => {
    const fleet = new Fleet({ random: () => 0.999 });
    fleet.servers.add({ a: http }, 'dynamic');
    await fleet.clock.advance(0);
    const first = fleet.now('a');
    first.die();
    const connection = await fleet.servers.target('a')?.connect();
    expect(connection).not.toBe(first);
    expect(fleet.timesOf('a')).toEqual([0, 0]);
  });

  test('of a server that cannot be connected get the reason after the attempt', async () => {
    const fleet = new Fleet();
    fleet.set('a', refuse('unreachable'));
    fleet.servers.add({ a: http }, 'dynamic');
    await expect(fleet.servers.target('a')?.connect()).rejects.toMatchObject({
      name: 'HostError',
      code: 'unreachable',
      server: 'a',
      hasRun: 'no',
      message: 'MCP server "a": no; retrying in 1 s',
    });
    expect(fleet.dials).toHaveLength(1);
  });

  test('that abort are released at once; the attempt continues', async () => {
    const fleet = new Fleet();
    const door = gate();
    fleet.set('a', () => door.pass());
    fleet.servers.add({ a: http }, 'dynamic');
    const stop = new AbortController();
    const target = fleet.servers.target('a');
    const waiting = expect(target?.connect(stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
    await door.reached;
    stop.abort(new Error('enough'));
    await waiting;
    await expect(target?.connect(stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
    door.open();
    expect(await target?.connect()).toBe(fleet.now('a'));
  });

  test('of a removed server get an error, and nothing is connected', async () => {
    const fleet = new Fleet();
    fleet.servers.add({ a: { ...http, start: 'on-demand' } as typeof http }, 'dynamic');
    const target = fleet.servers.target('a');
    await fleet.servers.replace({});
    await expect(target?.connect()).rejects.toMatchObject({ code: 'closed' });
    await fleet.clock.advance(1_000);
    expect(fleet.dials).toEqual([]);
  });

  test('of an unknown server get no target', () => {
    expect(new Fleet().servers.target('a')).toBeUndefined();
  });
});

test('a connection that closes as soon as it is made does not count as connected', async () => {
  const fleet = new Fleet();
  fleet.servers.add({ a: http }, 'dynamic');
  // The server lists its tools, and its connection closes before any listener is added.
  while (fleet.connections[0]?.lists !== 1) await Promise.resolve();
  const first = fleet.now('a');
  first.die();
  await fleet.clock.advance(0);
  expect(fleet.state('a')).toMatchObject({ state: 'failed', attempt: 1, cause: { code: 'closed' } });
  await fleet.clock.advance(500);
  expect(fleet.state('a')).toMatchObject({ state: 'connected' });
});
