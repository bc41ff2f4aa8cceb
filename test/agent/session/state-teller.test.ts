import { expect, test } from 'vitest';
import { type SessionState, StateTeller } from '../../../src/agent/session/state-teller.ts';

function teller() {
  const told: SessionState[] = [];
  return { told, state: new StateTeller((it) => told.push(it)) };
}

test('every change is told once', () => {
  const { state, told } = teller();
  for (const it of ['idle', 'running', 'running', 'idle', 'idle'] as const) state.enter(it);
  expect(told).toEqual(['running', 'idle']);
});

test('two questions at once are one wait; it ends with the last of them, also when it fails', async () => {
  const { state, told } = teller();
  state.enter('running');
  const one = Promise.withResolvers<number>();
  const two = Promise.withResolvers<number>();
  const waits = [state.waiting(one.promise), state.waiting(two.promise)];
  one.resolve(1);
  expect(await waits[0]).toBe(1);
  expect(state.state).toBe('requires_action');
  two.reject(new Error('gone'));
  await expect(waits[1]).rejects.toThrow('gone');
  expect(told).toEqual(['running', 'requires_action', 'running']);
});

test('a question outside a turn, or one that outlives it, does not make the session busy', async () => {
  const { state, told } = teller();
  await state.waiting(Promise.resolve());
  state.enter('running');
  const late = Promise.withResolvers<void>();
  const waiting = state.waiting(late.promise);
  state.enter('idle');
  late.resolve();
  await waiting;
  expect(told).toEqual(['running', 'requires_action', 'idle']);
});
