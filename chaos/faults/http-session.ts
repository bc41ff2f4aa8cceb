import { setTimeout as sleep } from 'node:timers/promises';
import type { Session } from '../contender.ts';
import type { Fault, Faults } from '../fault.ts';
import { echo, opened } from '../http-scene.ts';
import { answers, check, eventually, rejects } from '../judge.ts';
import { Cable } from '../servers/cable.ts';
import { HttpServer, say } from '../servers/http-server.ts';
import type { Rpc } from '../servers/rpc.ts';

/** HTTP servers that disappear, return, or lose sessions. */
export const httpSession: Faults = {
  'refused-then-up': {
    holds: 'a server that starts later is connected automatically',
    async play(stage) {
      const server = stage.own(await HttpServer.open());
      await server.listening.down();
      const session = stage.open({ a: { kind: 'http', url: server.url } });
      await sleep(1_500);
      await server.listening.up();
      await worksAgain(session);
      return undefined;
    },
  },
  'lost-session-404': losesSession(404, 'an error of the protocol without an id', () =>
    rpcError(null, -32000, 'Session not found'),
  ),
  'lost-session-400': losesSession(400, 'an error of the protocol without an id', () =>
    rpcError(null, -32000, 'Bad Request: No valid session ID provided'),
  ),
  'lost-session-own-id': losesSession(404, "an error of the protocol with the request's own id", ({ id }) =>
    rpcError(id, -32001, 'Session not found'),
  ),
  'lost-session-400-own-id': losesSession(
    400,
    "an error of the protocol with the request's own id",
    ({ id }) => rpcError(id, -32000, 'Bad Request: No valid session ID provided'),
  ),
  'lost-session-text': losesSession(404, 'text', () => 'Session not found'),
  'lost-session-page': losesSession(404, 'a web page', () => '<html><body>Not Found</body></html>'),
  'lost-session-json': losesSession(404, 'JSON that is no error of the protocol', ({ id }) =>
    JSON.stringify({ detail: 'session not found', request: id }),
  ),
  'lost-session-always': {
    holds:
      'a server that refuses every session it gives out fails the call, and is not asked for sessions on and on',
    remains: ['a'],
    async play(stage) {
      const { server, session } = await opened(stage);
      server.intercept = ({ rpc, headers }, response) => {
        if (headers['mcp-session-id'] === undefined) return false;
        say(response, 404, JSON.parse(rpcError(rpc.id, -32001, 'Session not found')));
        return true;
      };
      const before = server.asked('initialize').length;
      const call = session.call('a', 'echo', { text: 'hi' }, { timeoutMs: 4_000 });
      const reason = await rejects(5_000, 'the call', call, /session/i);
      await sleep(stage.isQuick ? 1_000 : 3_000);
      const asked = server.asked('initialize').length - before;
      check(asked <= 8, `${asked} sessions were asked for`);
      return reason;
    },
  },
  'server-restarted': {
    holds: 'after a restart on the same port, which loses all sessions, calls work again',
    async play(stage) {
      const { server, session } = await opened(stage);
      await server.listening.down();
      server.sessions.clear();
      await server.listening.up();
      await worksAgain(session);
      return undefined;
    },
  },
  'http-dies-silently': {
    holds:
      'a server that goes down while nobody calls is noticed and back by itself: the next call simply works',
    async play(stage) {
      const { server, session } = await opened(stage);
      await server.listening.down();
      server.sessions.clear();
      await sleep(3_000);
      const state = session.status?.().a?.state;
      check(state !== 'connected', 'status() still says "connected" after 3 s');
      await server.listening.up();
      await sleep(4_000);
      await echo(session);
      return undefined;
    },
  },
  'half-open-socket': {
    holds: 'calls on silently dead connections end at their timeout, and the next calls work',
    async play(stage) {
      const server = stage.own(await HttpServer.open());
      const cable = stage.own(await Cable.open(server.listening.port));
      const session = stage.open({ a: { kind: 'http', url: `http://127.0.0.1:${cable.port}/mcp` } });
      await answers(6_000, 'connecting', session.ready('a'));
      await echo(session);
      cable.freeze();
      await eventually(8_000, 'calling again', () => echo(session, 1_500));
      return undefined;
    },
  },
  'get-stream-dies': {
    holds: 'the notification stream is reopened each time it is cut',
    async play(stage) {
      const { server, session } = await opened(stage);
      for (let cut = 0; cut < 3; cut++) {
        await eventually(6_000, `the stream after ${cut} cuts`, async () =>
          check(server.streams.size > 0, 'there is no stream'),
        );
        for (const stream of server.streams) stream.destroy();
        server.streams.clear();
      }
      await eventually(6_000, 'the stream after 3 cuts', async () =>
        check(server.streams.size > 0, 'there is no stream'),
      );
      await echo(session);
      return undefined;
    },
  },
};

function losesSession(status: 404 | 400, what: string, body: (rpc: Rpc) => string): Fault {
  return {
    holds: `a session that gets ${status} with ${what} is replaced, and the call that noticed it succeeds`,
    async play(stage) {
      const { server, session } = await opened(stage);
      await echo(session);
      server.refuseSession = (rpc, response) => {
        const text = body(rpc);
        const type = text.startsWith('{')
          ? 'application/json'
          : text.startsWith('<')
            ? 'text/html'
            : 'text/plain';
        response.writeHead(status, { 'content-type': type }).end(text);
      };
      server.sessions.clear();
      await echo(session, 4_000);
      return undefined;
    },
  };
}

function rpcError(id: unknown, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
}

function worksAgain(session: Session): Promise<void> {
  return eventually(6_000, 'calling again', () => echo(session));
}
