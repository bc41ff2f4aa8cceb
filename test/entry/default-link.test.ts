import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import * as z from 'zod';
import {
  AgentClient,
  createSdkMcpServer,
  moduleServer,
  query,
  startup,
  tool,
  toolServer,
} from '../../src/entry/index.ts';
import { openAgentSandbox } from '../cli/support/agent-sandbox.ts';
import { fixture } from '../cli/support/run-cli.ts';
import { gone, isAlive } from '../repository/interop/real-agent.ts';
import { collect } from '../support/collect.ts';
import { after, text, toolUse } from '../support/model-api/model-reply.ts';
import { toolResults } from '../support/model-api/model-view.ts';

/** Options that use nothing of this machine and store nothing on it. */
const BARE = { env: {}, tools: [], persistSession: false };

const ENTRY = fileURLToPath(new URL('../../src/entry/index.ts', import.meta.url));

test('without a path the agent of this package runs in this process', async () => {
  const calc = toolServer('calc').tool('add', 'Add', { a: z.number(), b: z.number() }, ({ a, b }) => a + b);
  const options = { model: 'rehearsal', mcpServers: { calc }, allowedTools: ['mcp__calc'], ...BARE };
  const messages = await collect(query({ prompt: 'call add with {"a": 2, "b": 40}', options }));
  expect(messages[0]).toMatchObject({ subtype: 'init', cwd: process.cwd(), tools: ['mcp__calc__add'] });
  expect(messages.at(-1)).toMatchObject({ result: expect.stringContaining('The tool said: 42') });
});

test('a client runs several turns', async () => {
  await using client = await AgentClient.open({ ...BARE, model: 'rehearsal' });
  expect(await client.ask('list tools')).toMatchObject({ result: 'I was given no tools.' });
  expect(await client.ask('list tools')).toMatchObject({ result: 'I was given no tools.' });
});

test('null counts as not given wherever options are taken', async () => {
  const none = null as never;
  for (const params of [none, { options: none, initializeTimeoutMs: none }]) {
    await using warm = await startup(params);
    expect(warm.query).toBeTypeOf('function');
  }
  await using client = await AgentClient.open(none);
  await expect(client.rewindFiles('x', none)).rejects.toMatchObject({ code: 'control-failed' });
  const add = tool('add', 'Add', {}, () => 1, none);
  const server = createSdkMcpServer({ name: 'calc', version: none, tools: [add], instructions: none });
  expect(server).toMatchObject({ type: 'sdk', name: 'calc' });
});

test('an agent that cannot resume its conversation rejects with the error of its result', async () => {
  await using world = await openAgentSandbox([]);
  const resume = '00000000-0000-4000-8000-00000000000a';
  const starting = startup({ options: { env: world.env, cwd: world.cwd, resume } });
  const message = `Claude Code returned an error result: No conversation found with session ID: ${resume}`;
  await expect(starting).rejects.toMatchObject({ name: 'Error', message });
});

test('options.env replaces the environment, options.cwd sets the working directory', async () => {
  await using world = await openAgentSandbox([text('hello')]);
  vi.stubEnv('TOOLPLANE_MODEL', 'rehearsal');
  const messages = await collect(query({ prompt: 'hi', options: { env: world.env, cwd: world.cwd } }));
  vi.unstubAllEnvs();
  expect(messages[0]).toMatchObject({ cwd: world.cwd, model: 'claude-opus-5-5' });
  expect(messages.at(-1)).toMatchObject({ result: 'hello' });
});

test('without options.env the environment of the program is used', async () => {
  vi.stubEnv('TOOLPLANE_MODEL', 'rehearsal');
  const messages = await collect(query({ prompt: 'list tools', options: { persistSession: false } }));
  vi.unstubAllEnvs();
  expect(messages[0]).toMatchObject({ model: 'rehearsal' });
});

test('without a model the turn fails with the list of variables', async () => {
  const messages: unknown[] = [];
  const reading = async () => {
    for await (const message of query({ prompt: 'hi', options: BARE })) messages.push(message);
  };
  await expect(reading()).rejects.toMatchObject({
    code: 'process-exited',
    message: expect.stringMatching(/^Claude Code returned an error result: No model is available/),
  });
  expect(messages.at(-1)).toMatchObject({
    subtype: 'success',
    is_error: true,
    result: expect.stringContaining('options.model rehearsal, which works offline'),
  });
});

test.each([
  [
    { maxBudgetUsd: 1, model: 'rehearsal' },
    'bad-option',
    'options.maxBudgetUsd cannot be checked: the prices of the model "rehearsal" are unknown',
  ],
  [{ extraArgs: { modle: 'x' } }, 'bad-option', 'did you mean --model?'],
  [
    { settings: '/nowhere/settings.json' },
    'bad-option',
    'options.settings /nowhere/settings.json: no such file',
  ],
  [{ cwd: '/nowhere' }, 'spawn-failed', 'working directory /nowhere is not a directory'],
])('%j fails the query with the reason', async (options, code, message) => {
  const failure = { code, message: expect.stringContaining(message) };
  await expect(collect(query({ prompt: 'hi', options: { ...BARE, ...options } }))).rejects.toMatchObject(
    failure,
  );
  await expect(AgentClient.open({ ...BARE, ...options })).rejects.toMatchObject(failure);
});

test('options without effect are reported to options.stderr', async () => {
  const said: string[] = [];
  const stderr = (line: string) => void said.push(line);
  await collect(
    query({ prompt: 'hi', options: { model: 'rehearsal', taskBudget: { total: 5 }, stderr, ...BARE } }),
  );
  expect(said).toEqual(['[toolplane] options.taskBudget has no effect: budgets are not sent to the model\n']);
});

test('closing during a turn leaves nothing behind', async () => {
  const never = Promise.withResolvers<void>();
  await using world = await openAgentSandbox((_, n) =>
    n === 1 ? toolUse('mcp__files__pid', {}) : after(never.promise, text('too late')),
  );
  const client = await AgentClient.open({
    env: world.env,
    cwd: world.cwd,
    mcpServers: { files: moduleServer(fixture('calc.ts')) },
    allowedTools: ['mcp__files'],
  });
  const asking = client.ask('go').catch((cause: unknown) => cause);
  const [result] = toolResults(await world.api.request(2));
  const [block] = (result?.content ?? []) as { text: string }[];
  const pid = Number(block?.text);
  expect(isAlive(pid)).toBe(true);
  await client.close();
  expect(await asking).toMatchObject({ code: 'closed' });
  await gone(pid);
  never.resolve();
});

test('importing the package does not load the host; a program that used it exits', async () => {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    const { query } = await import(${JSON.stringify(ENTRY)});
    const before = loaded.filter((url) => /.src.(mcp|pool|agent|config|host)./.test(url)).length;
    for await (const _ of query({ prompt: 'list tools', options: { model: 'rehearsal', persistSession: false } }));
    const after = loaded.filter((url) => /.src.(mcp|pool|agent|config|host)./.test(url)).length;
    const heavy = loaded.filter((url) => /node_modules.(openai|@anthropic-ai)/.test(url)).length;
    console.log(JSON.stringify({ before, hasLoaded: after > 0, heavy }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    env: {},
  });
  expect(JSON.parse(stdout)).toEqual({ before: 0, hasLoaded: true, heavy: 0 });
});
