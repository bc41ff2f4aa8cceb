import { randomUUID } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { INTERRUPTED } from '../../../src/agent/loop/run-calls.ts';
import {
  type Model,
  ModelError,
  type ModelMessage,
  type ModelRequest,
} from '../../../src/agent/models/model.ts';
import { fails, scriptedModel, text, toolUse } from '../../../src/agent/models/scripted.ts';
import { AgentSession } from '../../../src/agent/session/agent-session.ts';
import { readTranscript } from '../../../src/agent/transcript/read-transcript.ts';
import { Transcript } from '../../../src/agent/transcript/transcript.ts';
import { memoryLinks } from '../../../src/control/memory-link.ts';
import type { Frame } from '../../../src/protocol/control-frame.ts';
import type { HookInput } from '../../../src/protocol/hook.ts';
import type { NonNullableUsage } from '../../../src/protocol/usage-report.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { collect } from '../../support/collect.ts';
import {
  allow,
  calc,
  drive,
  kinds,
  raw,
  resultOf,
  results,
  said,
  sessionOptions,
  texts,
  untilResult,
} from '../../support/drive.ts';
import { fixture, isAlive } from '../../support/fixture-server.ts';
import { gate } from '../../support/gate.ts';
import { temporaryRoot } from '../transcript/sessions.ts';

