import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Launch, launch } from '../../../src/agent/launch/launch.ts';
import { parseFlags } from '../../../src/agent/launch/parse-flags.ts';
import { memoryLinks } from '../../../src/control/memory-link.ts';
import { query } from '../../../src/entry/index.ts';
import type { Frame } from '../../../src/protocol/control-frame.ts';
import { collect } from '../../support/collect.ts';
import { startMessagesApi } from '../../support/model-api/messages-api.ts';
import { after, error, text } from '../../support/model-api/model-reply.ts';

describe('launch', () => {
  const NOW = new Date('2026-01-02T03:04:05Z');
  type Given = Partial<Launch> & { readonly argv?: readonly string[] };

  function surroundings({ argv = [], ...more }: Given = {}): Launch & { notes: string[] } {
    const notes: string[] = [];
    const signal = new AbortController().signal;
    const note = (line: string) => void notes.push(line);
    const flags = parseFlags(['--no-session-persistence', '--tools=', ...argv]);
    const around = { env: {}, cwd: tmpdir(), home: '/nowhere', version: '1', now: () => NOW };
    return { ...around, note, signal, ...more, flags, notes };
  }

  const prompt = (content: string): Frame => ({ type: 'user', message: { role: 'user', content } });

  async function run(more: Given, content: string) {
    const links = memoryLinks();
    const given = surroundings(more);
    const session = await launch(links.agent, given);
    await links.program.send(prompt(content));
    const frames: Frame[] = [];
    for await (const frame of links.program.frames) {
      frames.push(frame);
      if (frame.type === 'result') links.program.end();
    }
    await session.done;
    return { frames, notes: given.notes };
  }

  async function keepConversation(more: Given, argv: readonly string[], content: string): Promise<void> {
    const links = memoryLinks();
    const session = await launch(links.agent, { ...surroundings(more), flags: parseFlags(argv) });
    await links.program.send(prompt(content));
    for await (const frame of links.program.frames) if (frame.type === 'result') links.program.end();
    await session.done;
  }

  test('flags reach the session; flags without effect are reported', async () => {
    const argv = [
      '--model=rehearsal',
      '--permission-mode=plan',
      '--effort=lots',
      '--task-budget=5',
      '--settings={"theme":"dark"}',
    ];
    const { frames, notes } = await run({ argv }, 'list tools');
    expect(frames[0]).toMatchObject({ subtype: 'init', model: 'rehearsal', permissionMode: 'plan' });
    expect(frames.at(-1)).toMatchObject({ subtype: 'success', result: 'I was given no tools.' });
    expect(notes).toEqual([
      '--task-budget has no effect: budgets are not sent to the model',
      '--settings: "theme" is a setting of the claude CLI that Toolplane does not use',
      '--effort is ignored: must be one of low, medium, high, xhigh, max',
    ]);
  });

  test('"env" of settings can select the model; a flag takes precedence over settings', async () => {
    await using api = await startMessagesApi([text('from settings')]);
    const settings = { env: { ANTHROPIC_BASE_URL: api.url }, model: 'opus' };
    const argv = ['--settings', JSON.stringify(settings)];
    expect((await run({ argv }, 'hi')).frames.at(-1)).toMatchObject({ result: 'from settings' });
    expect(api.requests[0]?.model).toBe('claude-opus-5-5');
    const flagged = await run({ argv: [...argv, '--model=rehearsal'] }, 'list tools');
    expect(flagged.frames[0]).toMatchObject({ model: 'rehearsal' });
  });

  test('without a model the session starts and its turn fails with the list of variables', async () => {
    const { frames } = await run({}, 'hi');
    expect(frames.map(({ type, subtype }) => [type, subtype])).toEqual([
      ['system', 'init'],
      ['assistant', undefined],
      ['result', 'success'],
    ]);
    expect(frames.at(-1)).toMatchObject({
      is_error: true,
      result: expect.stringMatching(/^No model is available: .* --model rehearsal, which works offline$/),
    });
  });

  test('reports all invalid flags in one line and starts nothing', async () => {
    const { agent } = memoryLinks();
    const argv = ['--nosuch', '--mcp-config=/nowhere.json', '--permission-mode=silly'];
    await expect(launch(agent, surroundings({ argv }))).rejects.toMatchObject({
      name: 'SdkError',
      code: 'bad-option',
      message: expect.stringMatching(
        /^unknown flag --nosuch; --permission-mode takes one of .*; --mcp-config \/nowhere\.json: .*no such file.*$/,
      ),
    });
  });

  test('rejects a working directory that is not a directory', async () => {
    const started = launch(memoryLinks().agent, surroundings({ cwd: '/nowhere' }));
    await expect(started).rejects.toMatchObject({
      code: 'spawn-failed',
      message: expect.stringContaining('/nowhere'),
    });
  });

  test('an abort interrupts the running turn, drops queued ones and closes everything', async () => {
    const never = Promise.withResolvers<void>();
    await using api = await startMessagesApi(() => after(never.promise, text('too late')));
    onTestFinished(() => never.resolve());
    const stop = new AbortController();
    const { program, agent } = memoryLinks();
    const env = { ANTHROPIC_BASE_URL: api.url };
    const session = await launch(agent, surroundings({ env, signal: stop.signal }));
    await program.send(prompt('one'));
    await program.send(prompt('two'));
    await api.request(1);
    stop.abort();
    await session.done;
    expect(api.requests).toHaveLength(1);
    await expect(agent.send({})).rejects.toMatchObject({ code: 'closed' });
  });

  test('an abort before the start', async () => {
    const { agent } = memoryLinks();
    const session = await launch(agent, surroundings({ signal: AbortSignal.abort() }));
    await expect(session.done).resolves.toBeUndefined();
  });

  test('a conversation is stored in the home directory and can be continued', async () => {
    const home = await mkdtemp(join(tmpdir(), 'launch-'));
    onTestFinished(() => rm(home, { recursive: true }));
    await using api = await startMessagesApi([text('one'), text('two')]);
    const env = { ANTHROPIC_BASE_URL: api.url };
    await keepConversation({ env, home }, [], 'first');
    await keepConversation({ env, home }, ['--continue'], 'second');
    expect(await readdir(join(home, '.toolplane/projects'))).toHaveLength(1);
    expect(api.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  test('TOOLPLANE_HOME sets the directory of conversations', async () => {
    const home = await mkdtemp(join(tmpdir(), 'launch-'));
    onTestFinished(() => rm(home, { recursive: true }));
    const env = { TOOLPLANE_HOME: home };
    await keepConversation({ env }, ['--model=rehearsal'], 'hello');
    expect(await readdir(join(home, 'projects'))).toHaveLength(1);
  });

  test('a conversation to resume that does not exist is an error result, and the session ends', async () => {
    const home = await mkdtemp(join(tmpdir(), 'launch-'));
    onTestFinished(() => rm(home, { recursive: true }));
    const links = memoryLinks();
    const session_id = '00000000-0000-4000-8000-0000000000aa';
    const session = await launch(links.agent, {
      ...surroundings({ env: { TOOLPLANE_HOME: home } }),
      flags: parseFlags([`--resume=${session_id}`]),
    });
    expect(await collect(links.program.frames)).toMatchObject([
      {
        type: 'result',
        subtype: 'error_during_execution',
        is_error: true,
        num_turns: 0,
        errors: [`No conversation found with session ID: ${session_id}`],
        session_id,
      },
    ]);
    await session.done;
    expect(session.hasFailed).toBe(true);
  });
});

describe('retry message', () => {
  test('a retried model request is reported with status and delay', async () => {
    await using api = await startMessagesApi([error(529, 'busy', 'overloaded_error'), text('Here I am.')]);
    const messages = await collect(
      query({
        prompt: 'hi',
        options: {
          env: { ANTHROPIC_API_KEY: 'dummy', ANTHROPIC_BASE_URL: api.url },
          persistSession: false,
          tools: [],
        },
      }),
    );
    expect(messages.find((it) => 'subtype' in it && it.subtype === 'api_retry')).toMatchObject({
      type: 'system',
      attempt: 1,
      max_retries: 10,
      error_status: 529,
      error: 'overloaded',
      endpoint: api.url,
      retry_delay_ms: expect.any(Number),
    });
    expect(messages.at(-1)).toMatchObject({ subtype: 'success', result: 'Here I am.' });
  });
});
