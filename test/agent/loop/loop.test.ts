import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addUsage,
  type LoopConfig,
  type LoopContext,
  type LoopEvent,
  loop,
  NO_USAGE,
} from '../../../src/agent/loop/loop.ts';
import type { PreparedCall, ToolUse } from '../../../src/agent/loop/run-calls.ts';
import { ModelError, type ModelEvent, type ModelRequest } from '../../../src/agent/models/model.ts';
import {
  fails,
  type MessageReply,
  type ModelScript,
  type ScriptedModel,
  scriptedModel,
  text,
  thinking,
  together,
  toolUse,
} from '../../../src/agent/models/scripted.ts';

const LOST = new ModelError('broken-reply', 'lost');
const START = {
  id: 'msg_0',
  type: 'message' as const,
  role: 'assistant' as const,
  model: 'm',
  content: [],
  stop_reason: null,
  stop_sequence: null,
};

describe('loop', () => {
  const ok = (content: string) => ({ content, isError: false });
  const runs = (
    run: (signal: AbortSignal) => Promise<{ content: string; isError: boolean }>,
  ): PreparedCall => ({
    kind: 'run',
    isConcurrent: true,
    run,
  });

  type Play = { model: ScriptedModel; context: LoopContext; events: LoopEvent[]; config: LoopConfig };

  function play(script: ModelScript, more: Partial<LoopConfig> = {}): Play {
    const model = scriptedModel(script);
    return {
      model,
      context: { messages: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }] },
      events: [],
      config: {
        model,
        modelName: 'm',
        maxTokens: 1000,
        round: () => ({ system: 's', tools: [] }),
        prepare: async (call) => runs(async () => ok(`did ${call.name}`)),
        ...more,
      },
    };
  }

  const run = ({ context, config, events }: Play, signal = new AbortController().signal) =>
    loop(context, config, (event) => events.push(event), signal);

  test('a reply without a tool use ends the loop', async () => {
    const it = play([text('hello')]);
    expect(await run(it)).toMatchObject({ reason: 'done', turns: 1 });
    expect(it.context.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'hello' }] },
    ]);
  });

  test('images that the model rejects are removed, and the request is repeated', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
    const rejects = fails(new ModelError('bad-image', 'no'));
    const it = play([rejects, rejects, text('ok')]);
    it.context.messages.push(
      { role: 'user', content: [{ type: 'image', source }] },
      { role: 'assistant', content: [{ type: 'text', text: 'seen' }] },
      { role: 'user', content: [{ type: 'image', source }] },
    );
    expect(await run(it)).toMatchObject({ reason: 'done', turns: 1 });
    const images = it.model.requests.map(
      ({ messages }) => JSON.stringify(messages).split('"image"').length - 1,
    );
    expect(images).toEqual([2, 1, 0]);
    expect(it.events.filter(({ kind }) => kind === 'images-removed')).toEqual([
      { kind: 'images-removed', which: 'latest' },
      { kind: 'images-removed', which: 'all' },
    ]);
    await expect(run(play([rejects]))).rejects.toMatchObject({ code: 'bad-image' });
  });

  test('images stay in the conversation if the request without them fails too', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
    const rejects = fails(new ModelError('bad-image', 'no'));
    for (const last of [rejects, fails(new ModelError('bad-request', 'no'))]) {
      const it = play([rejects, last]);
      it.context.messages.push({ role: 'user', content: [{ type: 'image', source }] });
      const before = structuredClone(it.context.messages);
      await expect(run(it)).rejects.toBeInstanceOf(ModelError);
      expect(it.model.requests).toHaveLength(2);
      expect(it.context.messages).toEqual(before);
      expect(it.events.filter(({ kind }) => kind === 'images-removed')).toEqual([]);
    }
  });

  test('runs a tool use and sends its result in the next request', async () => {
    const it = play([toolUse('Add', { a: 1 }, 't1'), text('done')]);
    expect(await run(it)).toMatchObject({ reason: 'done', turns: 2 });
    expect(it.model.requests[1]?.messages.at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1', content: 'did Add' }],
    });
  });

  test('tools and system prompt are computed for each request (R146, R147)', async () => {
    let rounds = 0;
    const it = play([toolUse('connect_mcp'), text('done')], {
      round: () => {
        rounds++;
        return {
          system: `round ${rounds}`,
          tools: [{ name: `t${rounds}`, description: '', input_schema: {} }],
        };
      },
    });
    await run(it);
    expect(it.model.requests.map(({ system, tools }) => [system, tools.map(({ name }) => name)])).toEqual([
      ['round 1', ['t1']],
      ['round 2', ['t2']],
    ]);
  });

  test('concurrent calls run side by side; results keep the order of the calls', async () => {
    const started: string[] = [];
    const gates = { a: Promise.withResolvers<void>(), b: Promise.withResolvers<void>() };
    const it = play([together(toolUse('a', {}, '1'), toolUse('b', {}, '2')), text('done')], {
      prepare: async (call) =>
        runs(async () => {
          started.push(call.name);
          if (started.length === 2) gates.b.resolve();
          await gates[call.name as 'a' | 'b'].promise;
          gates.a.resolve();
          return ok(call.name);
        }),
    });
    await run(it);
    expect(started).toEqual(['a', 'b']);
    expect(it.events.filter((event) => event.kind === 'call-finished').map(({ call }) => call.name)).toEqual([
      'b',
      'a',
    ]);
    expect(it.context.messages[2]?.content).toMatchObject([{ tool_use_id: '1' }, { tool_use_id: '2' }]);
  });

  test('an exclusive call waits for earlier calls, and later calls wait for it', async () => {
    const log: string[] = [];
    const it = play([together(toolUse('r1'), toolUse('w'), toolUse('r2')), text('done')], {
      prepare: async (call: ToolUse) => ({
        kind: 'run',
        isConcurrent: call.name !== 'w',
        run: async () => {
          log.push(`+${call.name}`);
          await Promise.resolve();
          log.push(`-${call.name}`);
          return ok('');
        },
      }),
    });
    await run(it);
    expect(log).toEqual(['+r1', '-r1', '+w', '-w', '+r2', '-r2']);
  });

  test.each<[string, LoopConfig['prepare'], string]>([
    ['a handler that rejects', async () => runs(async () => Promise.reject(new Error('boom'))), 'boom'],
    ['a decision that throws', async () => Promise.reject(new Error('no rules')), 'no rules'],
    ['a denial', async () => ({ kind: 'answered', outcome: { content: 'denied', isError: true } }), 'denied'],
  ])('%s is an error result, and the loop continues', async (_, prepare, content) => {
    const it = play([toolUse('t', {}, '1'), text('done')], { prepare });
    expect(await run(it)).toMatchObject({ reason: 'done' });
    expect(it.context.messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: '1', content, is_error: true },
    ]);
  });

  test('arguments that are not a JSON object never reach the tool', async () => {
    const it = play([toolUse('t', '{"a": ', '1'), text('done')]);
    await run(it);
    expect(it.context.messages[2]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: '1',
        content: 'The arguments of t are not a JSON object: {"a": ',
        is_error: true,
      },
    ]);
  });

  test('maxTurns stops the loop with every call answered', async () => {
    const it = play(() => toolUse('t'), { maxTurns: 3 });
    expect(await run(it)).toMatchObject({ reason: 'max-turns', turns: 3 });
    expect(it.context.messages.at(-1)?.role).toBe('user');
  });

  test('a reply that reached its length limit is continued a limited number of times', async () => {
    const cut = { ...text('a'), stopReason: 'max_tokens' };
    const twice = play([cut, text('b')]);
    expect(await run(twice)).toMatchObject({ reason: 'done', turns: 2 });
    const forever = play(() => cut);
    await expect(run(forever)).rejects.toMatchObject({ code: 'reply-limit' });
    expect(forever.model.requests).toHaveLength(4);
  });

  test.each([
    ['without text', text(' '), 2],
    ['of thoughts only', thinking('hm'), 2],
    ['that fills the window', { ...text('a'), stopReason: 'model_context_window_exceeded' }, 2],
    ['that is refused', { ...text('a'), stopReason: 'refusal' }, 2],
    ['that pauses', { ...text('a'), stopReason: 'pause_turn' }, 1],
  ])(
    'a reply %s is followed by as many requests as expected, whatever the limit of turns',
    async (_, reply, requests) => {
      const it = play([reply, text('the end')], { maxTurns: 1 });
      expect(await run(it)).toMatchObject({ reason: 'done', turns: requests });
      expect(it.model.requests).toHaveLength(requests);
    },
  );

  test('a second empty reply ends the turn, a second refusal fails it', async () => {
    const empty = play(() => text(''));
    expect(await run(empty)).toMatchObject({ reason: 'done', turns: 2 });
    const refused = play(() => ({ ...text(''), stopReason: 'refusal' }));
    await expect(run(refused)).rejects.toMatchObject({ code: 'refused' });
    expect(refused.model.requests).toHaveLength(2);
  });

  test('the calls of a refused reply are not made', async () => {
    const made: string[] = [];
    const prepare = async (call: ToolUse) => {
      made.push(call.name);
      return runs(async () => ok('done'));
    };
    const it = play([{ ...toolUse('t'), stopReason: 'refusal' }, text('the end')], { prepare });
    expect(await run(it)).toMatchObject({ reason: 'done', turns: 2 });
    expect(made).toEqual([]);
    expect(it.events).toContainEqual(expect.objectContaining({ kind: 'text-added', refused: 'msg_0001' }));
  });

  test('a reply that breaks off after a block is continued; its calls are run', async () => {
    const broken = (...blocks: MessageReply[]) => ({ ...together(...blocks), error: LOST });
    const it = play([broken(text('one')), broken(text('two'), toolUse('t')), text('three')]);
    expect(await run(it)).toMatchObject({ reason: 'done', turns: 3 });
    expect(it.context.messages.map(({ role, content }) => [role, content[0]?.type])).toEqual([
      ['user', 'text'],
      ['assistant', 'text'],
      ['user', 'text'],
      ['assistant', 'text'],
      ['user', 'tool_result'],
      ['assistant', 'text'],
    ]);
  });

  test('replies that break off after a block end the turn with the error after three continuations', async () => {
    const it = play(() => ({ ...text('one'), error: LOST }));
    await expect(run(it)).rejects.toBe(LOST);
    expect(it.model.requests).toHaveLength(4);
  });

  test('the part of a reply that a repeated request replaces counts toward the usage', async () => {
    const inner = scriptedModel([text('half'), text('whole')]);
    const model = {
      ...inner,
      async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
        yield { type: 'message_start', message: { ...START, usage: { input_tokens: 7, output_tokens: 1 } } };
        yield { type: 'reply_broken' };
        yield* inner.stream(request);
      },
    };
    const it = play([], { model });
    expect((await run(it)).usage).toEqual({ input_tokens: 17, output_tokens: 6 });
    expect(it.events.filter(({ kind }) => kind === 'discarded')).toEqual([
      { kind: 'discarded', usage: { input_tokens: 7, output_tokens: 1 }, model: 'm' },
    ]);
  });

  test('an error of the model rejects the loop and leaves the conversation unchanged', async () => {
    const it = play([fails(new ModelError('unauthorized', 'no key'))]);
    await expect(run(it)).rejects.toMatchObject({ code: 'unauthorized' });
    expect(it.context.messages).toHaveLength(1);
  });

  test('an interrupt in a slow call ends the loop; the call has its result, and another turn works', async () => {
    const controller = new AbortController();
    const it = play([toolUse('slow', {}, '1'), text('again')], {
      prepare: async () =>
        runs(async (signal) => {
          queueMicrotask(() => controller.abort());
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          return new Promise<never>(() => {});
        }),
    });
    expect(await run(it, controller.signal)).toMatchObject({ reason: 'interrupted', turns: 1 });
    expect(it.context.messages.at(-1)?.content).toMatchObject([{ tool_use_id: '1', is_error: true }]);
    it.context.messages.push({ role: 'user', content: [{ type: 'text', text: 'next' }] });
    expect(await run(it)).toMatchObject({ reason: 'done' });
  });

  test('interrupted at any event, every tool use has exactly one result', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 40 }), async (stopAt) => {
        const controller = new AbortController();
        const it = play([
          together(text('x'), toolUse('a', {}, '1'), toolUse('b', {}, '2')),
          toolUse('c', {}, '3'),
          text('done'),
        ]);
        let seen = 0;
        await loop(
          it.context,
          it.config,
          () => void (seen++ === stopAt && controller.abort()),
          controller.signal,
        );
        const blocks = it.context.messages.flatMap(
          ({ content }) => content as { type: string; id?: string; tool_use_id?: string }[],
        );
        const asked = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
        const answered = blocks
          .filter(({ type }) => type === 'tool_result')
          .map(({ tool_use_id }) => tool_use_id);
        expect(answered).toEqual(asked);
      }),
    );
  });
});

