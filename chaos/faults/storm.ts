import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import type { Target } from '../contender.ts';
import type { Fault, Faults, Stage } from '../fault.ts';
import { check, outcome } from '../judge.ts';
import { Listening } from '../servers/listening.ts';

const WINDOW_MS = 3_000;
const MAX_ATTEMPTS = 8;

/** A server that fails at every connection, with the number of connections. */
type Failing = { readonly target: Target; attempts(): number };

/** Servers that always fail and are called continuously. */
export const storm: Faults = {
  'storm-dies-at-start': storms((stage) => failingProcess(stage, 'crash-at-start')),
  'storm-dies-after-initialize': storms((stage) => failingProcess(stage, 'exits-after-initialize')),
  'storm-dies-on-call': storms((stage) => failingProcess(stage, 'crash-on-echo')),
  'storm-http-500': storms((stage) => failingHttp(stage, 'http', 500, {})),
  'storm-retry-after-0': storms((stage) => failingHttp(stage, 'http', 503, { 'retry-after': '0' })),
  'storm-sse-ends-early': storms((stage) =>
    failingHttp(stage, 'sse', 200, { 'content-type': 'text/event-stream' }),
  ),
  'storm-ws-closes-on-open': storms(failingSocket),
};

function storms(fail: (stage: Stage) => Failing | Promise<Failing>): Fault {
  return {
    holds: `however often it is called, it is connected at most ${MAX_ATTEMPTS} times in 3 s, and calls fail fast`,
    async play(stage) {
      const { target, attempts } = await fail(stage);
      const session = stage.open({ bad: target });
      await outcome(6_000, session.ready('bad'));
      const before = attempts();
      let calls = 0;
      for (const until = performance.now() + WINDOW_MS; performance.now() < until; calls++) {
        const came = await outcome(1_500, session.call('bad', 'echo', { text: 'hi' }, { timeoutMs: 4_000 }));
        check(came.kind !== 'silent', 'a call waited for 1.5 s');
        await sleep(20);
      }
      const made = attempts() - before;
      check(made <= MAX_ATTEMPTS, `${calls} calls made ${made} attempts in 3 s`);
      return `${calls} calls, ${made} attempts`;
    },
  };
}

function failingProcess(stage: Stage, behaviour: string): Failing {
  return { target: stage.stdio(behaviour), attempts: () => stage.events.count('started') };
}

/** Answers every request alike and counts them. */
async function failingHttp(
  stage: Stage,
  kind: 'http' | 'sse',
  status: number,
  headers: Record<string, string>,
): Promise<Failing> {
  let requests = 0;
  const listening = stage.own(
    new Listening((request, response) => {
      requests++;
      request.resume();
      response.writeHead(status, headers).end();
    }),
  );
  await listening.up();
  return {
    target: { kind, url: `http://127.0.0.1:${listening.port}/mcp` },
    attempts: () => requests,
  };
}

async function failingSocket(stage: Stage): Promise<Failing> {
  let connections = 0;
  const listening = stage.own(new Listening((_, response) => void response.writeHead(426).end()));
  await listening.up();
  new WebSocketServer({ server: listening.raw }).on('connection', (socket) => {
    connections++;
    socket.close(1011, 'not today');
  });
  return {
    target: { kind: 'ws', url: `ws://127.0.0.1:${listening.port}/` },
    attempts: () => connections,
  };
}
