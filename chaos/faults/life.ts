import { setTimeout as sleep } from 'node:timers/promises';
import type { Faults } from '../fault.ts';
import { answers, check, eventually, outcome, rejects, textOf } from '../judge.ts';

const GONE = /clos|exit|end|crash|lost|die|disconnect|terminat|gone/i;

/** Start, life and crash of server processes. */
export const life: Faults = {
  'crash-mid-call': {
    holds: 'the call rejects at once with a reason; the next calls work again',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('crash-mid-call') });
      await answers(6_000, 'connecting', session.ready('a'));
      const reason = await rejects(2_000, 'the call', session.call('a', 'crash', {}, TEN), GONE);
      await eventually(6_000, 'calling again', async () => textOf(await session.call('a', 'echo', HI, TWO)));
      return reason;
    },
  },
  'crash-at-start': {
    holds: 'connecting fails in time with the output of the process or how it exited; other servers work',
    remains: ['bad'],
    async play(stage) {
      const session = stage.open({ bad: stage.stdio('crash-at-start'), good: stage.stdio('healthy') });
      const reason = await rejects(6_000, 'connecting', session.ready('bad'), /GITHUB_TOKEN|exit|code 1/i);
      await answers(6_000, 'the other server', session.call('good', 'echo', HI, TWO));
      return reason;
    },
  },
  'missing-command': {
    holds: 'the reason names the missing command; other servers work',
    remains: ['bad'],
    async play(stage) {
      const bad = { kind: 'stdio', command: 'no-such-command', args: [], env: {} } as const;
      const session = stage.open({ bad, good: stage.stdio('healthy') });
      const reason = await rejects(6_000, 'connecting', session.ready('bad'), /no-such-command/);
      await answers(6_000, 'the other server', session.call('good', 'echo', HI, TWO));
      return reason;
    },
  },
  'crash-loop': {
    holds:
      'a server that always dies is restarted a few times, not on and on; other servers work all the while',
    remains: ['bad'],
    async play(stage) {
      const session = stage.open({ bad: stage.stdio('crash-loop'), good: stage.stdio('healthy') });
      await answers(6_000, 'the other server', session.ready('good'));
      const until = performance.now() + (stage.isQuick ? 4_000 : 8_000);
      while (performance.now() < until) {
        await answers(1_500, 'the other server', session.call('good', 'echo', HI, TWO));
        await sleep(100);
      }
      const starts = stage.events.count('started') - 1;
      check(starts <= 12, `it was started ${starts} times`);
      const came = await outcome(4_000, session.call('bad', 'echo', HI, TWO));
      check(came.kind !== 'silent', 'nothing came of a call');
      return `started ${starts} times`;
    },
  },
  'exits-after-initialize': {
    holds:
      'connecting fails within the connect timeout with a reason; the process is not restarted endlessly',
    remains: ['bad'],
    async play(stage) {
      const session = stage.open({ bad: stage.stdio('exits-after-initialize') });
      const reason = await rejects(10_000, 'connecting', session.ready('bad'));
      await sleep(2_000);
      const starts = stage.events.count('started');
      check(starts <= 8, `it was started ${starts} times`);
      return reason;
    },
  },
  'hang-at-initialize': {
    holds: 'connecting fails within the connect timeout; other servers do not wait for it',
    remains: ['bad'],
    async play(stage) {
      const targets = { bad: stage.stdio('hang-at-initialize'), good: stage.stdio('healthy') };
      const session = stage.open(targets, { connectMs: 4_000 });
      await answers(3_500, 'the other server', session.call('good', 'echo', HI, TWO));
      return rejects(6_000, 'connecting', session.ready('bad'), /time|limit|answer|silent/i);
    },
  },
  'one-bad-among-many': {
    holds: 'three servers that hang delay six others by at most 5 s',
    async play(stage) {
      const names = Array.from({ length: 9 }, (_, i) => [i < 3 ? `bad-${i}` : `good-${i}`, i] as const);
      const targets = names.map(([name, i]) => [name, stage.stdio(i < 3 ? 'hang-at-initialize' : 'healthy')]);
      const session = stage.open(Object.fromEntries(targets), { connectMs: 12_000 });
      const since = performance.now();
      const good = names.slice(3).map(([name]) => session.ready(name));
      await answers(5_000, 'the other servers', Promise.all(good));
      return `others ready after ${Math.round(performance.now() - since)} ms`;
    },
  },
  'closes-stdout-lives-on': {
    holds:
      'a process that can say nothing any more is noticed: the call rejects at once, the next ones work again',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('closes-stdout') });
      await answers(6_000, 'connecting', session.ready('a'));
      const reason = await rejects(4_000, 'the call', session.call('a', 'mute', {}, TEN));
      await eventually(6_000, 'calling again', async () => textOf(await session.call('a', 'echo', HI, TWO)));
      return reason;
    },
  },
  'closes-stdin-lives-on': {
    holds: 'a process that stopped reading is detected: calls reject in time, and then work again',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('closes-stdin') });
      await answers(6_000, 'connecting', session.ready('a'));
      await answers(3_000, 'the last call it hears', session.call('a', 'deaf', {}, TWO));
      const reason = await rejects(3_000, 'the next call', session.call('a', 'echo', HI, TWO));
      await eventually(6_000, 'calling again', async () => textOf(await session.call('a', 'echo', HI, TWO)));
      return reason;
    },
  },
  'stops-reading': {
    holds: 'a call that a server does not read ends at its timeout; once it reads again, calls work',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('stops-reading') });
      await answers(6_000, 'connecting', session.ready('a'));
      await answers(3_000, 'a call', session.call('a', 'doze', { ms: 2_500 }, TWO));
      const text = 'x'.repeat(1 << 20);
      await rejects(2_500, 'a long call', session.call('a', 'echo', { text }, { timeoutMs: 1_000 }));
      await eventually(8_000, 'calling again', async () => textOf(await session.call('a', 'echo', HI, TWO)));
      return undefined;
    },
  },
  'refuses-the-probe': {
    holds: 'a server that crashes on an unknown first request can still be connected',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('refuses-the-probe') });
      await answers(8_000, 'connecting', session.ready('a'));
      check(textOf(await session.call('a', 'echo', HI, TWO)) === HI.text, 'the answer is wrong');
      return undefined;
    },
  },
  'silent-to-the-probe': {
    holds: 'a server that ignores unknown requests can still be connected, within the connect timeout',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('silent-to-the-probe') }, { connectMs: 8_000 });
      const since = performance.now();
      await answers(8_000, 'connecting', session.ready('a'));
      check(textOf(await session.call('a', 'echo', HI, TWO)) === HI.text, 'the answer is wrong');
      return `connected after ${Math.round(performance.now() - since)} ms`;
    },
  },
};

const HI = { text: 'hi' };
const TWO = { timeoutMs: 2_000 };
const TEN = { timeoutMs: 10_000 };
