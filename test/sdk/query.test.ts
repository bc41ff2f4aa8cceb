import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SDKMessage, SDKUserMessage } from '../../src/protocol/agent-message.ts';
import { AbortError } from '../../src/protocol/sdk-error.ts';
import { createQuery, userMessage } from '../../src/sdk/query.ts';
import type { Query } from '../../src/sdk/query-interface.ts';
import { type AgentScript, scriptAgent } from '../../src/sdk/testing/agent-script.ts';
import { createSdkMcpServer } from '../../src/tool-server/sdk-server.ts';
import { tool } from '../../src/tool-server/tool.ts';
import { collect } from '../support/collect.ts';
import { fakeDeps, playQuery, playThrough, turn } from './support/fake-deps.ts';

describe('query', () => {
  const user = (content: string, more = {}): SDKUserMessage => ({
    type: 'user',
    message: { role: 'user', content },
    parent_tool_use_id: null,
    ...more,
  });
  async function* yields(...messages: SDKUserMessage[]): AsyncGenerator<SDKUserMessage> {
    yield* messages;
  }
  const kinds = (messages: readonly SDKMessage[]) => messages.map((message) => message.type);
  const state = (name: string) => ({
    type: 'system',
    subtype: 'session_state_changed',
    state: name,
    sdk_host_only: true,
  });

  test('messages arrive unchanged in order, and the loop ends with the turn', async () => {
    const { messages, script } = await playThrough(
      turn(async (agent) => {
        agent.assistant('one');
        agent.agent.emit({ type: 'never_heard_of', x: 1 });
        agent.agent.emit({ type: 'keep_alive' });
        agent.assistant('two');
      }),
    );
    expect(kinds(messages)).toEqual(['assistant', 'never_heard_of', 'assistant', 'result']);
    expect(messages[1]).toEqual({ type: 'never_heard_of', x: 1 });
    expect(script.agent.sent.map((frame) => frame.type)).toEqual(['control_request', 'user']);
  });

  test('a string is one user message (R26)', async () => {
    const { script } = await playThrough(turn(), {}, 'hello');
    expect(script.agent.sent[1]).toEqual({
      type: 'user',
      session_id: '',
      message: { role: 'user', content: [{ type: 'text', text: 'hello' }] },
      parent_tool_use_id: null,
    });
    expect(userMessage('hello')).toEqual(script.agent.sent[1]);
  });

  test('streamed messages are sent unchanged in order, and each has its result', async () => {
    const stream = yields(user('one', { uuid: 'u', unknown_member: 1 }), user('two'));
    const { messages, script } = await playThrough(
      async (agent) => {
        await agent.start();
        expect([await agent.prompt(), await agent.prompt()]).toEqual(['one', 'two']);
        agent.result('first');
        agent.result('second');
      },
      {},
      stream,
    );
    expect(script.agent.sent.slice(1)).toEqual([user('one', { uuid: 'u', unknown_member: 1 }), user('two')]);
    expect(messages.map((it) => it.type === 'result' && it.subtype === 'success' && it.result)).toEqual([
      'first',
      'second',
    ]);
  });

  test.each([
    ['a text', 'one'],
    ['a stream', yields(user('one'))],
  ])('verbatimPrompts marks every message of %s', async (_, prompt) => {
    const { script } = await playThrough(turn(), { verbatimPrompts: true }, prompt);
    expect(script.agent.sent[1]).toMatchObject({ type: 'user', client_composed: true });
  });

  test('an empty stream initializes and ends the agent', async () => {
    const { messages, script } = await playThrough(async (agent) => void (await agent.start()), {}, yields());
    expect([messages, script.agent.sent.length]).toEqual([[], 1]);
  });

  test('the prompt is sent after the response to initialize (R65, C11)', async () => {
    const { script } = await playThrough(async (agent) => {
      const { request_id } = await agent.agent.take({ request: { subtype: 'initialize' } });
      // Frames arrive in order: a prompt that was sent would arrive before this response.
      await expect(agent.ask({ subtype: 'fence' })).rejects.toThrow('Unsupported');
      agent.agent.emit({
        type: 'control_response',
        response: { subtype: 'success', request_id, response: {} },
      });
      await agent.prompt();
      agent.result('done');
    });
    expect(script.agent.sent.map((frame) => frame.type)).toEqual([
      'control_request',
      'control_response',
      'user',
    ]);
  });

  test('a rejected initialize sends no prompt, and the loop throws its error', async () => {
    const { query, script, played } = playQuery(async (agent) => {
      await agent.answer('initialize', { error: 'not today' });
    });
    await expect(query.next()).rejects.toMatchObject({ code: 'control-failed', message: 'not today' });
    expect(await query.next()).toEqual({ done: true, value: undefined });
    await played;
    expect(script.agent.sent).toHaveLength(1);
  });

  test('a failing stream ends the input; the messages of the turn arrive, then its error is the cause', async () => {
    async function* failing(): AsyncGenerator<SDKUserMessage> {
      yield user('one');
      throw new Error('input broke');
    }
    const { query, played } = playQuery(
      turn(async (agent) => {
        await agent.agent.ended();
        agent.assistant('late');
      }),
      {},
      failing(),
    );
    const seen: string[] = [];
    const thrown = await (async () => {
      for await (const { type } of query) seen.push(type);
    })().catch((error: unknown) => error);
    expect(seen).toEqual(['assistant', 'result']);
    expect(thrown).toBeInstanceOf(AbortError);
    expect(thrown).toMatchObject({ name: 'Error', cause: { message: 'input broke' } });
    await played;
  });

  test.each([42, null, undefined, ['x'], {}])(
    'an invalid prompt (%j) is rejected before anything is started',
    (prompt) => {
      let isStarted = false;
      const link = () => {
        isStarted = true;
        throw new Error('started');
      };
      const { query } = createQuery(fakeDeps());
      expect(() => query({ prompt: prompt as never, options: { link } })).toThrow(
        expect.objectContaining({
          code: 'bad-option',
          message: 'prompt must be a string or an async iterable of user messages',
        }),
      );
      expect(isStarted).toBe(false);
    },
  );

  test('without an agent the default one is used; its error is thrown immediately', () => {
    expect(() => createQuery(fakeDeps()).query({ prompt: 'x' })).toThrow(
      'there is no default agent in tests',
    );
  });

  test('streamInput sends more while the query runs', async () => {
    const more = Promise.withResolvers<void>();
    async function* held(): AsyncGenerator<SDKUserMessage> {
      yield user('one');
      await more.promise;
    }
    const { query, script, played } = playQuery(
      async (agent) => {
        await agent.start();
        await agent.prompt();
        expect(await agent.prompt()).toBe('two');
        agent.result('first');
        agent.result('second');
      },
      {},
      held(),
    );
    await query.streamInput(yields(user('two')));
    more.resolve();
    expect(kinds(await collect(query))).toEqual(['result', 'result']);
    await played;
    expect(script.agent.sent).toHaveLength(3);
  });

  test('the input stays open after the result while the agent is running', async () => {
    const add = tool('add', 'Add', { type: 'object' }, () => 'served');
    const calc = createSdkMcpServer({ name: 'calc', tools: [add] });
    const { messages } = await playThrough(
      async (agent) => {
        await agent.start();
        await agent.prompt();
        agent.agent.emit(state('running'));
        agent.result('first');
        expect(await agent.callTool('calc', 'add')).toEqual({ content: [{ type: 'text', text: 'served' }] });
        agent.result('second');
        agent.agent.emit(state('idle'));
      },
      { mcpServers: { calc } },
    );
    expect(kinds(messages)).toEqual(['result', 'result']);
  });

  test('before closing the input, a request confirms that the agent has read all messages', async () => {
    const { messages, script } = await playThrough(
      async (agent) => {
        await agent.start();
        await agent.prompt();
        await agent.prompt();
        agent.agent.emit(state('running'));
        agent.result('first');
        agent.agent.emit(state('idle'));
        const { request_id } = await agent.agent.take({ request: { subtype: 'mcp_status' } });
        agent.agent.emit(state('running'));
        agent.agent.emit({ type: 'control_response', response: { subtype: 'success', request_id } });
        agent.result('second');
        agent.agent.emit(state('idle'));
      },
      {},
      yields(user('one'), user('two')),
    );
    expect(kinds(messages)).toEqual(['result', 'result']);
    expect(script.agent.sent.filter((frame) => frame.type === 'control_request')).toHaveLength(2);
  });

  test('messages combined in one turn need one result', async () => {
    const { messages } = await playThrough(
      async (agent) => {
        await agent.start();
        await agent.prompt();
        await agent.prompt();
        agent.agent.emit(state('running'));
        agent.result('both');
        agent.agent.emit(state('idle'));
        await agent.answer('mcp_status', { error: 'not known here' });
      },
      {},
      yields(user('one'), user('two')),
    );
    expect(kinds(messages)).toEqual(['result']);
  });

  test('a state message for the SDK only is not yielded', async () => {
    const { messages } = await playThrough(
      turn(async ({ agent }) => {
        agent.emit({ ...state('running'), sdk_host_only: false });
        agent.emit(state('idle'));
      }),
    );
    expect(messages[0]).toMatchObject({ subtype: 'session_state_changed', state: 'running' });
    expect(messages).toHaveLength(2);
  });

  test('close() ends the loop after the messages that already arrived', async () => {
    const { query, played } = playQuery(async (agent) => {
      await agent.start();
      await agent.prompt();
      agent.assistant('one');
      agent.assistant('two');
      await agent.answer('mcp_status');
      await agent.agent.ended();
    });
    await query.mcpServerStatus();
    query.close();
    query.close();
    expect(kinds(await collect(query))).toEqual(['assistant', 'assistant']);
    expect(await collect(query)).toEqual([]);
    await played;
  });

  test('close() wakes a loop that waits', async () => {
    const { query, played } = playQuery(async (agent) => {
      await agent.start();
      await agent.prompt();
    });
    const waiting = query.next();
    await query.initializationResult();
    query.close();
    expect(await waiting).toEqual({ done: true, value: undefined });
    await played;
  });

  test('close() before initialize ends without an error', async () => {
    const { query } = playQuery(async (agent) => void (await agent.agent.take()));
    query.close();
    expect(await collect(query)).toEqual([]);
    await expect(query.initializationResult()).rejects.toMatchObject({ code: 'closed' });
  });

  test('leaving the loop ends the agent', async () => {
    const { query, script, played } = playQuery(turn(async (agent) => agent.assistant('one')));
    for await (const message of query) {
      expect(message.type).toBe('assistant');
      break;
    }
    await script.agent.ended();
    await played;
  });

  test('an exception, throw() or the end of a block ends the agent', async () => {
    const thrower = playQuery(turn());
    await expect(thrower.query.throw(new Error('mine'))).rejects.toThrow('mine');
    await thrower.script.agent.ended();
    const block = playQuery(turn());
    {
      await using query = block.query;
      expect(query[Symbol.asyncIterator]()).toBe(query);
    }
    await block.script.agent.ended();
    await Promise.allSettled([thrower.played, block.played]);
  });

  test('an already aborted signal starts nothing: query() throws for a text, reading rejects for a stream', async () => {
    const abortController = new AbortController();
    abortController.abort();
    let isStarted = false;
    const link = () => {
      isStarted = true;
      throw new Error('started');
    };
    const { query } = createQuery(fakeDeps());
    const options = { abortController, link };
    expect(() => query({ prompt: 'x', options })).toThrow(AbortError);
    await expect(query({ prompt: yields(user('x')), options }).next()).rejects.toThrow(AbortError);
    expect(isStarted).toBe(false);
  });

  test('an abort ends the loop with an AbortError and the agent with it', async () => {
    const abortController = new AbortController();
    const { query, script, played } = playQuery(
      async (agent) => {
        await agent.start();
        await agent.prompt();
        agent.assistant('one');
        await agent.agent.ended();
      },
      { abortController },
    );
    await query.next();
    abortController.abort();
    await expect(query.next()).rejects.toThrow(AbortError);
    expect(await query.next()).toEqual({ done: true, value: undefined });
    await script.agent.ended();
    await played;
  });

  test('a shared controller holds no references to finished queries', async () => {
    const abortController = new AbortController();
    const added = vi.spyOn(abortController.signal, 'addEventListener');
    const removed = vi.spyOn(abortController.signal, 'removeEventListener');
    for (let n = 0; n < 3; n += 1) await playThrough(turn(), { abortController });
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([3, 3]);
  });

  test('a throwing stderr listener produces a warning only', async () => {
    const deps = fakeDeps();
    const dying = createQuery(deps).query({
      prompt: 'hello',
      options: {
        pathToClaudeCodeExecutable: process.execPath,
        executableArgs: ['-e', "console.error('last words'); process.exitCode = 3", '--'],
        stderr: () => {
          throw new Error('mine');
        },
      },
    });
    await expect(collect(dying)).rejects.toMatchObject({
      code: 'process-exited',
      message: 'Claude Code process exited with code 3. stderr: last words',
    });
    expect(deps.warnings).toEqual([
      { code: 'TOOLPLANE_LISTENER_THREW', message: 'options.stderr threw: mine' },
    ]);
  });

  test('startup() returns an agent that accepts one prompt (R26)', async () => {
    const agent = scriptAgent(turn());
    const { startup } = createQuery(fakeDeps());
    await using warm = await startup({ options: { link: agent.link } });
    expect(agent.script.agent.sent).toHaveLength(1);
    expect(() => warm.query(7 as never)).toThrow('prompt must be');
    expect(kinds(await collect(warm.query('hello')))).toEqual(['result']);
    expect(() => warm.query('again')).toThrow(expect.objectContaining({ code: 'closed' }));
    await agent.played;
  });

  test('startup() that is not used is closed with its block, or by close()', async () => {
    for (const end of ['block', 'close'] as const) {
      const agent = scriptAgent(async (it) => void (await it.start()));
      const warm = await createQuery(fakeDeps()).startup({ options: { link: agent.link } });
      if (end === 'block') await warm[Symbol.asyncDispose]();
      else warm.close();
      expect(() => warm.query('late')).toThrow(expect.objectContaining({ code: 'closed' }));
      await agent.played;
    }
  });

  test('startup() rejects with the start error and closes the agent', async () => {
    const agent = scriptAgent(async (it) => void (await it.answer('initialize', { error: 'not today' })));
    const started = createQuery(fakeDeps()).startup({ options: { link: agent.link } });
    await expect(started).rejects.toMatchObject({ code: 'control-failed', message: 'not today' });
    await agent.script.agent.ended();
  });

  test('startup() respects its time limit', async () => {
    const agent = scriptAgent(async (it) => void (await it.agent.take()));
    const started = createQuery(fakeDeps()).startup({
      options: { link: agent.link },
      initializeTimeoutMs: 5,
    });
    await expect(started).rejects.toMatchObject({
      code: 'timeout',
      message: 'The agent was not ready within 5 ms; raise initializeTimeoutMs if it may take longer',
    });
    await agent.script.agent.ended();
  });

  test.each([Number.POSITIVE_INFINITY, 2 ** 31])(
    'a time limit of %d ms for startup() does not fire immediately',
    async (ms) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const agent = scriptAgent(async (it) => {
        const { request_id } = await it.agent.take({ request: { subtype: 'initialize' } });
        await vi.advanceTimersByTimeAsync(50_000);
        it.agent.emit({
          type: 'control_response',
          response: { subtype: 'success', request_id, response: {} },
        });
      });
      const { startup } = createQuery(fakeDeps());
      await using _ = await startup({ options: { link: agent.link }, initializeTimeoutMs: ms });
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  test.each(['60', Number.NaN, -1])(
    'an invalid time limit for startup() (%j) is rejected by name',
    async (ms) => {
      const link = () => expect.unreachable('nothing is started');
      const started = createQuery(fakeDeps()).startup({
        options: { link },
        initializeTimeoutMs: ms as number,
      });
      await expect(started).rejects.toMatchObject({
        code: 'bad-option',
        message: `initializeTimeoutMs must be a number, 0 or more; it is ${ms}`,
      });
    },
  );

  test('an abort during startup() rejects it with an AbortError', async () => {
    const abortController = new AbortController();
    const agent = scriptAgent(async (it) => {
      await it.agent.take();
      abortController.abort();
    });
    const started = createQuery(fakeDeps()).startup({ options: { link: agent.link, abortController } });
    await expect(started).rejects.toThrow(AbortError);
    await agent.script.agent.ended();
  });
});

describe('query end', () => {
  test.each<[string, (query: Query) => PromiseLike<unknown>]>([
    ['return()', (query) => query.return()],
    ['throw()', (query) => query.throw(new Error('mine')).catch(() => {})],
    ['the end of its block', (query) => query[Symbol.asyncDispose]()],
  ])('after %s no further message is yielded', async (_, end) => {
    const { query, played } = playQuery(async (agent) => {
      await agent.start();
      await agent.prompt();
      agent.assistant('one');
      agent.assistant('two');
      await agent.answer('mcp_status');
      await agent.agent.ended();
    });
    await query.mcpServerStatus();
    await end(query);
    expect(await query.next()).toEqual({ done: true, value: undefined });
    await played;
  });

  /** A stream of the user that yields one message and then waits; `returns` counts the calls of `return()`. */
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

  /** Reads all messages; a failure is ignored. */
  const readOut = (query: Query) => collect(query).catch(() => {});

  test.each<[string, (query: Query, script: AgentScript, controller: AbortController) => unknown]>([
    ['closed', (query) => query.close()],
    ['left', (query) => query.return()],
    ['left by an exception', (query) => query.throw(new Error('mine')).catch(() => {})],
    ['disposed of', (query) => query[Symbol.asyncDispose]()],
    ['over with its agent', (query, script) => [script.agent.leave(), readOut(query)][1]],
    ['over by a death', (query, script) => [script.agent.leave(new Error('died')), readOut(query)][1]],
    ['aborted', (query, _, controller) => [controller.abort(), readOut(query)][1]],
  ])('the streams of a query that is %s are stopped once', async (_, end) => {
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

  test('the prompt stream of a pre-started agent is stopped with it', async () => {
    const isRunning = Promise.withResolvers<void>();
    const agent = scriptAgent(async (it) => {
      await it.start();
      await it.prompt();
      isRunning.resolve();
      await it.agent.ended();
    });
    const prompt = new Waiting();
    const warm = await createQuery(fakeDeps()).startup({ options: { link: agent.link } });
    warm.query(prompt);
    await isRunning.promise;
    warm.close();
    expect(prompt.returns).toBe(1);
    await agent.played;
  });

  test('a stream is stopped when the agent closes its input; an ended one is not', async () => {
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

  test('errors of a stream after it was stopped are ignored', async () => {
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

  test('a failing close() rejects only for its callers', async () => {
    const stuck = () => {
      const agent = scriptAgent(async (it) => void (await it.start()));
      const close = () => Promise.reject(new Error('stuck'));
      const link: typeof agent.link = (launch) => ({ ...agent.link(launch), close });
      return { link };
    };
    const { query, startup } = createQuery(fakeDeps());
    const asked = query({ prompt: 'hello', options: stuck() });
    asked.close();
    expect(await collect(asked)).toEqual([]);
    await expect(asked.return()).rejects.toThrow('stuck');
    const warm = await startup({ options: stuck() });
    warm.close();
    await expect(warm[Symbol.asyncDispose]()).rejects.toThrow('stuck');
  });
});
