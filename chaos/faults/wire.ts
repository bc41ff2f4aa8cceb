import type { Session } from '../contender.ts';
import type { Fault, Faults, Stage } from '../fault.ts';
import { answers, check, eventually, outcome, rejects, textOf } from '../judge.ts';
import { Memory } from '../memory.ts';

/** Faults in bytes, frames and ids on stdio. */
export const wire: Faults = {
  'noise-on-stdout': echoes(
    'noise-on-stdout',
    'log lines and stray JSON between the messages are passed over',
  ),
  'banner-before-json': echoes('banner-before-json', 'a banner before the first message is passed over'),
  'crlf-lines': echoes('crlf-lines', 'lines that end as on Windows are read'),
  'byte-by-byte': echoes('byte-by-byte', 'messages that come byte by byte are put together'),
  'unknown-id': echoes('unknown-id', 'answers to questions nobody asked disturb nobody', 'stray'),
  'duplicate-answers': echoes('duplicate-answers', 'the first of several answers counts', 'twice'),
  '64-mb-line': {
    holds:
      'the call succeeds or fails with its size as the reason; the next one works; memory grows by 512 MiB at most',
    async play(stage) {
      const session = await opened(stage, '64-mb-line');
      using memory = new Memory();
      const call = session.call('a', 'big', { mebibytes: 64 }, { timeoutMs: 12_000 });
      const came = await outcome(13_000, call);
      if (came.kind === 'answered') check(textOf(came.value).length === 64 << 20, 'the answer is not whole');
      if (came.kind === 'rejected') {
        check(SIZE.test(came.reason), `the reason is not clear: ${came.reason}`);
        check(came.ms < 10_000, `it took ${came.ms} ms to say so`);
      }
      check(came.kind !== 'silent', 'nothing came of the call');
      await worksAgain(session);
      check(memory.grownMib <= 512, `memory grew by ${memory.grownMib} MiB`);
      return `${came.kind === 'rejected' ? came.reason : came.kind}; memory grew by ${memory.grownMib} MiB`;
    },
  },
  'invalid-utf-8': {
    holds: 'the call settles in time; the next one works',
    async play(stage) {
      const session = await opened(stage, 'invalid-utf-8');
      const came = await outcome(3_000, session.call('a', 'garble', {}, { timeoutMs: 2_000 }));
      check(came.kind !== 'silent', 'nothing came of the call');
      await worksAgain(session);
      return came.kind;
    },
  },
  'wrong-id': {
    holds:
      'an answer under a wrong id is not taken for ours: the call ends at its limit, the next ones are right',
    async play(stage) {
      const session = await opened(stage, 'wrong-id');
      await rejects(2_500, 'the call', session.call('a', 'mistake', {}, { timeoutMs: 800 }));
      for (let i = 0; i < 5; i++) await echo(session, `answer ${i}`);
      return undefined;
    },
  },
  'out-of-order-replies': {
    holds: '1,000 concurrent calls, answered in any order, each get their own response',
    async play(stage) {
      const session = await opened(stage, 'out-of-order');
      await allMatch(session, 'gather', 1_000);
      return undefined;
    },
  },
  'batch-answers': {
    holds: 'responses in one batch, as version 2025-03-26 allows, reach their calls',
    async play(stage) {
      const session = await opened(stage, 'batch-answers');
      await allMatch(session, 'batch', 5);
      await echo(session, 'after');
      return undefined;
    },
  },
};

const SIZE = /large|size|limit|long|exceed|big|bytes|MiB|MB/i;

async function opened(stage: Stage, behaviour: string): Promise<Session> {
  const session = stage.open({ a: stage.stdio(behaviour) });
  await answers(6_000, 'connecting', session.ready('a'));
  return session;
}

async function echo(session: Session, text: string, tool = 'echo'): Promise<void> {
  const said = textOf(
    await answers(4_000, 'a call', session.call('a', tool, { text }, { timeoutMs: 3_000 })),
  );
  check(said === text, `"${said}" came for "${text}"`);
}

function worksAgain(session: Session): Promise<void> {
  return eventually(6_000, 'calling again', () => echo(session, 'again'));
}

/** Twenty calls in a row, each with its own text, get their own text back. */
function echoes(behaviour: string, holds: string, tool = 'echo'): Fault {
  return {
    holds,
    async play(stage) {
      const session = await opened(stage, behaviour);
      for (let i = 0; i < 20; i++) await echo(session, `grüße 🌍 ${i}`, tool);
      return undefined;
    },
  };
}

async function allMatch(session: Session, tool: string, count: number): Promise<void> {
  const calls = Array.from({ length: count }, async (_, i) => {
    const text = `call ${i}`;
    const said = textOf(await session.call('a', tool, { text, count }, { timeoutMs: 6_000 }));
    check(said === text, `"${said}" came for "${text}"`);
  });
  await answers(8_000, 'the calls', Promise.all(calls));
}
