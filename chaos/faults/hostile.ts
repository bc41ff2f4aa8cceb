import { setTimeout as sleep } from 'node:timers/promises';
import type { Session } from '../contender.ts';
import type { Faults } from '../fault.ts';
import { answers, check, rejects, textOf } from '../judge.ts';
import { Memory } from '../memory.ts';
import { WsServer } from '../servers/ws-server.ts';

/** Messages that could crash a client or exhaust its memory. */
export const hostile: Faults = {
  'deep-noise': {
    holds: 'lines nested 400,000 levels deep that are not messages are skipped',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('deep-noise') });
      await answers(6_000, 'connecting', session.ready('a'));
      for (let i = 0; i < 3; i++) await echo(session, `after noise ${i}`, 'noise');
      await echo(session);
      return undefined;
    },
  },
  'hostile-types': {
    holds:
      'members of the wrong type neither end the program nor a call that is answered; a refusal without words ends its own call at once',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('parrot') });
      await answers(6_000, 'connecting', session.ready('a'));
      return hearsAll(session);
    },
  },
  'hostile-types-ws': {
    holds: 'the same over a WebSocket',
    async play(stage) {
      const server = stage.own(await WsServer.open());
      server.tools.set('say', () => '');
      server.intercept = ({ id, method, params = {} }, socket) => {
        if (method !== 'tools/call' || params.name !== 'say') return false;
        const { lines } = params.arguments as { lines: string[] };
        const meta = params._meta as { progressToken?: unknown } | undefined;
        const token = JSON.stringify(meta?.progressToken ?? 'none');
        for (const line of lines)
          socket.send(line.replaceAll('$ID', JSON.stringify(id)).replaceAll('$TOKEN', token));
        return true;
      };
      const session = stage.open({ a: { kind: 'ws', url: `ws://127.0.0.1:${server.port}/` } });
      await answers(6_000, 'connecting', session.ready('a'));
      return hearsAll(session);
    },
  },
  'request-flood': {
    holds:
      'a server that asks without end and reads no answer leaves others at work, and memory grows by 128 MiB at most',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('request-flood'), good: stage.stdio('healthy') });
      await answers(6_000, 'connecting', Promise.all([session.ready('a'), session.ready('good')]));
      using memory = new Memory();
      await answers(3_000, 'the call', session.call('a', 'flood', {}, { timeoutMs: 2_500 }));
      const until = performance.now() + (stage.isQuick ? 4_000 : 10_000);
      while (performance.now() < until) {
        await echo(session, 'hi', 'echo', 'good');
        check(memory.grownMib <= 128, `memory grew by ${memory.grownMib} MiB`);
        await sleep(50);
      }
      return `memory grew by ${memory.grownMib} MiB`;
    },
  },
};

/** A value that converts neither to a number nor to a string. */
const ODD = '{"toString":1,"valueOf":1}';
const DONE = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"done"}]}}';

/** Messages sent before a valid response. */
const ASIDES: readonly string[] = [
  ...[ODD, '{}', '[]', 'true', 'null', '1e999', '"no such"'].flatMap((odd) => [
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${odd},"progress":1}}`,
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":${odd},"total":${odd},"message":${odd}}}`,
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${odd},"reason":${odd}}}`,
    `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":${odd},"data":${odd},"logger":${odd}}}`,
    `{"jsonrpc":"2.0","method":"notifications/progress","params":${odd}}`,
    `{"jsonrpc":"2.0","id":${odd},"result":{}}`,
    `{"jsonrpc":"2.0","id":${odd},"error":{"code":${odd},"message":${odd}}}`,
    `{"jsonrpc":"2.0","id":${odd},"method":"ping"}`,
    `{"jsonrpc":"2.0","id":"odd","method":"sampling/createMessage","params":${odd}}`,
    `{"jsonrpc":"2.0","method":${odd}}`,
    `{"jsonrpc":${odd},"id":"odd","result":{}}`,
  ]),
];

/** Malformed error responses. */
const REFUSALS: readonly string[] = [
  `{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":${ODD}}}`,
  `{"jsonrpc":"2.0","id":$ID,"error":{"code":${ODD},"message":"it is refused","data":${ODD}}}`,
  `{"jsonrpc":"2.0","id":$ID,"error":${ODD}}`,
];

async function hearsAll(session: Session): Promise<undefined> {
  for (const aside of ASIDES) {
    const options = { timeoutMs: 4_000, onProgress: () => {} };
    const call = session.call('a', 'say', { lines: [aside, DONE] }, options);
    check(textOf(await answers(3_000, aside, call)) === 'done', `${aside}: the answer is wrong`);
  }
  for (const refusal of REFUSALS) {
    const call = session.call('a', 'say', { lines: [refusal] }, { timeoutMs: 10_000 });
    await rejects(2_000, refusal, call);
    await echo(session);
  }
}

async function echo(session: Session, text = 'hi', tool = 'echo', server = 'a'): Promise<void> {
  const call = session.call(server, tool, { text }, { timeoutMs: 3_000 });
  const said = textOf(await answers(3_500, 'a call', call));
  check(said === text, `"${said}" came for "${text}"`);
}
