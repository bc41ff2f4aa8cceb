import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { loadPackage } from '../../interop/compare.ts';
import type { SpawnRequest } from '../../src/control/process-link.ts';
import * as ours from '../../src/entry/index.ts';
import { scriptAgent } from '../../src/entry/testing.ts';
import type { Frame } from '../../src/protocol/control-frame.ts';
import { OFFICIAL_EXPORTS } from '../../src/sdk/official-exports.ts';
import { OFFICIAL_OPTIONS } from '../../src/sdk/options/option-table.ts';
import type { AgentLaunch, OfficialOptions, Options } from '../../src/sdk/options/options.ts';
import { createQuery, Query } from '../../src/sdk/query.ts';
import type { AgentScript } from '../../src/sdk/testing/agent-script.ts';
import { fakeDeps } from '../sdk/support/fake-deps.ts';
import { collect } from '../support/collect.ts';
import { publishedMembers, publishedValues } from './published-types.ts';

/** The official package at run time, for facts that its types do not contain. */
const official = (await loadPackage('official')) as unknown as typeof ours;

const options = Object.entries(OFFICIAL_OPTIONS);
const names = (isIn: (goes: string) => boolean) =>
  options.filter(([, row]) => isIn(row.goes)).map(([name]) => name);

test('the option table lists exactly the official options', () => {
  const published = publishedMembers('type Options = ');
  expect(published.length).toBeGreaterThan(60);
  expect(Object.keys(OFFICIAL_OPTIONS).sort()).toEqual(published);
});

/** The launch parameters of an agent, and the `initialize` request that it received. */
type Started = { argv: string[]; env: AgentLaunch['env']; initialize: Frame };

async function start(given: Options): Promise<Started> {
  let initialize: Frame = {};
  const { launch } = await converse(given, async (agent) => {
    initialize = await agent.start({ hook_on_failure_supported: true });
    await agent.prompt();
    agent.result('done');
  });
  return { argv: launch.argv, env: launch.env, initialize };
}

async function converse(
  given: Options,
  play: (agent: AgentScript) => Promise<void>,
): Promise<{ launch: AgentLaunch; sent: Frame[] }> {
  const agent = scriptAgent(play);
  const { query } = createQuery(fakeDeps());
  await collect(query({ prompt: 'hello', options: { ...given, link: agent.link } }));
  await agent.played;
  return { launch: agent.script.launch as AgentLaunch, sent: agent.script.agent.sent };
}

type Sample = { value: unknown; beside?: Options };
type Told = Exclude<keyof OfficialOptions, keyof typeof RUN>;

/** A value of each option that is sent to the agent; `beside` has further options that the option requires. */
const SAMPLES: Record<string, Sample> = {
  additionalDirectories: { value: ['/one'] },
  agent: { value: 'reviewer' },
  agentProgressSummaries: { value: true },
  agents: { value: { a: { description: 'd', prompt: 'p' } } },
  allowDangerouslySkipPermissions: { value: true },
  allowedTools: { value: ['Read'] },
  betas: { value: ['b'] },
  continue: { value: true },
  debug: { value: true },
  debugFile: { value: '/log' },
  disallowedTools: { value: ['Bash'] },
  effort: { value: 'low' },
  enableFileCheckpointing: { value: true },
  extraArgs: { value: { flag: null } },
  fallbackModel: { value: 'small' },
  forkSession: { value: true },
  forwardSubagentText: { value: true },
  hooks: { value: { Stop: [{ hooks: [async () => ({})] }] } },
  includeHookEvents: { value: true },
  includePartialMessages: { value: true },
  managedSettings: { value: {} },
  maxBudgetUsd: { value: 1 },
  maxThinkingTokens: { value: 1 },
  maxTurns: { value: 1 },
  mcpServers: { value: { st: { command: 'x' } } },
  model: { value: 'm' },
  outputFormat: { value: { type: 'json_schema', schema: {} } },
  perTaskStopAffordance: { value: true },
  permissionMode: { value: 'plan' },
  permissionPromptToolName: { value: 'ask' },
  permissionPrompts: { value: 'none' },
  persistSession: { value: false },
  planModeInstructions: { value: 'i' },
  pluginDelivery: { value: 'initialize', beside: { plugins: [{ type: 'local', path: '/p' }] } },
  plugins: { value: [{ type: 'local', path: '/p' }] },
  projectConfigRoot: { value: '/root' },
  promptSuggestions: { value: true },
  resume: { value: 'id' },
  resumeDropsTurn: { value: 'id' },
  resumeSessionAt: { value: 'id' },
  sandbox: { value: { enabled: true } },
  sessionId: { value: 'id' },
  settingSources: { value: [] },
  settings: { value: './s.json' },
  skills: { value: ['pdf'] },
  strictMcpConfig: { value: true },
  supportedDialogKinds: { value: ['k'], beside: { onUserDialog: async () => null } },
  systemPrompt: { value: 'be kind' },
  taskBudget: { value: { total: 1 } },
  thinking: { value: { type: 'disabled' } },
  title: { value: 't' },
  toolAliases: { value: { a: 'b' } },
  toolConfig: { value: { askUserQuestion: { previewFormat: 'html' } } },
  tools: { value: [] },
};

