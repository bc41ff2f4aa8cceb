import { expect, test } from 'vitest';
import { ScriptedAgent } from '../../src/control/scripted-link.ts';
import { collect } from '../world/collect.ts';

test('what the program sends is taken in order, and must have the members expected', async () => {
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

test('a frame that has not come yet is waited for; the program’s end fails who waits', async () => {
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

test('the agent leaves as expected, or dies', async () => {
  const [leaves, dies] = [new ScriptedAgent(), new ScriptedAgent()];
  leaves.say({ n: 1 });
  leaves.leave();
  expect(await collect(leaves.link.frames)).toEqual([{ n: 1 }]);
  dies.leave(new Error('died'));
  await expect(collect(dies.link.frames)).rejects.toThrow('died');
  await expect(dies.link.send({})).rejects.toMatchObject({ code: 'closed' });
});
