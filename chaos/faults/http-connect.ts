import { setTimeout as sleep } from 'node:timers/promises';
import type { Faults } from '../fault.ts';
import { answers, check, eventually, outcome, rejects, textOf } from '../judge.ts';
import { HttpServer, say } from '../servers/http-server.ts';

const PAGE = '<!doctype html><html><title>Sign in</title><form action="/login"></form></html>';

/** HTTP servers to which no connection can be made. */
export const httpConnect: Faults = {
  'status-401': {
    holds: 'the reason mentions authorization; the server is not asked repeatedly',
    remains: ['a'],
    async play(stage) {
      const server = stage.own(await HttpServer.open());
      server.intercept = (_, response) => {
        response.setHeader('www-authenticate', 'Bearer');
        say(response, 401, { error: 'unauthorized' });
        return true;
      };
      const session = stage.open({ a: { kind: 'http', url: server.url } });
      const reason = await rejects(
        6_000,
        'connecting',
        session.ready('a'),
        /401|auth|credential|log ?in|token/i,
      );
      await sleep(2_500);
      const asked = server.seen.filter(({ path }) => path === '/mcp');
      check(asked.length <= 4, `it was asked ${asked.length} times`);
      const state = session.status?.().a?.state ?? 'needs-auth';
      check(state === 'needs-auth', `status() says "${state}"`);
      return reason;
    },
  },
  '503-retry-after': {
    holds:
      'a server that asks for two seconds of patience is left alone that long, and then connected by itself',
    async play(stage) {
      const server = stage.own(await HttpServer.open());
      let first: number | undefined;
      server.intercept = ({ at }, response) => {
        first ??= at;
        if (at - first > 1_900) return false;
        response.setHeader('retry-after', '2');
        say(response, 503, { error: 'starting' });
        return true;
      };
      const session = stage.open({ a: { kind: 'http', url: server.url } });
      await eventually(9_000, 'calling', async () =>
        textOf(await session.call('a', 'echo', { text: 'hi' }, { timeoutMs: 8_000 })),
      );
      const early = server.seen.filter(({ at }) => at - (first ?? 0) <= 1_900).length;
      check(early <= 3, `it was asked ${early} times while it wanted to be left alone`);
      return `asked ${early} times in the meantime`;
    },
  },
  'wrong-content-type': {
    holds: 'a login page instead of a response is reported as such, and not requested repeatedly',
    remains: ['a'],
    async play(stage) {
      const server = stage.own(await HttpServer.open());
      server.intercept = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
        return true;
      };
      const session = stage.open({ a: { kind: 'http', url: server.url } });
      const reason = await rejects(
        6_000,
        'connecting',
        session.ready('a'),
        /html|content.?type|page|sign|log ?in/i,
      );
      await sleep(2_000);
      check(server.seen.length <= 16, `it was asked ${server.seen.length} times`);
      return reason;
    },
  },
  'slow-loris-headers': {
    holds: 'a server that sends endless slow headers fails within the connect timeout',
    remains: ['a'],
    async play(stage) {
      const server = stage.own(await HttpServer.open());
      server.intercept = (_, { socket }) => {
        socket?.write('HTTP/1.1 200 OK\r\nx-slow: ');
        const timer = setInterval(() => socket?.write('x'), 100);
        socket?.on('close', () => clearInterval(timer));
        return true;
      };
      const session = stage.open({ a: { kind: 'http', url: server.url } }, { connectMs: 2_000 });
      return rejects(4_000, 'connecting', session.ready('a'), /time|limit|answer|abort/i);
    },
  },
  'cross-origin-redirect': {
    holds:
      'a redirect to another origin never takes our Authorization along, and is refused with a reason or followed',
    async play(stage) {
      const other = stage.own(await HttpServer.open());
      const server = stage.own(await HttpServer.open());
      server.intercept = (_, response) => {
        response.writeHead(307, { location: other.url }).end();
        return true;
      };
      const headers = { authorization: 'Bearer secret-of-the-first', 'x-api-key': 'secret-of-the-first' };
      const session = stage.open({ a: { kind: 'http', url: server.url, headers } });
      const came = await outcome(8_000, session.ready('a'));
      check(came.kind !== 'silent', 'nothing came of connecting');
      const isTold = other.seen.some(({ headers }) =>
        JSON.stringify(headers).includes('secret-of-the-first'),
      );
      check(!isTold, 'the other origin got our credentials');
      return came.kind === 'rejected' ? came.reason : 'followed without credentials';
    },
  },
  'redirect-loop': {
    holds: 'a server that redirects to itself fails after at most 40 requests, with a reason',
    remains: ['a'],
    async play(stage) {
      const server = stage.own(await HttpServer.open());
      server.intercept = (_, response) => {
        response.writeHead(307, { location: server.url }).end();
        return true;
      };
      const session = stage.open({ a: { kind: 'http', url: server.url } });
      const reason = await rejects(8_000, 'connecting', session.ready('a'), /redirect/i);
      check(server.seen.length <= 40, `it was asked ${server.seen.length} times`);
      return reason;
    },
  },
  'https-to-plain-http': {
    holds: 'a server without TLS at an https URL fails in time, and the reason says so',
    remains: ['a'],
    async play(stage) {
      const server = stage.own(await HttpServer.open());
      const session = stage.open({ a: { kind: 'http', url: server.url.replace('http:', 'https:') } });
      return rejects(6_000, 'connecting', session.ready('a'), /tls|ssl|https/i);
    },
  },
  'dead-among-many-http': {
    holds: 'five servers that never answer delay twenty others by at most 4 s',
    async play(stage) {
      const good = stage.own(await HttpServer.open());
      const bad = stage.own(await HttpServer.open());
      bad.intercept = () => true;
      const targets = Array.from({ length: 25 }, (_, i) => {
        const { url } = i < 5 ? bad : good;
        return [i < 5 ? `bad-${i}` : `good-${i}`, { kind: 'http', url }] as const;
      });
      const session = stage.open(Object.fromEntries(targets), { connectMs: 12_000 });
      const names = targets.slice(5).map(([name]) => name);
      await answers(4_000, 'the other servers', Promise.all(names.map((name) => session.ready(name))));
      return undefined;
    },
  },
};