test.each(names((goes) => ['argv', 'initialize', 'environment'].includes(goes)))(
  '%s reaches the agent',
  async (name) => {
    const { value, beside = {} } = SAMPLES[name as Told] as Sample;
    const without = await start(beside);
    const having = await start({ ...beside, [name]: value });
    const where = { argv: 'argv', initialize: 'initialize', environment: 'env' } as const;
    const place = where[OFFICIAL_OPTIONS[name as Told].goes as keyof typeof where];
    expect(having[place]).not.toEqual(without[place]);
  },
);

/** The request to `spawnClaudeCodeProcess`, which throws. */
function spawned(given: Options): SpawnRequest {
  const requests: SpawnRequest[] = [];
  const spawnClaudeCodeProcess = (request: SpawnRequest): never => {
    requests.push(request);
    throw new Error('refused');
  };
  expect(() => ours.query({ prompt: 'x', options: { ...given, spawnClaudeCodeProcess } })).toThrow('refused');
  return requests[0] as SpawnRequest;
}

/** Sends a request of the agent to a callback, and returns the response. */
async function asked(given: Options, request: Frame & { subtype: string }): Promise<Frame> {
  let answer: Frame = {};
  await converse(given, async (agent) => {
    await agent.start();
    await agent.prompt();
    answer = await agent.ask(request);
    agent.result('done');
  });
  return answer;
}

