import { describe, expect, test } from 'vitest';
import { HostError } from '../../../src/mcp/errors/host-error.ts';
import { type CheckedConnection, HealthChecks } from '../../../src/mcp/servers/health-check.ts';
import { FakeClock } from './support/fake-clock.ts';

const FAILURE = new HostError('unreachable', 's', 'gone', { isTerminal: true });
const alive = async () => {};
const dead = () => Promise.reject(FAILURE);

function ward(everyMs = 30_000) {
  const clock = new FakeClock();
  const since = clock.now();
  let woken = 0;
  const heartbeat = new HealthChecks(everyMs, clock, () => woken++);
  const patient = (answer: CheckedConnection['ping'] = alive) => {
    const it = {
      answer,
      asked: [] as number[],
      beats: [] as unknown[],
      ping(signal: AbortSignal) {
        it.asked.push(clock.now() - since);
        return it.answer(signal);
      },
      checked: (failure?: unknown) => void it.beats.push(failure),
    };
    heartbeat.watch(it);
    return it;
  };
  return { clock, heartbeat, patient, woken: () => woken };
}

describe('a server that says nothing', () => {
  test('is checked every thirty seconds, but not while it answers calls', async () => {
    const { clock, heartbeat, patient } = ward();
    const it = patient();
    await clock.advance(65_000);
    expect(it.asked).toEqual([30_000, 60_000]);
    await clock.advance(10_000);
    heartbeat.seen(it);
    await clock.advance(30_000);
    expect(it.asked).toEqual([30_000, 60_000, 105_000]);
    expect(it.beats).toEqual([undefined, undefined, undefined]);
  });

  test('is checked again after a second if it did not answer', async () => {
    const { clock, patient } = ward();
    const it = patient(dead);
    await clock.advance(32_500);
    expect(it.asked).toEqual([30_000, 31_000, 32_000]);
    expect(it.beats).toEqual([FAILURE, FAILURE, FAILURE]);
    it.answer = alive;
    await clock.advance(500 + 29_999);
    expect(it.asked.slice(3)).toEqual([33_000]);
  });

  test('has ten seconds to answer, then the check is aborted', async () => {
    const { clock, patient } = ward();
    let asked: AbortSignal | undefined;
    const it = patient((signal) => {
      asked = signal;
      return new Promise(() => {});
    });
    await clock.advance(39_999);
    expect([it.beats, asked?.aborted]).toEqual([[], false]);
    await clock.advance(1);
    expect(it.beats).toMatchObject([{ message: 'the health check timed out' }]);
    expect(asked?.aborted).toBe(true);
  });

  test('is alive if it refuses the check', async () => {
    const { clock, patient } = ward();
    const it = patient(() => Promise.reject(Object.assign(new Error('Method not found'), { code: -32601 })));
    await clock.advance(30_000);
    expect(it.beats).toEqual([undefined]);
  });

  test('is never checked with an interval of 0', async () => {
    const { clock, heartbeat, patient } = ward(0);
    const it = patient();
    heartbeat.suspect(it);
    await clock.advance(1_000_000);
    expect([it.asked, clock.waiting]).toEqual([[], 0]);
  });

  test('is not checked after unwatch, and a late answer is ignored', async () => {
    const { clock, heartbeat, patient } = ward();
    const it = patient(() => new Promise(() => {}));
    await clock.advance(30_000);
    heartbeat.unwatch(it);
    await clock.advance(100_000);
    expect([it.asked, it.beats]).toEqual([[30_000], []]);
    heartbeat.end();
    expect(clock.waiting).toBe(0);
  });
});

test('a suspected connection is checked soon, once per burst', async () => {
  const { clock, heartbeat, patient } = ward();
  const it = patient();
  for (let n = 0; n < 100; n++) heartbeat.suspect(it);
  await clock.advance(99);
  expect(it.asked).toEqual([]);
  await clock.advance(1);
  expect(it.asked).toEqual([100]);
  // A failed health check also reports a transport error; the error does not bring the next check forward.
  it.answer = dead;
  heartbeat.suspect(it);
  await clock.advance(100);
  heartbeat.suspect(it);
  await clock.advance(999);
  expect(it.asked).toEqual([100, 200]);
});

test('after a suspend every connection is checked at once', async () => {
  const { clock, patient, woken } = ward();
  const all = [patient(), patient(), patient()];
  await clock.advance(20_000);
  clock.sleep(3_600_000);
  await clock.advance(10_000);
  expect(all.map(({ asked }) => asked)).toEqual([[3_630_000], [3_630_000], [3_630_000]]);
  expect(woken()).toBe(1);
  await clock.advance(300_000);
  expect(woken()).toBe(1);
});

test('a hundred servers share one timer', async () => {
  const { clock, patient } = ward();
  for (let n = 0; n < 100; n++) patient();
  expect(clock.waiting).toBe(1);
});