describe('add usage', () => {
  test.each([
    [
      { input_tokens: 1, output_tokens: 2 },
      { input_tokens: 3, output_tokens: 4 },
      { input_tokens: 4, output_tokens: 6 },
    ],
    [
      { input_tokens: 1, output_tokens: 0, cache_read_input_tokens: null },
      { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 7 },
      { input_tokens: 1, output_tokens: 0, cache_read_input_tokens: 7 },
    ],
    [
      { input_tokens: 1, output_tokens: 1, service_tier: 'a' },
      { input_tokens: 1, output_tokens: 1, service_tier: 'b', toString: 5 },
      { input_tokens: 2, output_tokens: 2, service_tier: 'a', toString: 5 },
    ],
    [
      { input_tokens: 1, output_tokens: 1, cache_creation: { ephemeral_5m_input_tokens: 3 } },
      { input_tokens: 1, output_tokens: 1, cache_creation: { ephemeral_5m_input_tokens: 4 }, more: { n: 1 } },
      { input_tokens: 2, output_tokens: 2, cache_creation: { ephemeral_5m_input_tokens: 7 }, more: { n: 1 } },
    ],
  ])('%j and %j', (a, b, sum) => {
    expect(addUsage(a as never, b as never)).toEqual(sum);
  });

  test('nothing changes what is added', () => {
    expect(addUsage(NO_USAGE, NO_USAGE)).toEqual(NO_USAGE);
    expect(Object.isFrozen(NO_USAGE)).toBe(true);
  });
});
