import { setTimeout as sleep } from 'node:timers/promises';
import type { Session } from '../contender.ts';
import type { Fault, Faults } from '../fault.ts';
import { echo, opened } from '../http-scene.ts';
import { answers, check, eventually } from '../judge.ts';
import { Cable } from '../servers/cable.ts';
import { HttpServer } from '../servers/http-server.ts';

/** HTTP servers that go, come back, or forget who we are. */
export const httpSession: Faults = {
  'refused-then-up': {
    holds: 'a server that comes up later is connected by itself',
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
  'lost-session-404': losesSession(404),
  'lost-session-400': losesSession(400),
  'server-restarted': {
    holds: 'after a restart on the same port, which forgets all sessions, calls work again',
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
    holds: 'connections that went dead without a word end a call at its limit, and the next calls work',
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
    holds: 'the stream that notices come on is opened again each time it is cut',
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

function losesSession(status: 404 | 400): Fault {
  return {
    holds: `a session that is answered by ${status} is made anew, and the call that met it answers`,
    async play(stage) {
      const { server, session } = await opened(stage);
      await echo(session);
      server.lostStatus = status;
      server.sessions.clear();
      await echo(session, 4_000);
      return undefined;
    },
  };
}

function worksAgain(session: Session): Promise<void> {
  return eventually(6_000, 'calling again', () => echo(session));
}
