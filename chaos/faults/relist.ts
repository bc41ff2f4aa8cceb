import { setTimeout as sleep } from 'node:timers/promises';
import type { Session } from '../contender.ts';
import type { Faults } from '../fault.ts';
import { answers, check, eventually, outcome, textOf } from '../judge.ts';

/** Faults in changing tool lists. */
export const relist: Faults = {
  'early-list-changed': {
    holds: 'a change notification right after the first list is noticed: the new tool is listed within 2.5 s',
    async play(stage) {
      const session = stage.open({
        a: stage.stdio('changed-with-first-list'),
        b: stage.stdio('changed-after-first-list'),
      });
      for (const server of ['a', 'b']) {
        await answers(6_000, 'connecting', session.ready(server));
        await eventually(2_500, `the new tool of "${server}"`, async () =>
          check((await session.tools(server)).includes('late'), 'it is not listed'),
        );
      }
      return undefined;
    },
  },
  'relist-storm': {
    holds: 'a server whose list changes all the time delays a listing by at most 2 s',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('relist-storm'), good: stage.stdio('healthy') });
      await answers(6_000, 'connecting', Promise.all([session.ready('a'), session.ready('good')]));
      for (let i = 0; i < 3; i++) {
        await sleep(300);
        const both = Promise.all([session.tools('a'), session.tools('good')]);
        const [tools, others] = await answers(2_000, 'listing', both);
        check(tools.includes('echo') && others.includes('echo'), 'a tool is not listed');
      }
      await echo(session);
      const lists = stage.events.count('tools/list');
      check(lists <= 100, `${lists} lists were asked for`);
      return `${lists} lists asked for`;
    },
  },
  'relist-hang': {
    holds:
      'a server that never answers for its new list keeps no list of another waiting for more than 2 s; it can be called, and its own list ends at the limit',
    async play(stage) {
      const targets = { a: stage.stdio('relist-hang'), good: stage.stdio('healthy') };
      const session = stage.open(targets, { connectMs: 3_000 });
      await answers(6_000, 'connecting', Promise.all([session.ready('a'), session.ready('good')]));
      await sleep(700);
      const others = await answers(2_000, "listing another's tools", session.tools('good'));
      check(others.includes('echo'), "another's tool is not listed");
      const came = await outcome(4_000, session.tools('a'));
      check(came.kind !== 'silent', 'nothing came of listing within 4 s');
      await echo(session);
      return came.kind === 'rejected' ? came.reason : came.kind;
    },
  },
};

async function echo(session: Session): Promise<void> {
  const call = session.call('a', 'echo', { text: 'hi' }, { timeoutMs: 2_000 });
  const said = textOf(await answers(3_000, 'a call', call));
  check(said === 'hi', `the answer is "${said}"`);
}
