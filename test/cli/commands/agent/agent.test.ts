import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text as readAll } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { moduleServer, type Options, query, toolServer } from '../../../../src/entry/index.ts';
import { gone, isAlive } from '../../../repository/interop/real-agent.ts';
import { collect } from '../../../support/collect.ts';
import { lifeline } from '../../../support/lifeline.ts';
import { after, text, toolUse } from '../../../support/model-api/model-reply.ts';
import { type SeenResult, toolResults } from '../../../support/model-api/model-view.ts';
import { AGENT } from '../../../support/setup/built-package.ts';
import { type AgentSandbox, openAgentSandbox } from '../../support/agent-sandbox.ts';
import { fixture, runCli } from '../../support/run-cli.ts';

/** The agent as a process with an isolated environment. */
const ownAgent = ({ cwd, env }: AgentSandbox, more: Options = {}): Options => ({
  pathToClaudeCodeExecutable: AGENT,
  cwd,
  env,
  ...more,
});

const PROMPT = `${JSON.stringify({ type: 'user', message: { role: 'user', content: 'list tools' } })}\n`;

test('serves the SDK: tools of the program and of a server process, allowed by flags', async () => {
  await using sandbox = await openAgentSandbox([
    toolUse('mcp__calc__add', { a: 2, b: 40 }),
    toolUse('mcp__files__pid', {}),
    text('Done.'),
  ]);
  const calc = toolServer('calc').tool('add', 'Add', { a: z.number(), b: z.number() }, ({ a, b }) => a + b);
  const messages = await collect(
    query({
      prompt: 'go',
      options: ownAgent(sandbox, {
        model: 'haiku',
        mcpServers: { calc, files: moduleServer(fixture('calc.ts')) },
        allowedTools: ['mcp__calc', 'mcp__files__pid'],
        systemPrompt: 'Be kind.',
        includePartialMessages: true,
      }),
    }),
  );
  expect(messages[0]).toMatchObject({ subtype: 'init', cwd: sandbox.cwd, model: 'claude-haiku-5-5' });
  expect(messages.at(-1)).toMatchObject({ subtype: 'success', result: 'Done.', num_turns: 3 });
  expect(messages.some(({ type }) => type === 'stream_event')).toBe(true);
  expect(sandbox.api.requests[0]).toMatchObject({
    model: 'claude-haiku-5-5',
    system: [{ text: expect.stringMatching(/^Be kind\.\n\n# Environment/) }],
  });
  const [sum, pid] = sandbox.api.requests.flatMap(toolResults);
  expect(sum).toMatchObject({ content: [{ type: 'text', text: '42' }] });
  await gone(numberIn(pid));
});

test('completes a running turn after the input ends', async () => {
  const held = Promise.withResolvers<void>();
  await using sandbox = await openAgentSandbox([after(held.promise, text('Late, but here.'))]);
  const child = spawn(AGENT, [], { cwd: sandbox.cwd, env: sandbox.env, stdio: ['pipe', 'pipe', 'inherit'] });
  const output = readAll(child.stdout);
  child.stdin.end(PROMPT);
  await sandbox.api.request(1);
  held.resolve();
  const last = JSON.parse((await output).trim().split('\n').at(-1) ?? '') as object;
  expect(last).toMatchObject({ type: 'result', subtype: 'success', result: 'Late, but here.' });
});

test('commands of the model do not see the API key', async () => {
  await using sandbox = await openAgentSandbox([toolUse('Bash', { command: 'env' }), text('Done.')]);
  await collect(query({ prompt: 'go', options: ownAgent(sandbox, { allowedTools: ['Bash'] }) }));
  const [seen] = sandbox.api.requests.flatMap(toolResults);
  expect(JSON.stringify(seen)).toContain('PATH=');
  expect(JSON.stringify(seen)).not.toContain('dummy');
});

test('asks canUseTool for calls that no rule allows', async () => {
  await using sandbox = await openAgentSandbox([toolUse('mcp__calc__now', {}), text('ok')]);
  const calc = toolServer('calc').tool('now', 'Tells the time', {}, () => 'noon');
  const asked: string[] = [];
  const canUseTool = async (name: string) => {
    asked.push(name);
    return { behavior: 'deny' as const, message: 'not today' };
  };
  await collect(query({ prompt: 'go', options: ownAgent(sandbox, { mcpServers: { calc }, canUseTool }) }));
  expect(asked).toEqual(['mcp__calc__now']);
  expect(sandbox.api.requests.flatMap(toolResults)).toMatchObject([{ content: 'not today', isError: true }]);
});

test('--model rehearsal needs no key', async () => {
  await using sandbox = await openAgentSandbox();
  const env = { HOME: sandbox.cwd, PATH: '', TOOLPLANE_NODE: process.execPath };
  const options = ownAgent(sandbox, { env, model: 'rehearsal', tools: [] });
  const messages = await collect(query({ prompt: 'list tools', options }));
  expect(messages.at(-1)).toMatchObject({ subtype: 'success', result: 'I was given no tools.' });
});

test('starts without a model; the turn names the settings that were checked', async () => {
  await using sandbox = await openAgentSandbox();
  const running = query({
    prompt: 'hi',
    options: ownAgent(sandbox, { env: { HOME: sandbox.cwd, TOOLPLANE_NODE: process.execPath } }),
  });
  expect(await running.initializationResult()).toMatchObject({ output_style: 'default' });
  const messages: unknown[] = [];
  const reading = (async () => {
    for await (const message of running) messages.push(message);
  })();
  await expect(reading).rejects.toThrow('--model rehearsal, which works offline');
  expect(messages.at(-1)).toMatchObject({
    subtype: 'success',
    is_error: true,
    result: expect.stringContaining('--model rehearsal, which works offline'),
  });
});

test("an unsupported option fails the query with the agent's message", async () => {
  await using sandbox = await openAgentSandbox();
  const reading = collect(
    query({ prompt: 'hi', options: ownAgent(sandbox, { extraArgs: { 'sdk-url': 'ws://127.0.0.1:1' } }) }),
  );
  await expect(reading).rejects.toMatchObject({
    code: 'process-exited',
    message: expect.stringContaining(
      '--sdk-url is not supported: the agent communicates over stdin and stdout',
    ),
  });
});

test('leaves no process behind when closed during a turn', async () => {
  const never = Promise.withResolvers<void>();
  await using sandbox = await openAgentSandbox((_, n) =>
    n === 1 ? toolUse('mcp__files__pid', {}) : after(never.promise, text('too late')),
  );
  const running = query({
    prompt: 'go',
    options: ownAgent(sandbox, {
      mcpServers: { files: moduleServer(fixture('calc.ts')) },
      allowedTools: ['mcp__files'],
      closeGraceMs: 1_000,
    }),
  });
  const reading = collect(running);
  const [result] = toolResults(await sandbox.api.request(2));
  const pid = numberIn(result);
  expect(isAlive(pid)).toBe(true);
  running.close();
  await reading;
  await gone(pid);
  never.resolve();
});

test('invalid flags: one line on stderr, exit code 2, nothing on stdout', async () => {
  expect(await runCli(['agent', '--modle=x', '--max-turns', 'many'], PROMPT)).toEqual({
    code: 2,
    stdout: '',
    stderr: 'toolplane agent: unknown flag --modle; did you mean --model?; --max-turns takes a number\n',
  });
});

test('agent flags take precedence over flags of the command', async () => {
  const { code, stderr } = await runCli(['agent', '--model', 'rehearsal', '-V', '--', 'x']);
  expect(code).toBe(2);
  expect(stderr).toContain('unknown flag -V');
});

test('the help lists every flag', async () => {
  const { code, stdout } = await runCli(['agent', '--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/--permission-mode +one of default, acceptEdits/);
});

test('without input, exits immediately with 0', async () => {
  expect(await runCli(['agent', '--model=rehearsal'])).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('reports and skips a line that is not JSON', async () => {
  const agent = start();
  agent.stdin.write(`what?\n${PROMPT}`);
  await resultOf(agent);
  agent.stdin.end();
  const [stderr, [code]] = await Promise.all([readAll(agent.stderr), once(agent, 'exit')]);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'toolplane agent: skipped an input line that is not a JSON object\n',
  });
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const)('%s ends running commands', async (signal) => {
  const { hold, started, ended } = lifeline();
  const content = `Call Bash with ${JSON.stringify({ command: `${hold} sleep 600` })}`;
  const agent = start('--allowedTools', 'Bash');
  agent.stdout.resume();
  agent.stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`);
  await started;
  agent.kill(signal);
  await Promise.all([ended, once(agent, 'exit')]);
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s ends the agent cleanly', async (signal) => {
  const agent = start();
  agent.stdin.write(PROMPT);
  await resultOf(agent);
  agent.kill(signal);
  expect(await once(agent, 'exit')).toEqual([0, null]);
});

function numberIn(result: SeenResult | undefined): number {
  const [block] = (result?.content ?? []) as { text: string }[];
  return Number(block?.text);
}

function start(...flags: string[]) {
  const env = { PATH: process.env.PATH, TOOLPLANE_NODE: process.execPath };
  return spawn(AGENT, ['--model', 'rehearsal', '--no-session-persistence', ...flags], { env, stdio: 'pipe' });
}

async function resultOf(agent: ReturnType<typeof start>): Promise<void> {
  for await (const line of createInterface({ input: agent.stdout })) {
    if (JSON.parse(line).type === 'result') return;
  }
}
