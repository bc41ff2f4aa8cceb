import { expect, test } from 'vitest';
import type { SDKUserMessage } from '../../src/protocol/agent-message.ts';
import { createQuery, type Query, userMessage } from '../../src/sdk/query.ts';
import { type AgentScript, scriptAgent } from '../../src/sdk/scripted-agent.ts';
import { collect } from '../support/collect.ts';
import { fakeWorld, playQuery, turn } from './fake-world.ts';

test.each<[string, (query: Query) => Promise<unknown>]>([
  ['return()', (query) => query.return()],
  ['throw()', (query) => query.throw(new Error('mine')).catch(() => {})],
  ['the end of its block', (query) => query[Symbol.asyncDispose]()],
])('after %s no message comes any more, though some were there', async (_, end) => {
  const { query, played } = playQuery(async (agent) => {
    await agent.start();
    await agent.prompt();
    agent.say('one');
    agent.say('two');
    await agent.answer('mcp_status');
    await agent.agent.ended();
  });
  await query.mcpServerStatus();
  await end(query);
  expect(await query.next()).toEqual({ done: true, value: undefined });
  await played;
});

/** A stream of the user's that gives one message, then waits; it knows how often it was left. */
class Waiting implements AsyncIterableIterator<SDKUserMessage> {
  returns = 0;
  readonly #given = [userMessage('one')];
  readonly #over = Promise.withResolvers<IteratorResult<SDKUserMessage>>();

  async next(): Promise<IteratorResult<SDKUserMessage>> {
    const value = this.#given.shift();
    return value ? { done: false, value } : this.#over.promise;
  }

  async return(): Promise<IteratorResult<SDKUserMessage>> {
    this.returns += 1;
    this.#over.resolve({ done: true, value: undefined });
    return this.#over.promise;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Whatever it comes to. */
const readOut = (query: Query) => collect(query).catch(() => {});

test.each<[string, (query: Query, script: AgentScript, controller: AbortController) => unknown]>([
  ['closed', (query) => query.close()],
  ['left', (query) => query.return()],
  ['left by an exception', (query) => query.throw(new Error('mine')).catch(() => {})],
  ['disposed of', (query) => query[Symbol.asyncDispose]()],
  ['over with its agent', (query, script) => [script.agent.leave(), readOut(query)][1]],
  ['over by a death', (query, script) => [script.agent.leave(new Error('died')), readOut(query)][1]],
  ['aborted', (query, _, controller) => [controller.abort(), readOut(query)][1]],
])('the streams of a query that is %s are left, once', async (_, end) => {
  const prompt = new Waiting();
  const more = new Waiting();
  const abortController = new AbortController();
  const isRunning = Promise.withResolvers<void>();
  const play = async (agent: AgentScript) => {
    await agent.start();
    await agent.prompt();
    await agent.prompt();
    isRunning.resolve();
    await agent.agent.ended();
  };
  const { query, script } = playQuery(play, { abortController }, prompt);
  const streamed = query.streamInput(more);
  await isRunning.promise;
  await end(query, script, abortController);
  await streamed;
  query.close();
  expect([prompt.returns, more.returns]).toEqual([1, 1]);
});

test('a prompt is left with the agent that was started ahead of it', async () => {
  const isRunning = Promise.withResolvers<void>();
  const agent = scriptAgent(async (it) => {
    await it.start();
    await it.prompt();
    isRunning.resolve();
    await it.agent.ended();
  });
  const prompt = new Waiting();
  const warm = await createQuery(fakeWorld()).startup({ options: { link: agent.link } });
  warm.query(prompt);
  await isRunning.promise;
  warm.close();
  expect(prompt.returns).toBe(1);
  await agent.played;
});

test('a stream is left when the agent takes no more of it; one that has ended is not', async () => {
  const { query, played } = playQuery(turn());
  await collect(query);
  await played;
  const more = new Waiting();
  await expect(query.streamInput(more)).rejects.toThrow();
  expect(more.returns).toBe(1);
  const ended = new Waiting();
  await ended.next();
  await ended.return();
  await query.streamInput(ended);
  query.close();
  expect(ended.returns).toBe(1);
});

test('a stream that fails to be left does no harm, nor does one that fails later', async () => {
  const late = Promise.withResolvers<IteratorResult<SDKUserMessage>>();
  const isAsked = Promise.withResolvers<void>();
  const stubborn: AsyncIterableIterator<SDKUserMessage> = {
    next: () => {
      isAsked.resolve();
      return late.promise;
    },
    return: () => {
      throw new Error('I stay');
    },
    [Symbol.asyncIterator]: () => stubborn,
  };
  const { query } = playQuery(async (agent) => void (await agent.start()), {}, stubborn);
  await isAsked.promise;
  query.close();
  late.reject(new Error('too late'));
  expect(await collect(query)).toEqual([]);
});

test('a link whose close() fails disturbs nobody but who waits for it', async () => {
  const stuck = () => {
    const agent = scriptAgent(async (it) => void (await it.start()));
    const close = () => Promise.reject(new Error('stuck'));
    const link: typeof agent.link = (launch) => ({ ...agent.link(launch), close });
    return { link };
  };
  const { query, startup } = createQuery(fakeWorld());
  const asked = query({ prompt: 'hello', options: stuck() });
  asked.close();
  expect(await collect(asked)).toEqual([]);
  await expect(asked.return()).rejects.toThrow('stuck');
  const warm = await startup({ options: stuck() });
  warm.close();
  await expect(warm[Symbol.asyncDispose]()).rejects.toThrow('stuck');
});
