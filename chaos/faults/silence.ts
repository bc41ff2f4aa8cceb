import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Faults } from '../fault.ts';
import { echo, opened } from '../http-scene.ts';
import { answers, check, eventually, rejects, textOf } from '../judge.ts';
import { BusyServer } from '../servers/busy-server.ts';
import { Cable } from '../servers/cable.ts';
import { HttpServer, say } from '../servers/http-server.ts';

/** HTTP servers that are silent: busy, gone, or seemingly gone. */
export const silence: Faults = {
  'busy-server': {
    holds:
      'a server that answers nobody while it works on a call and tells of its progress is not given up: the call answers',
    async play(stage) {
      const server = stage.own(await BusyServer.open());
      const session = stage.open({ a: { kind: 'http', url: server.url } });
      await answers(6_000, 'connecting', session.ready('a'));
      const long = { timeoutMs: 20_000, onProgress: () => {} };
      const work = session.call('a', 'work', { steps: 12, stepMs: 800 }, long);
      work.catch(() => {});
      await sleep(200);
      const beside = session.call('a', 'work', { steps: 0 }, { timeoutMs: 1_000 });
      await rejects(3_000, 'a call beside it', beside);
      check(textOf(await answers(15_000, 'the call', work)) === 'done', 'the answer is wrong');
      const next = session.call('a', 'work', { steps: 0 }, { timeoutMs: 2_000 });
      check(textOf(await answers(3_000, 'the next call', next)) === 'done', 'the next answer is wrong');
      return undefined;
    },
  },
  'ping-refused': {
    holds:
      'a server that knows no "ping" and answers it 501 is there: it stays connected, and calls are left alone',
    async play(stage) {
      const { server, session } = await opened(stage);
      server.tools.set('slow', () => sleep(4_000, 'slow but sure'));
      server.intercept = ({ rpc }, response) => {
        if (rpc.method !== 'ping') return false;
        response.writeHead(501, { 'content-type': 'text/plain' }).end('unknown method');
        return true;
      };
      const slow = session.call('a', 'slow', {}, { timeoutMs: 8_000 });
      check(textOf(await answers(6_000, 'the call', slow)) === 'slow but sure', 'the answer is wrong');
      await sleep(stage.isQuick ? 2_500 : 6_000);
      await echo(session);
      const greetings = server.asked('initialize').length;
      check(greetings === 1, `it was connected to ${greetings} times`);
      return undefined;
    },
  },
  'half-open-all': {
    holds:
      'while old and new connections carry nothing, calls end at their limit and status() does not stay "connected"; then it works again within 8 s',
    limitMs: 40_000,
    async play(stage) {
      const server = stage.own(await HttpServer.open());
      const cable = stage.own(await Cable.open(server.listening.port));
      const target = { kind: 'http', url: `http://127.0.0.1:${cable.port}/mcp` } as const;
      const session = stage.open({ a: target }, { connectMs: 3_000 });
      await answers(6_000, 'connecting', session.ready('a'));
      await echo(session);
      cable.pull();
      const until = performance.now() + 9_000;
      let hasNoticed = session.status === undefined;
      while (performance.now() < until) {
        await rejects(2_500, 'a call', session.call('a', 'echo', { text: 'hi' }, { timeoutMs: 800 }));
        hasNoticed ||= session.status?.().a?.state !== 'connected';
        await sleep(100);
      }
      check(hasNoticed, 'status() said "connected" all the while');
      cable.plugIn();
      await eventually(8_000, 'calling again', () => echo(session, 1_000));
      return undefined;
    },
  },
  'get-stream-down': {
    holds:
      'a stream of notices that is refused for a while is opened again, and what changed meanwhile is found out',
    limitMs: 130_000,
    async play(stage) {
      const { server, session } = await opened(stage);
      await eventually(4_000, 'the stream', async () => check(server.streams.size > 0, 'there is none'));
      let refused = 0;
      server.intercept = ({ method }, response) => {
        if (method !== 'GET') return false;
        refused++;
        say(response, 503, { error: 'no streams now' });
        return true;
      };
      for (const stream of server.streams) stream.destroy();
      server.streams.clear();
      server.tools.set('new', () => 'new');
      // A client with a limited number of attempts has given up by then.
      await sleep(stage.isQuick ? 4_000 : 75_000);
      server.intercept = () => false;
      await eventually(stage.isQuick ? 8_000 : 40_000, 'the stream again', async () =>
        check(server.streams.size > 0, 'there is none'),
      );
      await eventually(3_000, 'the new tool', async () =>
        check((await session.tools('a')).includes('new'), 'it is not listed'),
      );
      await echo(session);
      return `refused ${refused} times`;
    },
  },
  'total-limit-over-reconnect': {
    holds: 'the timeout of a call includes a reconnect, and the call does not run after it',
    async play(stage) {
      const { server, session } = await opened(stage);
      let runs = 0;
      server.tools.set('pay', () => `paid ${++runs} times`);
      const held: ServerResponse[] = [];
      server.intercept = ({ rpc }, response) => rpc.method === 'initialize' && held.push(response) > 0;
      server.sessions.clear();
      const call = session.call('a', 'pay', {}, { timeoutMs: 1_000 });
      const reason = await rejects(2_000, 'the call', call);
      server.intercept = () => false;
      for (const response of held) response.destroy();
      await sleep(stage.isQuick ? 2_500 : 5_000);
      check(runs === 0, `it ran ${runs} times after its limit`);
      return reason;
    },
  },
};
