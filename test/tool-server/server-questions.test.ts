import { expect, test } from 'vitest';
import type { RpcMessage } from '../../src/protocol/json-rpc.ts';
import { ServerQuestions, type SessionUser } from '../../src/tool-server/server-questions.ts';

type Listener = SessionUser & { heard: RpcMessage[] };

function user(): Listener {
  const heard: RpcMessage[] = [];
  return { heard, port: { server: 'hand', assigns: {}, send: (message) => heard.push(message) } };
}

const roots = (id: number) => ({ jsonrpc: '2.0' as const, id, method: 'roots/list' });

test('each question has an id of its own, and only the one asked can answer, once', () => {
  const questions = new ServerQuestions();
  const [one, other] = [user(), user()];
  questions.ask(one, roots(7));
  questions.ask(other, roots(8));
  expect([one.heard, other.heard]).toEqual([[roots(0)], [roots(1)]]);
  expect(questions.answer(other, 0)).toBeUndefined();
  expect(questions.answer(one, 0)).toBe(7);
  expect(questions.answer(one, 0)).toBeUndefined();
  expect(questions.answer(other, 1)).toBe(8);
});

test('a question taken back is taken back from the one who was asked; an unknown one from nobody', () => {
  const questions = new ServerQuestions();
  const [one, other] = [user(), user()];
  questions.ask(one, roots(7));
  questions.takeBack({ requestId: 7, reason: 'late' });
  questions.takeBack({ requestId: 7 });
  expect(one.heard[1]).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 0, reason: 'late' },
  });
  expect([one.heard.length, other.heard, questions.answer(one, 0)]).toEqual([2, [], undefined]);
});

test('who leaves leaves its own questions open, and nobody else’s', () => {
  const questions = new ServerQuestions();
  const [one, other] = [user(), user()];
  questions.ask(one, roots(7));
  questions.ask(other, roots(8));
  questions.ask(one, roots(9));
  expect(questions.leave(one)).toEqual([7, 9]);
  expect(questions.leave(one)).toEqual([]);
  questions.clear();
  expect(questions.answer(other, 1)).toBeUndefined();
});
