import { expect, test, vi } from 'vitest';
import { killOnExit } from '../../src/control/kill-on-exit.ts';

test('what is alive when this process exits is killed, what has ended is not', () => {
  const kills = [vi.fn(), vi.fn()] as const;
  const [forget, forgetOther] = kills.map((kill) => killOnExit(kill));
  forget?.();
  forget?.();
  process.emit('exit', 0);
  forgetOther?.();
  process.emit('exit', 0);
  expect(kills.map((kill) => kill.mock.calls.length)).toEqual([0, 1]);
});

test('a kill that throws spares nobody else', () => {
  const kill = vi.fn();
  const refuse = () => {
    throw new Error('not mine to kill');
  };
  const forgets = [refuse, kill].map((it) => killOnExit(it));
  process.emit('exit', 0);
  for (const forget of forgets) forget();
  expect(kill).toHaveBeenCalledOnce();
});

test('any number of agents share one listener, and leave none behind', () => {
  const before = process.listenerCount('exit');
  const forgets = Array.from({ length: 50 }, () => killOnExit(() => {}));
  expect(process.listenerCount('exit')).toBe(before + 1);
  for (const forget of forgets) forget();
  expect(process.listenerCount('exit')).toBe(before);
});
