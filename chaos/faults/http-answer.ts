import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Faults } from '../fault.ts';
import { check, eventually, outcome, rejects, textOf } from '../judge.ts';
import { Memory } from '../memory.ts';
import { say } from '../servers/http-server.ts';
import { bent, worksAgain } from './bent.ts';

/** HTTP servers that answer a call incorrectly. */
export const httpAnswer: Faults = {
  'status-500': {
    holds: "the call rejects with the status or the server's words and is not made twice; the next one works",
    async play(stage) {
      const { session, calls } = await bent(stage, (response) => say(response, 500, { error: 'broken' }));
      const reason = await rejects(4_000, 'the call', session.call('a', 'bent', {}, TEN), /500|broken/);
      check(calls() === 1, `the call was sent ${calls()} times`);
      await worksAgain(session);
      return reason;
    },
  },
  'stream-cut': {
    holds:
      'an answer that is cut off midway rejects the call at once; it is not made twice; the next one works',
    async play(stage) {
      const { session, calls } = await bent(stage, (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('event: message\ndata: {"jsonrpc":"2.0",');
        setTimeout(() => response.destroy(), 100);
      });
      const reason = await rejects(4_000, 'the call', session.call('a', 'bent', {}, TEN));
      check(calls() === 1, `the call was sent ${calls()} times`);
      await worksAgain(session);
      return reason;
    },
  },
  'call-may-have-run-http': {
    holds: 'a call whose connection breaks without a response rejects at once and is not repeated',
    async play(stage) {
      const { session, calls } = await bent(stage, (response) => response.destroy());
      const reason = await rejects(4_000, 'the call', session.call('a', 'bent', {}, TEN));
      await sleep(stage.isQuick ? 1_000 : 3_000);
      check(calls() === 1, `the call was sent ${calls()} times`);
      await worksAgain(session);
      return reason;
    },
  },
  'empty-200': {
    holds: 'an empty response rejects the call at once; the next one works',
    async play(stage) {
      const { session } = await bent(stage, (response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end();
      });
      const reason = await rejects(4_000, 'the call', session.call('a', 'bent', {}, TEN));
      await worksAgain(session);
      return reason;
    },
  },
  'slow-loris': {
    holds: 'an endless slow response is cut off at the timeout of the call; the next one works',
    async play(stage) {
      const { session } = await bent(stage, (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        dribble(response);
      });
      const dribbling = session.call('a', 'bent', {}, { timeoutMs: 1_000 });
      const reason = await rejects(2_500, 'the call', dribbling, /time|limit|abort|answer|long/i);
      await worksAgain(session);
      return reason;
    },
  },
  'huge-result-json-http': {
    holds:
      'a 64 MB answer succeeds or fails with its size as the reason; the next call works; memory grows by 768 MiB at most',
    async play(stage) {
      const { session } = await bent(stage, (response, id) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        void pour(response, id, 64);
      });
      using memory = new Memory();
      const came = await outcome(13_000, session.call('a', 'bent', {}, { timeoutMs: 12_000 }));
      if (came.kind === 'answered') check(textOf(came.value).length === 64 << 20, 'the answer is not whole');
      if (came.kind === 'rejected') check(SIZE.test(came.reason), `the reason is not clear: ${came.reason}`);
      check(came.kind !== 'silent', 'nothing came of the call');
      await worksAgain(session);
      check(memory.grownMib <= 768, `memory grew by ${memory.grownMib} MiB`);
      return `${came.kind === 'rejected' ? came.reason : came.kind}; memory grew by ${memory.grownMib} MiB`;
    },
  },
  'abort-http': {
    holds: 'the call rejects at once, and the server sees a notification or a closed connection',
    async play(stage) {
      let isClosed = false;
      const { server, session, calls } = await bent(stage, (response) => {
        response.on('close', () => {
          isClosed = true;
        });
      });
      const abort = new AbortController();
      const hanging = session.call('a', 'bent', {}, { signal: abort.signal, timeoutMs: 10_000 });
      hanging.catch(() => {});
      await eventually(2_000, 'the call', async () => check(calls() === 1, 'it was not sent'));
      abort.abort();
      await rejects(300, 'the call', hanging);
      await eventually(2_000, 'the server', async () =>
        check(isClosed || server.asked('notifications/cancelled').length > 0, 'it hears nothing'),
      );
      await worksAgain(session);
      return undefined;
    },
  },
};

const SIZE = /large|size|limit|long|exceed|big|bytes|MiB|MB/i;
const TEN = { timeoutMs: 10_000 };

function dribble(response: ServerResponse): void {
  const timer = setInterval(() => response.write(' '), 100);
  response.on('close', () => clearInterval(timer));
}

/** Writes a large response one mebibyte at a time, so that the server does not hold it in memory. */
async function pour(response: ServerResponse, id: unknown, mebibytes: number): Promise<void> {
  const chunk = Buffer.alloc(1 << 20, 'x');
  response.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`);
  for (let i = 0; i < mebibytes && !response.destroyed; i++) {
    if (!response.write(chunk)) {
      await new Promise<void>((resolve) => {
        response.once('drain', resolve);
        response.once('close', resolve);
      });
    }
  }
  response.end('"}]}}');
}
