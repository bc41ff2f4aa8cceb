import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { official } from '../../../interop/official.ts';
import { type ModelScript, scriptedModel, text, toolUse } from '../../../src/agent/models/scripted.ts';
import { AgentSession, type SessionOptions } from '../../../src/agent/session/agent-session.ts';
import { streamLink } from '../../../src/control/process-link.ts';
import { parseRule } from '../../../src/permissions/rule.ts';

// The official SDK drives our host: its own spawner is given a process that is our agent session on a pair of streams.

type OfficialOptions = NonNullable<Parameters<typeof official.query>[0]['options']>;

function hostProcess(script: ModelScript, more: Partial<SessionOptions> = {}) {
  const model = scriptedModel(script);
  const spawnClaudeCodeProcess = () => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const child = Object.assign(new EventEmitter(), {
      stdin,
      stdout,
      killed: false,
      exitCode: null as number | null,
      kill: () => stdin.end() !== undefined,
    });
    const link = streamLink({ input: stdin, output: stdout }, { maxLineLength: 1 << 20 });
    const session = new AgentSession(link, {
      model,
      modelName: 'm',
      version: '0',
      workspace: { cwd: '/w', home: '/h', directories: [] },
      rules: [],
      connect: { env: {}, connectTimeoutMs: 5_000, clientInfo: { name: 'toolplane', version: '0' } },
      ...more,
    });
    const exit = () => {
      child.exitCode = 0;
      child.emit('exit', 0, null);
    };
    session.done.then(exit, exit);
    return child;
  };
  return { model, spawnClaudeCodeProcess: spawnClaudeCodeProcess as never };
}

const calc = () =>
  official.createSdkMcpServer({
    name: 'calc',
    tools: [
      official.tool('add', 'Add', { a: z.number(), b: z.number() }, async (args) => ({
        content: [{ type: 'text', text: String(args.a + args.b) }],
      })),
    ],
  });

async function run(
  script: ModelScript,
  options: Partial<OfficialOptions>,
  more: Partial<SessionOptions> = {},
) {
  const { model, spawnClaudeCodeProcess } = hostProcess(script, more);
  const messages: { type: string; subtype?: string; result?: string }[] = [];
  const query = official.query({ prompt: 'go', options: { ...options, env: {}, spawnClaudeCodeProcess } });
  for await (const message of query) messages.push(message as never);
  return { model, messages };
}

const results = (model: ReturnType<typeof scriptedModel>) => model.requests.at(-1)?.messages.at(-1)?.content;

test('a string prompt and an sdk server: the tool is offered, called, and its result reaches the model', async () => {
  const allowed = parseRule('mcp__calc', 'allow', 'cliArg');
  const { model, messages } = await run(
    [toolUse('mcp__calc__add', { a: 2, b: 40 }, 't1'), text('It is 42.')],
    { mcpServers: { calc: calc() } },
    { rules: allowed.ok ? [allowed.rule] : [] },
  );
  expect(messages.map(({ type, subtype }) => (subtype ? `${type} ${subtype}` : type))).toEqual([
    'system init',
    'assistant',
    'user',
    'assistant',
    'result success',
  ]);
  expect(messages.at(-1)?.result).toBe('It is 42.');
  expect(results(model)).toEqual([
    { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: '42' }] },
  ]);
});

test('without manifests the host shakes hands itself, over the same channel (R4)', async () => {
  vi.stubEnv('CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS', '1');
  onTestFinished(() => void vi.unstubAllEnvs());
  const allowed = parseRule('mcp__calc', 'allow', 'cliArg');
  const { model, messages } = await run(
    [toolUse('mcp__calc__add', { a: 2, b: 40 }, 't1'), text('It is 42.')],
    { mcpServers: { calc: calc() } },
    { rules: allowed.ok ? [allowed.rule] : [] },
  );
  expect(messages.at(-1)?.result).toBe('It is 42.');
  expect(model.requests[0]?.tools.map(({ name }) => name)).toContain('mcp__calc__add');
});

test('two queries at once, each with a server of its own', async () => {
  const allowed = parseRule('mcp__calc', 'allow', 'cliArg');
  const rules = allowed.ok ? [allowed.rule] : [];
  const one = (a: number) =>
    run(
      [toolUse('mcp__calc__add', { a, b: 1 }, 't1'), text(`done ${a}`)],
      { mcpServers: { calc: calc() } },
      { rules },
    );
  const [first, second] = await Promise.all([one(10), one(20)]);
  expect([first, second].map(({ messages }) => messages.at(-1)?.result)).toEqual(['done 10', 'done 20']);
  expect(JSON.stringify(results(first.model))).toContain('"11"');
  expect(JSON.stringify(results(second.model))).toContain('"21"');
});

test.each([
  [
    'changes the input',
    { behavior: 'allow', updatedInput: { a: 10, b: 10 } },
    [{ type: 'text', text: '20' }],
    undefined,
  ],
  ['denies', { behavior: 'deny', message: 'not today' }, 'not today', true],
] as const)('its canUseTool %s', async (_, answer, content, is_error) => {
  const { model } = await run([toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1'), text('ok')], {
    mcpServers: { calc: calc() },
    canUseTool: async () => answer as never,
  });
  expect(results(model)).toEqual([
    { type: 'tool_result', tool_use_id: 't1', content, ...(is_error && { is_error }) },
  ]);
});

test('interrupt in a slow tool, then another turn', async () => {
  const started = new EventEmitter();
  const slow = official.createSdkMcpServer({
    name: 'slow',
    tools: [
      official.tool('wait', 'Waits', {}, async (_, extra) => {
        started.emit('started');
        const { signal } = extra as { signal: AbortSignal };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return { content: [] };
      }),
    ],
  });
  const allowed = parseRule('mcp__slow', 'allow', 'cliArg');
  const { spawnClaudeCodeProcess } = hostProcess([toolUse('mcp__slow__wait', {}, '1'), text('second')], {
    rules: allowed.ok ? [allowed.rule] : [],
  });
  const next = Promise.withResolvers<void>();
  const say = (content: string) => ({
    type: 'user' as const,
    message: { role: 'user' as const, content },
    parent_tool_use_id: null,
  });
  async function* prompts() {
    yield say('one');
    await next.promise;
    yield say('two');
  }
  const options = { env: {}, spawnClaudeCodeProcess, mcpServers: { slow } };
  const query = official.query({ prompt: prompts() as never, options });
  const begun = once(started, 'started');
  const subtypes: string[] = [];
  const reading = (async () => {
    for await (const message of query) {
      if (message.type !== 'result') continue;
      subtypes.push(message.subtype);
      next.resolve();
    }
  })();
  await begun;
  await query.interrupt();
  await reading;
  expect(subtypes).toEqual(['error_during_execution', 'success']);
});
