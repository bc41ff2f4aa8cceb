import { expect, test } from 'vitest';
import { ScriptedAgent } from '../../src/control/scripted-link.ts';
import { collect } from '../support/collect.ts';

test('frames of the program are read in order and must have the expected members', async () => {
  const agent = new ScriptedAgent();
  await agent.link.send({ type: 'a', request: { subtype: 'x', more: [1] } });
  await agent.link.send({ type: 'b' });
  expect(await agent.take({ request: { subtype: 'x' } })).toEqual({
    type: 'a',
    request: { subtype: 'x', more: [1] },
  });
  await expect(agent.take({ type: 'c' })).rejects.toMatchObject({
    code: 'script-mismatch',
    message: 'The program sent {"type":"b"}; expected {"type":"c"}',
  });
  expect(agent.sent).toHaveLength(2);
});

test.each([
  [{ list: [1] }, false],
  [{ list: [1, 2] }, true],
  [{ deep: { a: 1 } }, true],
  [{ deep: { a: undefined } }, false],
  [{ deep: { missing: undefined } }, true],
  [{ list: { 0: 1 } }, true],
  [{ text: { length: 1 } }, false],
])('the frame has the members %j: %s', async (expected, isMatch) => {
  const agent = new ScriptedAgent();
  await agent.link.send({ list: [1, 2], deep: { a: 1, b: 2 }, text: 'a' });
  const taken = agent.take(expected);
  await (isMatch
    ? expect(taken).resolves.toBeDefined()
    : expect(taken).rejects.toMatchObject({ code: 'script-mismatch' }));
});

test('waits for the next frame; the end of the program rejects', async () => {
  const agent = new ScriptedAgent();
  const first = agent.take();
  const second = agent.take({ type: 'never' });
  await agent.link.send({ type: 'a' });
  expect(await first).toEqual({ type: 'a' });
  const ended = agent.ended();
  agent.link.end();
  await ended;
  await expect(second).rejects.toMatchObject({
    code: 'script-mismatch',
    message: 'The program ended; expected {"type":"never"}',
  });
});

test('the agent closes normally or with an error', async () => {
  const [leaves, dies] = [new ScriptedAgent(), new ScriptedAgent()];
  leaves.emit({ n: 1 });
  leaves.leave();
  expect(await collect(leaves.link.frames)).toEqual([{ n: 1 }]);
  dies.leave(new Error('died'));
  await expect(collect(dies.link.frames)).rejects.toThrow('died');
  await expect(dies.link.send({})).rejects.toMatchObject({ code: 'closed' });
});

const asks = (id: string, request: object) => ({ type: 'control_request', request_id: id, request });
const answers = (id: string) => ({
  type: 'control_response',
  response: { subtype: 'success', request_id: id },
});
const tells = (id: string, method: string, params?: object) =>
  asks(id, { subtype: 'mcp_message', server_name: 'calc', message: { jsonrpc: '2.0', method, params } });

test('responses reach their request in any order; other frames are read in order', async () => {
  const agent = new ScriptedAgent();
  const [first, second] = [agent.takeAnswer('1'), agent.takeAnswer('2')];
  const next = agent.take();
  for (const id of ['2', 'other', '1']) await agent.link.send(answers(id));
  expect(await Promise.all([first, second, next])).toEqual(['1', '2', 'other'].map(answers));
});

test('a missing response rejects when the program ends', async () => {
  const agent = new ScriptedAgent();
  const answer = agent.takeAnswer('1');
  agent.link.end();
  await expect(answer).rejects.toMatchObject({
    code: 'script-mismatch',
    message: 'The program ended; expected {"type":"control_response","response":{"request_id":"1"}}',
  });
});

test('notifications are delivered only to callers that expect one', async () => {
  const agent = new ScriptedAgent();
  await agent.link.send(tells('1', 'notifications/progress', { progress: 1 }));
  await agent.link.send(tells('2', 'notifications/tools/list_changed'));
  await agent.link.send({ type: 'user' });
  await agent.link.send(asks('3', { subtype: 'interrupt' }));
  expect(await agent.take()).toEqual({ type: 'user' });
  expect(await agent.take({ type: 'control_request' })).toMatchObject({ request_id: '3' });
  expect(await agent.takeNotification('notifications/tools/list_changed')).toEqual({
    server: 'calc',
    method: 'notifications/tools/list_changed',
    params: {},
  });
  expect(await agent.take({ request: { subtype: 'mcp_message' } })).toMatchObject({ request_id: '1' });
  expect(agent.notifications.map(({ method, params }) => [method, params])).toEqual([
    ['notifications/progress', { progress: 1 }],
    ['notifications/tools/list_changed', {}],
  ]);
});

test('a request of a server is not a notification', async () => {
  const agent = new ScriptedAgent();
  const message = { jsonrpc: '2.0', id: 1, method: 'roots/list' };
  await agent.link.send(asks('1', { subtype: 'mcp_message', server_name: 'calc', message }));
  expect(agent.notifications).toEqual([]);
  expect(await agent.take()).toMatchObject({ request: { message } });
});
