import { expect, test } from 'vitest';
import { StateTeller } from '../../../src/agent/session/state-teller.ts';
import { TurnQueue } from '../../../src/agent/session/turn-queue.ts';
import type { UserLine } from '../../../src/agent/session/user-line.ts';

const line = (uuid: string, wantsTurn = true): UserLine => ({ content: [], uuid, wantsTurn });

/** A queue whose turns last until they are aborted or told to end. */
function queue() {
  const log: string[] = [];
  let end = () => {};
  const turns = new TurnQueue(
    async ({ uuid }, { signal }) => {
      log.push(`${uuid} began`);
      await new Promise<void>((resolve) => {
        end = resolve;
        signal.addEventListener('abort', () => resolve());
      });
      log.push(`${uuid} ${signal.aborted ? 'aborted' : 'ended'}`);
    },
    new StateTeller((state) => log.push(state)),
  );
  return { turns, log, end: () => end() };
}

test('one after the other; the state is told once for all', async () => {
  const { turns, log, end } = queue();
  turns.push(line('a'));
  turns.push(line('b', false));
  end();
  await Promise.resolve();
  const done = turns.done();
  while (!log.includes('b began')) await Promise.resolve();
  end();
  await done;
  expect(log).toEqual(['running', 'a began', 'a ended', 'b began', 'b ended', 'idle']);
});

test('a message that wants no answer does not make the session busy', async () => {
  const { turns, log, end } = queue();
  turns.push(line('a', false));
  end();
  await turns.done();
  expect(log).toEqual(['a began', 'a ended']);
});

test('interrupting ends one, ending ends all', async () => {
  const { turns, log } = queue();
  for (const it of ['a', 'b', 'c']) turns.push(line(it));
  expect(turns.interrupt()).toEqual(['b', 'c']);
  while (!log.includes('b began')) await Promise.resolve();
  turns.end();
  turns.push(line('d'));
  await turns.done();
  expect(log).toEqual(['running', 'a began', 'a aborted', 'b began', 'b aborted', 'idle']);
  expect(turns.interrupt()).toEqual([]);
});
