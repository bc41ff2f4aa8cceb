import type { ServerResponse } from 'node:http';
import type { Session } from '../contender.ts';
import type { Faults } from '../fault.ts';
import { answers, check, rejects, textOf } from '../judge.ts';
import { SseServer } from '../servers/sse-server.ts';
import { bent, worksAgain } from './bent.ts';

/** HTTP servers whose response is valid JSON but the wrong message. */
export const httpMessage: Faults = {
  'unanswered-json': {
    holds: 'a JSON body without the response rejects the call at once with a one-line reason',
    async play(stage) {
      let body = '';
      const { session } = await bent(stage, (response) => void json(response, body));
      let reason = '';
      for (body of BODIES) {
        const call = session.call('a', 'bent', {}, { timeoutMs: 10_000 });
        reason = await rejects(3_000, body, call, /answer|response|reply|message|result|batch|\bid\b/i);
        check(!reason.includes('\n'), `the reason is longer than a line: ${reason}`);
        await worksAgain(session, 2_500);
      }
      return reason;
    },
  },
  'extra-members': {
    holds:
      'a result beside "error": null, and other members nobody knows, is a result: as JSON and as an event',
    async play(stage) {
      const { server, session } = await bent(stage, (response, id) => {
        json(response, JSON.stringify(whole(id, 'as JSON')));
      });
      await says(session, 'bent', 'as JSON');
      server.intercept = ({ rpc }, response) => {
        if (rpc.method !== 'tools/call') return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        // The stream stays open, so that its end is not what ends the call.
        response.write(`event: message\ndata: ${JSON.stringify(whole(rpc.id, 'as an event'))}\n\n`);
        return true;
      };
      await says(session, 'bent', 'as an event');
      return undefined;
    },
  },
  'extra-members-sse': {
    holds: 'the same over HTTP with server-sent events',
    async play(stage) {
      const server = stage.own(await SseServer.open());
      server.bend = (answer, { method }) =>
        method === 'tools/call' ? { ...answer, error: null, more: 1 } : answer;
      const session = stage.open({ a: { kind: 'sse', url: server.url } });
      await answers(6_000, 'connecting', session.ready('a'));
      await says(session, 'echo', 'hi');
      return undefined;
    },
  },
};

const BODIES = [
  '[]',
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"working"}}',
  '[{"jsonrpc":"2.0","id":987654,"result":{"content":[]}}]',
  '{"jsonrpc":"2.0","id":77,"method":"ping"}',
];

function json(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
}

function whole(id: unknown, text: string): object {
  return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] }, error: null, more: 1 };
}

async function says(session: Session, tool: string, text: string): Promise<void> {
  const call = session.call('a', tool, { text }, { timeoutMs: 2_500 });
  const said = textOf(await answers(3_000, text, call));
  check(said === text, `"${said}" came instead of "${text}"`);
}
