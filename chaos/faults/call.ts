import { setTimeout as sleep } from 'node:timers/promises';
import type { Session } from '../contender.ts';
import type { Fault, Faults, Stage } from '../fault.ts';
import { answers, check, outcome, rejects, textOf } from '../judge.ts';

const TIME = /time|limit|took|long|answer/i;

/** Faults during calls. */
export const call: Faults = {
  'hang-at-call': {
    holds: 'the timeout of the call ends it; the connection stays open and the next call works',
    async play(stage) {
      const session = await opened(stage, 'hang-at-call');
      const processes = stage.events.count('started');
      const reason = await rejects(
        2_000,
        'the call',
        session.call('a', 'hang', {}, { timeoutMs: 500 }),
        TIME,
      );
      await echo(session);
      check(stage.events.count('started') === processes, 'the server was restarted');
      return reason;
    },
  },
  'answer-after-timeout': {
    holds: 'a response that arrives after the timeout is dropped and does not answer another call',
    async play(stage) {
      const session = await opened(stage, 'late');
      await rejects(1_500, 'the call', session.call('a', 'late', { ms: 700 }, { timeoutMs: 200 }), TIME);
      await stage.events.saw('answered late', 3_000);
      for (let i = 0; i < 5; i++) await echo(session, `after ${i}`);
      return undefined;
    },
  },
  abort: {
    holds: 'the call rejects at once, and the server is told that it was cancelled',
    async play(stage) {
      const session = await opened(stage, 'hang-at-call');
      const abort = new AbortController();
      const hanging = session.call('a', 'hang', {}, { signal: abort.signal, timeoutMs: 10_000 });
      hanging.catch(() => {});
      await stage.events.saw('called', 3_000);
      abort.abort();
      await rejects(300, 'the call', hanging);
      await stage.events.saw('notifications/cancelled', 2_000);
      await echo(session);
      return undefined;
    },
  },
  'abort-before-answer': {
    holds: 'a response that arrives after the call was aborted is dropped and does not answer another call',
    async play(stage) {
      const session = await opened(stage, 'late');
      const abort = new AbortController();
      const late = session.call('a', 'late', { ms: 500 }, { signal: abort.signal, timeoutMs: 10_000 });
      late.catch(() => {});
      await stage.events.saw('called', 3_000);
      abort.abort();
      await rejects(300, 'the call', late);
      await stage.events.saw('answered late', 3_000);
      for (let i = 0; i < 5; i++) await echo(session, `after ${i}`);
      return undefined;
    },
  },
  'aborted-before-sent': {
    holds: 'a call whose signal is already aborted rejects and is never sent',
    async play(stage) {
      const session = await opened(stage, 'hang-at-call');
      const options = { signal: AbortSignal.abort(), timeoutMs: 5_000 };
      await rejects(500, 'the call', session.call('a', 'hang', {}, options));
      await echo(session);
      check(stage.events.count('called') === 0, 'the server was called');
      return undefined;
    },
  },
  'progress-extends': {
    holds: 'a call that reports progress may take longer than its idle timeout',
    async play(stage) {
      const session = await opened(stage, 'progress-extends');
      let progress = 0;
      const options = { timeoutMs: 900, onProgress: () => void progress++ };
      const slow = session.call('a', 'slow', { steps: 10, stepMs: 250 }, options);
      check(textOf(await answers(6_000, 'the call', slow)) === 'done', 'the answer is wrong');
      check(progress >= 3, `only ${progress} signs of progress came`);
      return undefined;
    },
  },
  'progress-storm': {
    holds: 'a call that reports progress 5,000 times, and logs as often, is answered within 6 s',
    async play(stage) {
      const session = await opened(stage, 'progress-storm');
      const storm = session.call('a', 'storm', { count: 5_000 }, { timeoutMs: 6_000, onProgress: () => {} });
      check(textOf(await answers(6_000, 'the call', storm)) === 'over', 'the answer is wrong');
      await echo(session);
      return undefined;
    },
  },
  'answer-without-result': malformed(['nothing', 'null', 'bad-error'], 'an answer that holds no result'),
  'result-of-wrong-shape': malformed(['bad-content'], 'a result that is none'),
  'deep-json': {
    holds: 'a result nested 50,000 levels deep settles its own call and affects nothing else',
    async play(stage) {
      const session = await opened(stage, 'malformed-answers');
      const came = await outcome(4_000, session.call('a', 'deep', {}, { timeoutMs: 3_000 }));
      check(came.kind !== 'silent', 'nothing came of the call');
      await echo(session);
      return came.kind === 'rejected' ? came.reason : came.kind;
    },
  },
  'server-pings': {
    holds: 'a ping of the server is answered',
    async play(stage) {
      const session = await opened(stage, 'asks-for-ping');
      const ask = session.call('a', 'ask', {}, { timeoutMs: 2_500 });
      const said = textOf(await answers(3_000, 'the call', ask));
      check(said === 'answered', `the server was ${said}`);
      return undefined;
    },
  },
  'sampling-without-handler': {
    holds: 'a request of the server for an unsupported method gets an error at once',
    async play(stage) {
      const session = await opened(stage, 'asks-for-sampling');
      const said = textOf(
        await answers(3_000, 'the call', session.call('a', 'ask', {}, { timeoutMs: 2_500 })),
      );
      const { code, isAnswered } = JSON.parse(said) as { code?: number; isAnswered: boolean };
      check(!isAnswered && typeof code === 'number', `the server was told ${said}`);
      return `refused by ${code}`;
    },
  },
  'call-may-have-run': {
    holds: 'a call that was lost midway is not repeated automatically',
    async play(stage) {
      const session = await opened(stage, 'dies-after-running');
      const reason = await rejects(3_000, 'the call', session.call('a', 'pay', {}, { timeoutMs: 10_000 }));
      await sleep(stage.isQuick ? 1_500 : 3_000);
      const runs = stage.events.count('executed');
      check(runs === 1, `it was executed ${runs} times`);
      return reason;
    },
  },
  'read-only-retried': {
    holds:
      'a call that only reads, on a server that is trusted, is made again after it was lost, and answers',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('dies-reading-once', { isTrusted: true }) });
      await answers(6_000, 'connecting', session.ready('a'));
      const peek = session.call('a', 'peek', {}, { timeoutMs: 8_000 });
      check(textOf(await answers(8_000, 'the call', peek)) === 'seen', 'the answer is wrong');
      return undefined;
    },
  },
  'prototype-pollution-args': {
    holds: '"__proto__" in arguments and results does not change other objects',
    async play(stage) {
      const session = await opened(stage, 'prototype-pollution');
      const args = JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"a":1}') as Record<
        string,
        unknown
      >;
      const result = await answers(
        3_000,
        'the call',
        session.call('a', 'pollute', args, { timeoutMs: 2_000 }),
      );
      check(!('polluted' in {}), 'every object is polluted');
      check(!('polluted' in result), 'the result is polluted');
      const structured = result.structuredContent as Record<string, unknown> | undefined;
      check(structured?.fine === 1 && !('polluted' in structured), 'the structured result is polluted');
      const keys = textOf(result);
      check(keys.includes('"a"'), `the server got ${keys}`);
      return undefined;
    },
  },
};

/** Calls that get a malformed response. */
function malformed(tools: readonly string[], what: string): Fault {
  return {
    holds: `${what} rejects its call at once; the next one works`,
    async play(stage) {
      const session = await opened(stage, 'malformed-answers');
      let reason = '';
      for (const tool of tools) {
        reason = await rejects(2_000, `"${tool}"`, session.call('a', tool, {}, { timeoutMs: 8_000 }));
        await echo(session);
      }
      return reason;
    },
  };
}

async function opened(stage: Stage, behaviour: string): Promise<Session> {
  const session = stage.open({ a: stage.stdio(behaviour) });
  await answers(6_000, 'connecting', session.ready('a'));
  return session;
}

async function echo(session: Session, text = 'hi'): Promise<void> {
  const said = textOf(
    await answers(2_500, 'the next call', session.call('a', 'echo', { text }, { timeoutMs: 2_000 })),
  );
  check(said === text, `"${said}" came for "${text}"`);
}
