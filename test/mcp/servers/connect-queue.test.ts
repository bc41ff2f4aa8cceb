import { describe, expect, test } from 'vitest';
import { CONNECT_CONCURRENCY, ConnectQueue, type Lane } from '../../../src/mcp/servers/connect-queue.ts';
import { FakeClock } from './support/fake-clock.ts';

const never = new AbortController().signal;

function queue(limits = {}) {
  const clock = new FakeClock();
  const it = new ConnectQueue({ ...CONNECT_CONCURRENCY, ...limits }, clock);
  const since = clock.now();
  const begun: { id: string; at: number }[] = [];
  /** Runs an attempt that takes `ms` milliseconds. */
  const dial = (id: string, lane: Lane, ms: number, signal = never) =>
    it.run(lane, signal, () => {
      begun.push({ id, at: clock.now() - since });
      return new Promise<string>((resolve) => clock.after(ms, () => resolve(id)));
    });
  return { clock, dial, begun };
}

const many = (count: number) => Array.from({ length: count }, (_, n) => n);

describe('dials', () => {
  test('run three of processes and twenty of the network at a time, both at once (R159)', async () => {
    const { clock, dial, begun } = queue();
    for (const n of many(30)) void dial(`remote ${n}`, 'remote', 100);
    for (const n of many(4)) void dial(`local ${n}`, 'local', 100);
    await clock.advance(0);
    expect(begun.filter(({ id }) => id.startsWith('remote'))).toHaveLength(20);
    expect(begun.filter(({ id }) => id.startsWith('local'))).toHaveLength(3);
    await clock.advance(100);
    expect(begun).toHaveLength(34);
  });

  test('start in order, 100 servers in five batches', async () => {
    const { clock, dial, begun } = queue();
    for (const n of many(100)) void dial(String(n), 'remote', 100);
    await clock.advance(1_000);
    expect(begun.map(({ id }) => id)).toEqual(many(100).map(String));
    expect(begun.map(({ at }) => at)).toEqual(many(100).map((n) => Math.floor(n / 20) * 100));
  });

  test('that take longer than two seconds stop counting and continue', async () => {
    const { clock, dial, begun } = queue({ local: 1 });
    const silent = dial('silent', 'local', 60_000);
    void dial('next', 'local', 10);
    await clock.advance(1_999);
    expect(begun).toHaveLength(1);
    await clock.advance(1);
    expect(begun).toEqual([
      { id: 'silent', at: 0 },
      { id: 'next', at: 2_000 },
    ]);
    await clock.advance(60_000);
    expect(await silent).toBe('silent');
    // The place of the attempt is not given away twice.
    for (const n of many(2)) void dial(String(n), 'local', 10);
    await clock.advance(5);
    expect(begun).toHaveLength(3);
  });

  test('one that hangs among thirty delays the others by at most two seconds', async () => {
    const { clock, dial, begun } = queue({ remote: 1, yieldAfterMs: 2_000 });
    void dial('hung', 'remote', 10_000_000);
    for (const n of many(29)) void dial(String(n), 'remote', 50);
    await clock.advance(2_000 + 29 * 50);
    expect(begun.at(-1)).toEqual({ id: '28', at: 2_000 + 28 * 50 });
  });

  test('of in-process servers are not limited', async () => {
    const { clock, dial, begun } = queue({ local: 1, remote: 1 });
    for (const n of many(50)) void dial(String(n), undefined, 10);
    await clock.advance(0);
    expect(begun).toHaveLength(50);
    expect(clock.waiting).toBe(50);
  });

  test('that are aborted while queued are not started and free their place', async () => {
    const { clock, dial, begun } = queue({ local: 1 });
    const stop = new AbortController();
    void dial('first', 'local', 100);
    const second = dial('second', 'local', 100, stop.signal);
    void dial('third', 'local', 100);
    const refused = expect(second).rejects.toMatchObject({ name: 'AbortError' });
    stop.abort();
    await refused;
    await expect(dial('fourth', 'local', 1, stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
    await clock.advance(100);
    expect(begun).toEqual([
      { id: 'first', at: 0 },
      { id: 'third', at: 100 },
    ]);
  });

  test('that fail free their place', async () => {
    const { clock, dial, begun } = queue({ local: 1 });
    const it = new ConnectQueue({ ...CONNECT_CONCURRENCY, local: 1 }, clock);
    await expect(it.run('local', never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await it.run('local', never, async () => 'yes')).toBe('yes');
    expect(clock.waiting).toBe(0);
    await Promise.all([dial('a', 'local', 0), clock.advance(1)]);
    expect(begun).toHaveLength(1);
  });
});