/** A test of each option that takes effect in this process. */
const RUN = {
  async abortController() {
    const abortController = new AbortController();
    const agent = scriptAgent(async (it) => {
      await it.start();
      await it.prompt();
      abortController.abort();
    });
    const reading = collect(ours.query({ prompt: 'x', options: { link: agent.link, abortController } }));
    await expect(reading).rejects.toThrow(ours.AbortError);
  },
  async canUseTool() {
    const canUseTool = async () => ({ behavior: 'deny' as const, message: 'seen' });
    expect(await asked({ canUseTool }, { subtype: 'can_use_tool' })).toMatchObject({ message: 'seen' });
  },
  async cwd() {
    expect(spawned({ cwd: '/somewhere' }).cwd).toBe('/somewhere');
  },
  async env() {
    expect(spawned({ env: { A: 'b' } }).env).toMatchObject({ A: 'b' });
    expect(spawned({ env: { A: 'b' } }).env).not.toHaveProperty('PATH');
  },
  async executable() {
    expect(spawned({ executable: 'bun', pathToClaudeCodeExecutable: '/cli.js' }).command).toBe('bun');
  },
  async executableArgs() {
    const { args } = spawned({ executableArgs: ['--x'], pathToClaudeCodeExecutable: '/cli.js' });
    expect(args.slice(0, 2)).toEqual(['--x', '/cli.js']);
  },
  async onElicitation() {
    const onElicitation = async () => ({ action: 'cancel' as const });
    expect(await asked({ onElicitation }, { subtype: 'elicitation' })).toEqual({ action: 'cancel' });
  },
  async onUserDialog() {
    const onUserDialog = async () => ({ behavior: 'completed' as const, result: 7 });
    const answer = await asked({ onUserDialog }, { subtype: 'request_user_dialog' });
    expect(answer).toEqual({ behavior: 'completed', result: 7 });
  },
  async pathToClaudeCodeExecutable() {
    expect(spawned({ pathToClaudeCodeExecutable: '/elsewhere/agent' }).command).toBe('/elsewhere/agent');
  },
  async spawnClaudeCodeProcess() {
    expect(spawned({}).args).toContain('--verbose');
  },
  async stderr() {
    const said: string[] = [];
    // Node rejects the arguments of an agent with an error on stderr.
    const query = ours.query({
      prompt: 'x',
      options: { pathToClaudeCodeExecutable: process.execPath, env: {}, stderr: (text) => said.push(text) },
    });
    await expect(collect(query)).rejects.toMatchObject({ code: 'process-exited' });
    expect(said.join('')).toContain('--output-format');
  },
  async verbatimPrompts() {
    const { sent } = await converse({ verbatimPrompts: true }, async (agent) => {
      await agent.start();
      await agent.prompt();
      agent.result('done');
    });
    expect(sent[1]).toMatchObject({ type: 'user', client_composed: true });
  },
};

test.each(names((goes) => goes === 'here' || goes === 'process'))(
  '%s works in this process',
  async (name) => {
    await RUN[name as keyof typeof RUN]();
  },
);

test.each(names((goes) => goes === 'refused'))('%s is refused by name', (name) => {
  expect(() => ours.query({ prompt: 'x', options: { [name]: {} } })).toThrow(
    expect.objectContaining({
      code: 'unsupported-option',
      message: expect.stringContaining(`options.${name} is not supported`),
    }),
  );
});

test('the table lists exactly the official exports', () => {
  const published = publishedValues();
  expect(published.length).toBeGreaterThan(25);
  expect(Object.keys(OFFICIAL_EXPORTS).sort()).toEqual(published);
  expect(published.filter((name) => !(name in official))).toEqual([]);
});

const exported = Object.entries(OFFICIAL_EXPORTS);

/** `test/repository/interop/session-functions.test.ts` compares what they do. */
const SESSION_FUNCTIONS = [
  'archiveSession',
  'deleteSession',
  'forkSession',
  'getSessionInfo',
  'getSessionMessages',
  'getSubagentMessages',
  'listSubagents',
  'renameSession',
  'tagSession',
  'unarchiveSession',
] as const;

/** Calls a function with an unknown session: it returns nothing or fails with `unknown-session`. */
async function acceptsSession(name: (typeof SESSION_FUNCTIONS)[number]): Promise<void> {
  const { [name]: use } = ours as unknown as Record<string, (id: string, text: string) => Promise<unknown>>;
  const answer = await use?.(randomUUID(), 'text').catch(({ code }: { code: string }) => code);
  expect([undefined, [], 'unknown-session']).toContainEqual(answer);
}