describe('session turns', () => {
  const user = (content: unknown, more: Frame = {}): Frame => ({
    type: 'user',
    message: { role: 'user', content },
    ...more,
  });

  /** Prompts that the test sends one by one. */
  function byHand() {
    const gates = [gate(), gate(), gate()];
    async function* prompts() {
      for (const [at, door] of gates.entries()) {
        await door.pass();
        yield said(`prompt ${at + 1}`);
      }
    }
    return { prompts: prompts(), next: (at: number) => gates[at]?.open() };
  }

  test('messages during a turn are queued and answered in order', async () => {
    const first = gate();
    const { send, ask, model, result } = raw(async (_, n) => {
      if (n === 1) await first.pass();
      return text(`reply ${n}`);
    });
    await send(user('one'));
    await first.reached;
    await send(user('two', { uuid: 'u2' }));
    await send(user('three'));
    // Control requests of the program are answered during the turn.
    expect(await ask('mcp_status')).toMatchObject({ subtype: 'success' });
    first.open();
    expect(await Promise.all([1, 2, 3].map((n) => result(n)))).toMatchObject([
      { result: 'reply 1' },
      { result: 'reply 2' },
      { result: 'reply 3' },
    ]);
    expect(model.requests.map(texts)).toEqual([['one'], ['two'], ['three']]);
  });

  test('an interrupt returns the ids of queued messages, which run afterwards', async () => {
    const first = gate();
    const { send, ask, result } = raw(async (_, n) => {
      if (n === 1) await first.pass();
      return text(`reply ${n}`);
    });
    await send(user('one', { uuid: 'u1' }));
    await first.reached;
    await send(user('two', { uuid: 'u2' }));
    await send(user('three'));
    expect(await ask('interrupt')).toMatchObject({ response: { still_queued: ['u2'] } });
    expect(await result(1)).toMatchObject({
      subtype: 'error_during_execution',
      terminal_reason: 'aborted_streaming',
      num_turns: 2,
      modelUsage: {},
    });
    expect(await result(2)).toMatchObject({ subtype: 'success', result: 'reply 2' });
    expect(await result(3)).toMatchObject({ subtype: 'success', result: 'reply 3' });
    expect(await ask('interrupt')).toMatchObject({ response: { still_queued: [] } });
  });

  test('a message without a turn is part of the next turn, and has an empty result', async () => {
    const { send, model, result, seen } = raw([text('ok')]);
    await send(user('know this', { shouldQuery: false }));
    await send(user('what do you know?'));
    expect(await result(2)).toMatchObject({ result: 'ok' });
    expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'know this' }],
      [{ type: 'text', text: 'what do you know?' }],
    ]);
    const [first] = seen.filter(({ type }) => type === 'result');
    expect(first).toMatchObject({ subtype: 'success', is_error: false, result: '', num_turns: 0 });
    expect(first).not.toHaveProperty('terminal_reason');
  });

  test('replayed messages follow the init message of their turn; a repeated one comes back at once', async () => {
    const { send, result, seen, ask } = raw(() => text('ok'), { replayUserMessages: true });
    await send(user('one', { uuid: 'u1' }));
    await result(1);
    await send(user('one', { uuid: 'u1' }));
    await ask('mcp_status');
    await send(user('two', { isSynthetic: true }));
    await result(2);
    const replayed = {
      type: 'user',
      isReplay: true,
      uuid: 'u1',
      message: { role: 'user', content: 'one' },
      parent_tool_use_id: null,
    };
    const of = (kinds: readonly unknown[]) => seen.filter(({ type }) => kinds.includes(type));
    expect(of(['system', 'user', 'result'])).toMatchObject([
      { subtype: 'init' },
      { ...replayed, timestamp: expect.any(String) },
      { subtype: 'success' },
      replayed,
      { subtype: 'init' },
      { subtype: 'success' },
    ]);
    expect(of(['user'])[1]).not.toHaveProperty('timestamp');
  });

  test('an interrupt cancels a permission request; the next turn works', async () => {
    const { prompts, next } = byHand();
    const withdrawn = Promise.withResolvers<void>();
    const asked = gate();
    const { query, model } = drive([toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1'), text('second')], {
      prompt: prompts,
      mcpServers: { calc: calc() },
      canUseTool: async (_, __, { signal }) => {
        signal.addEventListener('abort', () => withdrawn.resolve());
        await asked.pass();
        return { behavior: 'allow' };
      },
    });
    next(0);
    const first = untilResult(query);
    await asked.reached;
    await query.interrupt();
    await withdrawn.promise;
    expect(resultOf(await first)).toMatchObject({ subtype: 'error_during_execution' });
    // This answer is too late: no call may run.
    asked.open();
    next(1);
    expect(resultOf(await untilResult(query))).toMatchObject({ subtype: 'success', result: 'second' });
    expect(results(model.requests[1]).t1).toMatch(/^!The call was interrupted before it was started/);
  });

  test('an interrupt keeps the partial reply; the next turn works', async () => {
    const spoken = Promise.withResolvers<void>();
    const script = scriptedModel([text('Once upon', ' a time'), text('second')]);
    const model: Model = {
      ...script,
      async *stream(request) {
        for await (const event of script.stream(request)) {
          yield event;
          if (event.type !== 'content_block_delta' || script.requests.length > 1) continue;
          spoken.resolve();
          await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
        }
      },
    };
    const { send, ask, result, session, seen } = raw([], { model });
    await send(user('tell me'));
    await spoken.promise;
    await ask('interrupt');
    expect(await result(1)).toMatchObject({
      subtype: 'error_during_execution',
      terminal_reason: 'aborted_streaming',
      num_turns: 2,
    });
    const note = { role: 'user', content: [{ type: 'text', text: '[Request interrupted by user]' }] };
    expect(session.conversation.messages.slice(1)).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'Once upon' }] },
      note,
    ]);
    expect(seen.filter(({ type }) => type === 'user')).toMatchObject([
      { message: note, parent_tool_use_id: null, timestamp: expect.any(String) },
    ]);
    await send(user('go on'));
    expect(await result(2)).toMatchObject({ subtype: 'success', result: 'second' });
  });

  test('an interrupt during a UserPromptSubmit hook drops the prompt', async () => {
    const { prompts, next } = byHand();
    const asked = gate<object>();
    let calls = 0;
    const { query, model, session } = drive([text('second')], {
      prompt: prompts,
      hooks: {
        UserPromptSubmit: [
          {
            hooks: [async () => (++calls === 1 ? ((await asked.pass()) as never) : {})],
          },
        ],
      },
    });
    next(0);
    const first = untilResult(query);
    await asked.reached;
    await query.interrupt();
    expect(resultOf(await first)).toMatchObject({ subtype: 'error_during_execution' });
    expect(session().conversation.messages).toEqual([]);
    next(1);
    expect(resultOf(await untilResult(query))).toMatchObject({ result: 'second' });
    expect(model.requests.map(texts)).toEqual([['prompt 2']]);
  });

  test('an interrupt cancels the call of an external server; the next turn works', async () => {
    const { send, ask, result, find, model } = raw(
      [toolUse('mcp__fix__wait', {}, 't1'), toolUse('mcp__fix__cancelled', {}, 't2'), text('second')],
      { servers: { fix: fixture() }, rules: allow('mcp__fix') },
    );
    await send(user('one'));
    await find(({ type }) => type === 'tool_progress');
    await ask('interrupt');
    expect(await result(1)).toMatchObject({ subtype: 'error_during_execution' });
    await send(user('two'));
    expect(await result(2)).toMatchObject({ result: 'second' });
    expect(results(model.requests[2])).toEqual({
      t1: `!${INTERRUPTED}`,
      t2: '1',
    });
  });

  test('partial messages are sent only on request, each with its own id', async () => {
    for (const includePartialMessages of [true, false]) {
      const { query } = drive([text('Hel', 'lo')], {}, { includePartialMessages });
      const messages = await collect(query);
      const parts = messages.filter((message) => message.type === 'stream_event');
      expect(parts.map((it) => it.event.type)).toEqual(
        includePartialMessages
          ? [
              'message_start',
              'content_block_start',
              'content_block_delta',
              'content_block_delta',
              'content_block_stop',
              'message_delta',
              'message_stop',
            ]
          : [],
      );
      const ids = messages.map(({ uuid }) => uuid);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  test('replies and the result name the user message, if the program gave it an id', async () => {
    const uuid = '11111111-1111-4111-8111-111111111111';
    const { send, result, seen } = raw([text('one'), text('two')], { includePartialMessages: true });
    await send({ ...user('go'), uuid });
    await result();
    const named = seen.filter(({ user_message_uuid }) => user_message_uuid === uuid);
    expect(named.map(({ type }) => type)).toEqual(['stream_event', 'assistant', 'result']);
    expect(named.every(({ user_message_uuids }) => String(user_message_uuids) === uuid)).toBe(true);
    seen.length = 0;
    await send(user('again'));
    await result();
    expect(seen.filter((message) => 'user_message_uuid' in message)).toEqual([]);
  });

  test('reports the states running, requires_action, running, idle on request', async () => {
    for (const reportsState of ['to-sdk', 'to-program', undefined] as const) {
      const { send, ask, asked, answer, result, find, seen } = raw(
        [toolUse('Read', { file_path: '/etc/hostname' }, 't1'), text('ok')],
        { ...(reportsState && { reportsState }), builtIns: ['Read'] },
      );
      await send(user('go'));
      const { request_id } = await asked('can_use_tool');
      expect(await ask('initialize')).toMatchObject({ response: { session_state: 'requires_action' } });
      await answer(request_id, { behavior: 'deny', message: 'no' });
      await result();
      if (reportsState) await find(({ state }) => state === 'idle');
      const isHidden = reportsState === 'to-sdk' ? true : undefined;
      const states = seen.flatMap(({ subtype, state, sdk_host_only }) =>
        subtype === 'session_state_changed' ? [[state, sdk_host_only]] : [],
      );
      expect(states).toEqual(
        reportsState
          ? ['running', 'requires_action', 'running', 'idle'].map((state) => [state, isHidden])
          : [],
      );
    }
  });

  const BEFORE: readonly ModelMessage[] = [
    { role: 'user', content: [{ type: 'text', text: 'my name is Ada' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'Hello Ada' }] },
  ];

  test('a resumed session continues, and SessionStart gets the source "resume"', async () => {
    const cwd = await realpath(await temporaryRoot());
    const command = { kind: 'command', command: 'cat > started.json' } as const;
    const { query, model } = drive(
      [text('Ada')],
      { prompt: 'who am I?' },
      {
        messages: BEFORE,
        workspace: { cwd, home: '/h', directories: [] },
        hooks: [{ event: 'SessionStart', target: command }],
      },
    );
    await collect(query);
    expect(JSON.parse(await readFile(join(cwd, 'started.json'), 'utf8'))).toMatchObject({ source: 'resume' });
    expect(model.requests[0]?.messages).toEqual([
      ...BEFORE,
      { role: 'user', content: [{ type: 'text', text: 'who am I?' }] },
    ]);
  });

  async function transcript(sessionId = randomUUID()) {
    const root = await temporaryRoot();
    const faults: string[] = [];
    const kept = new Transcript({
      root,
      cwd: '/w',
      sessionId,
      now: () => new Date(0),
      onUnwritable: (fault) => faults.push(fault),
    });
    return { kept, faults, read: async () => readTranscript(await readFile(kept.path, 'utf8')) };
  }

  test('messages are stored with the ids sent to the program and can be read back', async () => {
    const { kept, read, faults } = await transcript();
    const { query, session } = drive(
      [toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1'), text('three')],
      { mcpServers: { calc: calc() } },
      { transcript: kept, rules: allow('mcp__calc') },
    );
    const messages = await collect(query);
    await session().done;
    const { entries, messages: kept2, diagnostics } = await read();
    expect({ faults, diagnostics }).toEqual({ faults: [], diagnostics: [] });
    expect(kept2).toEqual(session().conversation.messages);
    const told = messages.flatMap(({ type, uuid }) =>
      type === 'assistant' || type === 'user' ? [uuid] : [],
    );
    expect(entries.slice(1).map(({ uuid }) => uuid)).toEqual(told);
  });

  test('a turn that the budget ends is stored with a result for each call', async () => {
    const { kept, read } = await transcript();
    const { query, session } = drive(
      [
        {
          ...toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1'),
          usage: { input_tokens: 5000, output_tokens: 0 },
        },
      ],
      { mcpServers: { calc: calc() } },
      { transcript: kept, rules: allow('mcp__calc'), modelName: 'claude-sonnet-5', maxBudgetUsd: 0.01 },
    );
    expect(resultOf(await untilResult(query))).toMatchObject({ subtype: 'error_max_budget_usd' });
    await session().done;
    const { entries, messages, diagnostics } = await read();
    expect(diagnostics).toEqual([]);
    expect(new Set(entries.map(({ uuid }) => uuid)).size).toBe(entries.length);
    expect(messages).toEqual(session().conversation.messages);
    expect(messages.at(-1)).toMatchObject({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1' }],
    });
  });

  test('/clear continues as a new session with its own transcript; /compact without messages reports it', async () => {
    const { kept, read } = await transcript();
    const clearId = randomUUID();
    async function* prompts() {
      yield said('one');
      yield { ...said('/clear'), uuid: clearId };
      yield said('/compact');
      yield said('two');
    }
    const sources: unknown[] = [];
    const record = async (input: HookInput) => {
      sources.push('source' in input ? [input.source, input.session_id] : 'reason' in input && input.reason);
      return {};
    };
    const hooks = { SessionStart: [{ hooks: [record] }], SessionEnd: [{ hooks: [record] }] };
    const options = { prompt: prompts(), hooks };
    const { query, model, session } = drive(() => text('ok'), options, { transcript: kept });
    const messages = await collect(query);
    await session().done;
    expect(
      messages.flatMap((it) => (it.type === 'result' && it.subtype === 'success' ? [it.result] : [])),
    ).toEqual(['ok', '', '', 'ok']);
    expect(JSON.stringify(messages)).toContain('Error: No messages to compact');
    const at = messages.findIndex(({ type }) => type === 'conversation_reset');
    const [before, after] = [messages[0]?.session_id, session().id];
    const [reset, ...rest] = messages.slice(at);
    expect(reset).toMatchObject({ trigger: 'clear', user_message_uuid: clearId, session_id: before });
    expect(kinds(rest.slice(0, 2))).toEqual(['system init', 'result success']);
    expect(new Set(rest.map(({ session_id }) => session_id))).toEqual(new Set([after]));
    expect(after).not.toBe(before);
    expect(sources).toEqual(['clear', ['clear', after]]);
    expect(model.requests.at(-1)?.messages).toMatchObject(
      [
        /^<local-command-caveat>/,
        /^<command-name>\/clear</,
        /^<local-command-stdout></,
        /^<local-command-caveat>/,
        /^<command-name>\/compact</,
        /^<local-command-stderr>Error: No messages to compact</,
        'two',
      ].map((expected) => ({ role: 'user', content: [{ text: expect.stringMatching(expected) }] })),
    );
    expect((await read()).messages).toMatchObject([{ content: [{ text: 'one' }] }, { role: 'assistant' }]);
    const next = join(dirname(kept.path), `${after}.jsonl`);
    const { header, messages: cleared } = readTranscript(await readFile(next, 'utf8'));
    const blocks = (all: readonly ModelMessage[]) => all.flatMap(({ content }) => [...content]);
    expect(blocks(cleared)).toEqual(blocks(session().conversation.messages));
    expect(header?.forkedFrom).toBe(basename(kept.path, '.jsonl'));
  });

  test.each([
    [[' /clear '], false],
    [['/clear', 'about X'], false],
    [['about X', '/clear'], true],
    [['/clear \n'], true],
    [['/clear about X'], true],
  ])('a command is the last text block, from its first character on: %j', async (texts, isCleared) => {
    const content = texts.map((it) => ({ type: 'text' as const, text: it }));
    async function* prompts() {
      yield { ...said(''), message: { role: 'user' as const, content } };
    }
    const { query, model } = drive(() => text('ok'), { prompt: prompts() });
    const messages = await collect(query);
    expect(messages.some(({ type }) => type === 'conversation_reset')).toBe(isCleared);
    expect(model.requests.map(({ messages: sent }) => sent)).toEqual(
      isCleared ? [] : [[{ role: 'user', content }]],
    );
  });

  test.each(['clear', 'new', 'reset'])('the result of /%s names the command as typed', async (name) => {
    const { query } = drive(() => text('ok'), { prompt: `/${name}` });
    expect(resultOf(await collect(query))).toMatchObject({ local_command: name });
  });

  test('when the result arrives, the transcript file has the whole turn', async () => {
    const { kept, read } = await transcript();
    const { query } = drive([text('done')], {}, { transcript: kept });
    for await (const message of query) {
      if (message.type !== 'result') continue;
      expect((await read()).messages.at(-1)).toMatchObject({ content: [{ text: 'done' }] });
    }
  });

  const LONG = 'word '.repeat(400);

  const isSummary = ({ messages }: ModelRequest) => JSON.stringify(messages).includes('<record>');

  test.each([
    ['by what the model counted', [], 1_900],
    ['by an estimate, after resuming', pastOf(4), 10],
  ])(
    'a filling window is compacted before the next request, reported and stored: %s',
    async (_, messages, input_tokens) => {
      const { kept, read } = await transcript();
      async function* prompts() {
        for (let n = 1; n <= 2; n++) yield said(`${n} ${LONG}`);
      }
      const { query, session, model } = drive(
        (request) =>
          isSummary(request)
            ? text('a summary')
            : { ...text('ok'), usage: { input_tokens, output_tokens: 1 } },
        { prompt: prompts() },
        { transcript: kept, messages, limits: { contextTokens: 2_000, outputTokens: 200 } },
      );
      const seen = await collect(query);
      await session().done;
      expect(seen.filter((it) => it.type === 'result').map((it) => it.subtype)).toEqual([
        'success',
        'success',
      ]);
      const boundary = seen.find((it) => it.type === 'system' && it.subtype === 'compact_boundary');
      expect(boundary).toMatchObject({
        compact_metadata: { trigger: 'auto', pre_tokens: expect.any(Number) },
      });
      const status = seen.flatMap((it) =>
        it.type === 'system' && it.subtype === 'status' ? [it.status] : [],
      );
      expect(status.slice(0, 2)).toEqual(['compacting', null]);
      const request = model.requests.findLast((it) => !isSummary(it));
      expect(JSON.stringify(request?.messages)).toContain('a summary');
      const written = await read();
      if (messages.length === 0) expect(written.messages).toEqual(session().conversation.messages);
      expect(written.entries.some(({ type }) => type === 'compaction')).toBe(true);
    },
  );

  function pastOf(turns: number): ModelMessage[] {
    return Array.from({ length: turns }, (_, n): ModelMessage[] => [
      { role: 'user', content: [{ type: 'text', text: `${n} ${LONG}` }] },
      { role: 'assistant', content: [{ type: 'text', text: 'ok' }] },
    ]).flat();
  }

  test('a request rejected as too long is compacted and sent again, once', async () => {
    const { query, model } = drive(
      (request) => {
        if (JSON.stringify(request.messages).includes('<record>')) return text('a summary');
        return request.messages.length > 1 ? fails(new ModelError('too-long', 'too long')) : text('ok');
      },
      { prompt: 'now' },
      { messages: pastOf(3) },
    );
    expect(resultOf(await collect(query))).toMatchObject({ subtype: 'success', result: 'ok' });
    expect(model.requests).toHaveLength(3);
    const stubborn = drive(() => fails(new ModelError('too-long', 'still too long')));
    expect(resultOf(await collect(stubborn.query))).toMatchObject({
      subtype: 'success',
      is_error: true,
      result: 'Prompt is too long · still too long',
      terminal_reason: 'prompt_too_long',
    });
  });

  test('an interrupt during /compact leaves the conversation unchanged; the session continues', async () => {
    const { prompts, next } = byHand();
    const summing = gate();
    async function* all() {
      yield said('/compact');
      for await (const prompt of prompts) yield prompt;
    }
    const before = [
      ...BEFORE,
      ...BEFORE,
      { role: 'user' as const, content: [{ type: 'text' as const, text: LONG }] },
    ];
    const { query, session } = drive(
      async (request) => {
        if (!JSON.stringify(request.messages).includes('<record>')) return text('second');
        await summing.pass();
        return text('late');
      },
      { prompt: all() },
      { messages: before },
    );
    const first = untilResult(query);
    await summing.reached;
    await query.interrupt();
    const messages = await first;
    expect(resultOf(messages)).toMatchObject({ subtype: 'error_during_execution' });
    expect(messages.filter((it) => it.type === 'system' && it.subtype === 'status')).toMatchObject([
      { status: 'compacting' },
      { status: null },
    ]);
    expect(session().conversation.messages).toEqual(before);
    next(0);
    expect(resultOf(await untilResult(query))).toMatchObject({ result: 'second' });
  });

  test('get_context_usage counts prompt, tools and messages', async () => {
    const { send, ask, result, session } = raw([text('ok')], {
      systemPrompt: 'Be brief.',
      servers: { fix: fixture() },
      builtIns: ['Read'],
    });
    await session.servers.ready();
    await send(user(LONG));
    await result();
    const { response } = (await ask('get_context_usage')) as { response: Frame };
    expect(response).toMatchObject({ model: 'm', maxTokens: 200_000, isAutoCompactEnabled: true });
    const rows = Object.fromEntries(
      (response.categories as { id: string; tokens: number }[]).map((it) => [it.id, it.tokens]),
    );
    // The instructions of the server are part of the prompt.
    expect(rows.system_prompt).toBeGreaterThan(10);
    expect(Object.keys(rows)).toEqual(
      expect.arrayContaining(['system_prompt', 'system_tools', 'mcp_tools', 'messages']),
    );
  });

  test('an unknown control request is rejected by name', async () => {
    const { ask } = raw([]);
    for (const subtype of ['frobnicate', 'constructor', '__proto__', '']) {
      expect(await ask(subtype)).toMatchObject({ subtype: 'error' });
    }
    expect(await ask('frobnicate')).toMatchObject({
      error: 'Unsupported control request subtype: frobnicate',
      error_code: 'unsupported_request',
    });
  });

  test('a user message before initialize runs a turn; initialize works later', async () => {
    const { send, ask, result } = raw([text('ok'), text('again')], { systemPrompt: 'own' });
    await send(user('go'));
    expect(await result()).toMatchObject({ result: 'ok' });
    expect(await ask('initialize', { systemPrompt: ['a', 'b'] })).toMatchObject({
      subtype: 'success',
      response: { output_style: 'default', commands: [{ name: 'clear' }, { name: 'compact' }] },
    });
  });

  test('frames sent before the session was created are handled', async () => {
    const { program, agent } = memoryLinks();
    await program.send({ type: 'control_request', request_id: 'i', request: { subtype: 'initialize' } });
    await program.send(user('go'));
    const session = new AgentSession(agent, sessionOptions(scriptedModel([text('ok')])));
    program.end();
    const seen = await collect(program.frames);
    await session.done;
    expect(seen.map(({ type }) => type)).toEqual(['control_response', 'system', 'assistant', 'result']);
  });

  test.each([
    ['no message', { type: 'user' }],
    ['no content', { type: 'user', message: { role: 'user' } }],
    ['null blocks', user([null, 7, 'x'])],
    ['a text without text', user([{ type: 'text' }])],
    ['an image without source', user([{ type: 'image' }])],
  ])('a user message with %s gets an error result, and the session continues', async (_, frame) => {
    const { send, result, model } = raw([text('ok')]);
    await send(frame);
    expect(await result(1)).toMatchObject({
      subtype: 'error_during_execution',
      errors: ['The message has no content'],
    });
    await send(user([null, { type: 'text', text: 'go' }]));
    expect(await result(2)).toMatchObject({ subtype: 'success', result: 'ok' });
    expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'go' }] }]);
  });

  test.each([
    ['an empty text', user('')],
    ['a blank text', user('  ')],
    ['no blocks', user([])],
    ['an empty block', user([{ type: 'text', text: '' }])],
  ])('a user message with %s is sent to the model with a placeholder', async (_, frame) => {
    const { send, result, model } = raw([text('ok')]);
    await send(frame);
    expect(await result(1)).toMatchObject({ subtype: 'success', result: 'ok' });
    const content = [{ type: 'text', text: '(no content)' }];
    expect(model.requests[0]?.messages).toEqual([{ role: 'user', content }]);
  });

  test('other frames are not messages', async () => {
    const { send, ask, seen } = raw([]);
    for (const frame of [{ type: 'assistant' }, { type: 'keep_alive' }, { type: 'constructor' }, {}])
      await send(frame);
    await ask('mcp_status');
    expect(seen.map(({ type }) => type)).toEqual(['control_response']);
  });

  test('a model error is an assistant message with its kind, and an error result with the usage so far', async () => {
    const { query } = drive(
      (_, n) =>
        n === 1
          ? toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1')
          : fails(new ModelError('overloaded', 'too busy', { status: 529, type: 'overloaded_error' })),
      { mcpServers: { calc: calc() } },
      { rules: allow('mcp__calc') },
    );
    const messages = await collect(query);
    const api_error = { api_error_status: 529, api_error_type: 'overloaded_error' };
    const result = 'API Error: 529 too busy';
    expect(messages.at(-2)).toMatchObject({
      type: 'assistant',
      message: {
        model: '<synthetic>',
        content: [{ type: 'text', text: result }],
        stop_reason: 'stop_sequence',
      },
      error: 'server_error',
      is_api_error_message: true,
      ...api_error,
    });
    expect(resultOf(messages)).toMatchObject({
      subtype: 'success',
      is_error: true,
      result,
      ...api_error,
      num_turns: 2,
      stop_reason: 'stop_sequence',
      terminal_reason: 'api_error',
      usage: { output_tokens: expect.any(Number) },
    });
  });

  test('the usage of a result has every member that its type promises', async () => {
    const reported = { input_tokens: 7, output_tokens: 2, cache_read_input_tokens: null };
    const { query } = drive([{ ...text('ok'), usage: reported }]);
    const usage: NonNullableUsage = {
      input_tokens: 7,
      output_tokens: 2,
      cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      inference_geo: '',
      iterations: [],
      server_tool_use: { web_fetch_requests: 0, web_search_requests: 0 },
      service_tier: 'standard',
      speed: 'standard',
    };
    // The real CLI adds these two; the types of the API do not have them yet.
    const more = { output_tokens_details: { thinking_tokens: 0 }, fallback_credit: null };
    expect(resultOf(await collect(query))?.usage).toEqual({ ...usage, ...more });
  });

  test('a program that closed its input still gets its results', async () => {
    const first = gate();
    const { send, program, session, seen, reading } = raw(async (_, n) => {
      if (n === 1) await first.pass();
      return text(`reply ${n}`);
    });
    await send(user('one'));
    await send(user('two'));
    await first.reached;
    program.end();
    first.open();
    await session.done;
    await reading;
    expect(seen.flatMap(({ type, result }) => (type === 'result' ? [result] : []))).toEqual([
      'reply 1',
      'reply 2',
    ]);
  });

  test('end_session interrupts the turn, drops queued messages and closes everything', async () => {
    const { send, ask, session, find, model, seen, reading } = raw(
      [toolUse('mcp__fix__pid', {}, 'p'), toolUse('mcp__fix__wait', {}, 'w'), text('never')],
      { servers: { fix: fixture() }, rules: allow('mcp__fix') },
    );
    await send(user('one'));
    await send(user('two'));
    await find(
      ({ type, message }) => type === 'assistant' && JSON.stringify(message).includes('mcp__fix__wait'),
    );
    const pid = Number(results(model.requests[1]).p);
    expect(isAlive(pid)).toBe(true);
    expect(await ask('end_session')).toMatchObject({ subtype: 'success' });
    await session.done;
    await reading;
    expect(isAlive(pid)).toBe(false);
    expect(model.requests).toHaveLength(2);
    expect(seen.filter(({ type }) => type === 'result')).toMatchObject([
      { subtype: 'error_during_execution' },
    ]);
  });

  test('a link failure ends the turn and all processes', async () => {
    const { program, agent } = memoryLinks();
    const died = Promise.withResolvers<never>();
    died.promise.catch(() => {});
    const waiting = gate();
    const model = scriptedModel(async (_, n) => {
      if (n === 1) return toolUse('mcp__fix__pid', {}, 'p');
      await waiting.pass();
      return text('never');
    });
    const session = new AgentSession(
      {
        ...agent,
        frames: {
          async *[Symbol.asyncIterator]() {
            const frames = agent.frames[Symbol.asyncIterator]();
            for (;;) {
              const next = await Promise.race([frames.next(), died.promise]);
              if (next.done) return;
              yield next.value;
            }
          },
        },
      },
      sessionOptions(model, { servers: { fix: fixture() }, rules: allow('mcp__fix') }),
    );
    onTestFinished(() => session.end());
    await program.send(user('go'));
    await waiting.reached;
    const pid = Number(results(model.requests[1]).p);
    expect(isAlive(pid)).toBe(true);
    died.reject(new Error('the wire was cut'));
    await expect(session.done).rejects.toThrow('the wire was cut');
    expect(isAlive(pid)).toBe(false);
  });

  test('a link failure causes no unhandled rejection', async () => {
    const closed = Promise.withResolvers<void>();
    const { agent } = memoryLinks();
    const frames = {
      async *[Symbol.asyncIterator]() {
        yield* [];
        throw new Error('the wire was cut');
      },
    };
    const close = async () => closed.resolve();
    new AgentSession({ ...agent, frames, close }, sessionOptions(scriptedModel([])));
    await closed.promise;
    // An unhandled rejection would fail the run by now.
    await new Promise((resolve) => setImmediate(resolve));
  });

  test('closing a query during a turn aborts its tool calls', async () => {
    const started = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const server = toolServer('s').tool('wait', 'Waits', {}, async (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve());
      started.resolve();
      return new Promise<string>(() => {});
    });
    const { query, session } = drive(
      [toolUse('mcp__s__wait', {}, 't1'), text('x')],
      { mcpServers: { s: server } },
      { rules: allow('mcp__s') },
    );
    const reading = collect(query);
    await started.promise;
    query.close();
    await aborted.promise;
    await reading;
    session().end();
    await session().done;
    expect(session().state.state).toBe('idle');
  });

  test('every turn starts with init and ends with one result', async () => {
    async function* prompts() {
      yield said('one');
      yield said('/clear');
      yield said('two');
    }
    const { query } = drive(() => text('ok'), { prompt: prompts() });
    expect(kinds(await collect(query))).toEqual([
      'system init',
      'assistant',
      'result success',
      'conversation_reset',
      'system init',
      'result success',
      'system init',
      'assistant',
      'result success',
    ]);
  });

  test('set_model applies from the next turn on; "default" resets it', async () => {
    const { send, ask, result, model, seen } = raw(() => text('ok'));
    await ask('set_model', { model: 'm' });
    await ask('set_model', { model: 'other' });
    await send(user('one'));
    await result(1);
    await ask('set_model', { model: 'default' });
    await send(user('two'));
    await result(2);
    expect(model.requests.map((it) => it.model)).toEqual(['other', 'm']);
    const output = '<local-command-stdout>Set model to `m`</local-command-stdout>';
    expect(seen.filter(({ type }) => type === 'user')).toMatchObject([
      { message: { content: output }, isReplay: true },
    ]);
    expect(model.requests[1]?.messages.slice(2)).toMatchObject(
      [/^<local-command-caveat>/, /^<command-name>\/model<[\s\S]*<command-args>default</, output, 'two'].map(
        (expected) => ({ role: 'user', content: [{ text: expect.stringMatching(expected) }] }),
      ),
    );
  });
});
