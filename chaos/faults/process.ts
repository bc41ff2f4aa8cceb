import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, Faults } from '../fault.ts';
import { answers, check, textOf } from '../judge.ts';
import { Memory } from '../memory.ts';

/** Child processes of servers, and processes left behind. */
export const processes: Faults = {
  'ignores-sigterm': leavesNothing('ignores-sigterm', 'a server that ignores the end of stdin and SIGTERM'),
  'ignores-stdin-end': leavesNothing('ignores-stdin-end', 'a server that ignores the end of stdin'),
  grandchildren: {
    holds: 'close() also ends the processes that the server started',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('grandchildren') });
      await answers(6_000, 'connecting', session.ready('a'));
      const before = stage.events.count('started');
      await session.call('a', 'hire', {}, TWO);
      await stage.events.saw('started', 4_000, before + 1);
      await answers(8_000, 'close()', session.close());
      const left = await stage.events.left(3_000);
      check(left === 0, `${left} processes are left`);
      return undefined;
    },
  },
  'close-amid-calls': {
    holds: 'close() during fifty calls ends each of them with a reason and leaves no process',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('hang-at-call') });
      await answers(6_000, 'connecting', session.ready('a'));
      const calls = Array.from({ length: 50 }, () => session.call('a', 'hang', {}, { timeoutMs: 15_000 }));
      const ended = Promise.allSettled(calls);
      await stage.events.saw('called', 4_000, 50);
      await answers(8_000, 'close()', session.close());
      const outcomes = await answers(1_000, 'the calls', ended);
      check(
        outcomes.every(({ status }) => status === 'rejected'),
        'a call was answered',
      );
      const left = await stage.events.left(3_000);
      check(left === 0, `${left} processes are left`);
      return undefined;
    },
  },
  'host-killed': {
    holds:
      'kill -9 of the program leaves no server process after 5 s, though the server ignores the end of stdin',
    async play(stage) {
      const target = stage.stdio('ignores-stdin-end');
      const pid = await stage.openElsewhere({ a: target, b: target });
      check(stage.events.alive().length >= 2, 'the servers are not there');
      process.kill(pid, 'SIGKILL');
      await sleep(5_000);
      const left = stage.events.alive().length;
      check(left === 0, `${left} processes are left after 5 s`);
      return undefined;
    },
  },
  'env-leak': {
    holds: "the program's secrets do not reach the server; what its entry sets does, and PATH",
    async play(stage) {
      const secret = randomUUID();
      for (const name of ['ANTHROPIC_API_KEY', 'AWS_SECRET_ACCESS_KEY', 'MY_PASSWORD']) {
        process.env[name] = secret;
      }
      const session = stage.open({ a: stage.stdio('tells-environment', { env: { CHAOS_GIVEN: 'yes' } }) });
      await answers(6_000, 'connecting', session.ready('a'));
      const told = textOf(await session.call('a', 'environment', {}, TWO));
      check(!told.includes(secret), 'the server has the secret');
      const environment = JSON.parse(told) as Record<string, string>;
      check(environment.CHAOS_GIVEN === 'yes', 'what the entry sets is not there');
      check(environment.PATH !== undefined, 'PATH is not there');
      return `${Object.keys(environment).length} variables`;
    },
  },
  'stderr-flood': {
    holds:
      'a server that floods stderr is neither blocked nor hoarded: calls work, memory grows by 200 MiB at most',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('stderr-flood') });
      await answers(6_000, 'connecting', session.ready('a'));
      using memory = new Memory();
      const kib = (stage.isQuick ? 16 : 64) * 1024;
      await answers(12_000, 'the call', session.call('a', 'flood', { kib }, { timeoutMs: 12_000 }));
      check(textOf(await session.call('a', 'echo', { text: 'hi' }, TWO)) === 'hi', 'the next call is wrong');
      check(memory.grownMib <= 200, `memory grew by ${memory.grownMib} MiB`);
      return `memory grew by ${memory.grownMib} MiB`;
    },
  },
};

const TWO = { timeoutMs: 2_000 };

function leavesNothing(behaviour: string, who: string): Fault {
  return {
    holds: `close() resolves, and ${who} is gone`,
    async play(stage) {
      const session = stage.open({ a: stage.stdio(behaviour) });
      await answers(10_000, 'connecting', session.ready('a'));
      const since = performance.now();
      await answers(8_000, 'close()', session.close());
      const left = await stage.events.left(1_000);
      check(left === 0, `${left} processes are left 1 s after close()`);
      return `gone after ${Math.round(performance.now() - since)} ms`;
    },
  };
}