/** A test of each supported export. */
const OFFERED: Record<string, () => unknown> = {
  AbortError: () => expect(new ours.AbortError('x')).toBeInstanceOf(Error),
  EXIT_REASONS: () => expect(ours.EXIT_REASONS).toEqual(official.EXIT_REASONS),
  HOOK_EVENTS: () => expect(ours.HOOK_EVENTS).toEqual(official.HOOK_EVENTS),
  SYSTEM_PROMPT_DYNAMIC_BOUNDARY: () =>
    expect(ours.SYSTEM_PROMPT_DYNAMIC_BOUNDARY).toBe(official.SYSTEM_PROMPT_DYNAMIC_BOUNDARY),
  createSdkMcpServer: () => {
    const server = ours.createSdkMcpServer({ name: 'calc', tools: [] });
    expect(server).toMatchObject({ type: 'sdk', name: 'calc', instance: { connect: expect.any(Function) } });
  },
  ...Object.fromEntries(SESSION_FUNCTIONS.map((name) => [name, () => acceptsSession(name)])),
  filterEscalatingDefaultMode: () => {
    const sources = [
      { source: 'project' as const, settings: { permissions: { defaultMode: 'auto' as const } } },
    ];
    const resolved = {
      effective: { permissions: { defaultMode: 'auto' as const } },
      provenance: {},
      sources,
    };
    expect(ours.filterEscalatingDefaultMode(resolved)).toEqual({ permissions: {} });
    expect(official.filterEscalatingDefaultMode(resolved)).toEqual({ permissions: {} });
  },
  resolveSettings: async () =>
    expect(await ours.resolveSettings({ settingSources: [] })).toMatchObject({ effective: {}, sources: [] }),
  listSessions: async () => expect(await ours.listSessions({ dir: '/nowhere' })).toEqual([]),
  query: async () => expect((await start({})).argv).toContain('--verbose'),
  startup: async () => {
    const agent = scriptAgent(async (it) => void (await it.start()));
    await using warm = await ours.startup({ options: { link: agent.link } });
    expect(warm).toMatchObject({ query: expect.any(Function), close: expect.any(Function) });
  },
  tool: () => {
    const handler = async () => ({ content: [] });
    const definition = {
      name: 't',
      description: 'T',
      inputSchema: {},
      handler,
      annotations: { readOnlyHint: true },
    };
    expect(ours.tool('t', 'T', {}, handler, { annotations: { readOnlyHint: true } })).toEqual(definition);
    expect(official.tool('t', 'T', {}, handler, { annotations: { readOnlyHint: true } })).toMatchObject(
      definition,
    );
  },
  // The lists of the official package contain texts of the CLI; ours are empty.
  ORG_POLICY_LIMIT_PREFIXES: () => expect(ours.ORG_POLICY_LIMIT_PREFIXES).toEqual([]),
  USAGE_LIMIT_ERROR_PREFIXES: () => expect(ours.USAGE_LIMIT_ERROR_PREFIXES).toEqual([]),
  USAGE_TRANSITION_PREFIXES: () => expect(ours.USAGE_TRANSITION_PREFIXES).toEqual([]),
  USAGE_WARNING_PREFIXES: () => expect(ours.USAGE_WARNING_PREFIXES).toEqual([]),
};

test.each(exported.filter(([, how]) => how === 'offered').map(([name]) => name))(
  '%s is exported',
  async (name) => {
    expect(ours).toHaveProperty(name);
    await OFFERED[name]?.();
    expect(OFFERED).toHaveProperty(name);
  },
);

test.each(exported.filter(([, how]) => how !== 'offered'))(
  '%s is refused when it is used, not when it is imported',
  (name, how) => {
    const value = (ours as unknown as Record<string, () => void>)[name];
    expect(() => value?.()).toThrow(
      expect.objectContaining({
        code: 'unsupported-method',
        message: `${name} is not supported by toolplane: ${how}`,
      }),
    );
  },
);

test('has every method of the official Query and WarmQuery', () => {
  const published = publishedMembers('interface Query ');
  expect(published.length).toBeGreaterThan(25);
  const missing = published.filter((name) => typeof Query.prototype[name as keyof Query] !== 'function');
  expect(missing).toEqual([]);
  const generator = ['next', 'return', 'throw', Symbol.asyncIterator, Symbol.asyncDispose] as const;
  expect(generator.filter((name) => typeof Query.prototype[name] !== 'function')).toEqual([]);
});
