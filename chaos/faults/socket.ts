import type { Session } from '../contender.ts';
import type { Faults } from '../fault.ts';
import { answers, check, eventually, rejects, textOf } from '../judge.ts';
import { Cable } from '../servers/cable.ts';
import { SseServer } from '../servers/sse-server.ts';
import { WsServer } from '../servers/ws-server.ts';

/** Servers with a single connection: WebSocket, and HTTP with server-sent events. */
export const socket: Faults = {
  'ws-closed': {
    holds: 'a WebSocket that closes rejects the call at once, and is reopened',
    async play(stage) {
      const server = stage.own(await WsServer.open());
      server.tools.set('hang', () => new Promise(() => closeAll(server)));
      const session = stage.open({ a: { kind: 'ws', url: `ws://127.0.0.1:${server.port}/` } });
      await answers(6_000, 'connecting', session.ready('a'));
      const reason = await rejects(2_000, 'the call', session.call('a', 'hang', {}, { timeoutMs: 10_000 }));
      await worksAgain(session);
      return reason;
    },
  },
  'ws-half-open': {
    holds: 'a silently dead WebSocket is detected and reopened',
    async play(stage) {
      const server = stage.own(await WsServer.open());
      const cable = stage.own(await Cable.open(server.port));
      const session = stage.open({ a: { kind: 'ws', url: `ws://127.0.0.1:${cable.port}/` } });
      await answers(6_000, 'connecting', session.ready('a'));
      cable.freeze();
      await worksAgain(session, 10_000);
      return undefined;
    },
  },
  'sse-stream-dies': {
    holds: 'an event stream that breaks rejects the call at once, and is reopened',
    async play(stage) {
      const server = stage.own(await SseServer.open());
      const cut = () => {
        for (const stream of server.streams.values()) stream.destroy();
      };
      server.tools.set('hang', () => new Promise(() => void setTimeout(cut, 50)));
      const session = stage.open({ a: { kind: 'sse', url: server.url } });
      await answers(6_000, 'connecting', session.ready('a'));
      const reason = await rejects(4_000, 'the call', session.call('a', 'hang', {}, { timeoutMs: 10_000 }));
      await worksAgain(session);
      return reason;
    },
  },
};

function closeAll(server: WsServer): void {
  for (const each of server.sockets) each.close(1001, 'going away');
}

async function worksAgain(session: Session, withinMs = 6_000): Promise<void> {
  const said = await eventually(withinMs, 'calling again', async () =>
    textOf(await session.call('a', 'echo', { text: 'hi' }, { timeoutMs: 1_500 })),
  );
  check(said === 'hi', `the answer is "${said}"`);
}
