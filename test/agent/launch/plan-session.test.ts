import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AgentFlags } from '../../../src/agent/launch/flag-table.ts';
import { type PlanFiles, planSession, readPromptFiles } from '../../../src/agent/launch/plan-session.ts';
import { mergeSettings, type Settings } from '../../../src/config/settings/merge-settings.ts';
import { ServerAuth } from '../../../src/mcp/auth/authorizer.ts';
import { flagName } from '../../../src/protocol/launch-flag.ts';

describe('plan session', () => {
  const { settings: NO_SETTINGS } = mergeSettings([], { ofSettings: () => 'approved' });
  const NOTHING: PlanFiles = { servers: {}, settings: NO_SETTINGS, prompts: { faults: [] } };
  const AROUND = { env: { PATH: '/bin' }, cwd: '/w', home: '/h', version: '1' };

  const plan = (flags: AgentFlags, files: Partial<PlanFiles> = {}) =>
    planSession(flags, { ...NOTHING, ...files }, AROUND);

  test('the chat and settings let long calls continue in the background', () => {
    const afterMs = (flags: AgentFlags, backgroundMs?: number) => {
      const timeouts =
        backgroundMs === undefined ? {} : { backgroundMs: { value: backgroundMs, label: 'settings.json' } };
      const settings = { ...NOTHING.settings, timeouts };
      return plan(flags, { settings }).options.backgroundCallsAfterMs;
    };
    expect([afterMs({}), afterMs({}, 5), afterMs({ backgroundCalls: true })]).toEqual([
      undefined,
      5,
      120_000,
    ]);
    expect([afterMs({ backgroundCalls: true }, 5), afterMs({ backgroundCalls: true }, 0)]).toEqual([5, 0]);
  });

  test('nothing given', () => {
    expect(plan({})).toEqual({
      options: {
        nameOf: flagName,
        version: '1',
        workspace: { cwd: '/w', home: '/h', directories: [] },
        rules: [],
        servers: {},
        callLimits: {},
        connect: {
          env: { PATH: '/bin' },
          cwd: '/w',
          connectTimeoutMs: 30_000,
          clientInfo: { name: 'toolplane', version: '1' },
          auth: expect.any(ServerAuth),
        },
        hooks: [],
        shellEnv: { PATH: '/bin' },
        agents: {},
        mayBypass: false,
        asksProgram: false,
        includePartialMessages: false,
        replayUserMessages: false,
        fileCheckpoints: false,
        reportsDecisions: false,
        marks: false,
        leadOnly: false,
        lists: { kind: 'tasks' },
        stateDirectory: '/h/.toolplane',
        schedule: { isDisabled: false, home: '/h/.toolplane/schedule' },
        systemPrompt: '',
        appendSystemPrompt: '',
      },
      faults: [],
      notes: [],
    });
  });

  test('everything given: flags, then settings, then policy', () => {
    const rule = { tool: 'Bash', effect: 'deny', source: 'policySettings' } as const;
    const hook = { event: 'Stop', target: { kind: 'command', command: 'true' } } as const;
    const { options, faults, notes } = plan(
      {
        allowedTools: ['Read', 'Nonsense(x)'],
        disallowedTools: ['Edit'],
        addDirs: ['/one', 'sub', '~/more'],
        maxTurns: 3,
        includePartialMessages: true,
        permissionMode: 'plan',
        permissionPrompts: 'none',
        tools: ['Read'],
        agents: { helper: { description: 'd', prompt: 'p' } },
        appendSystemPrompt: 'And brief.',
      },
      {
        servers: { a: { command: 'a' } },
        settings: {
          ...NO_SETTINGS,
          directories: ['/two'],
          hooks: [hook, hook],
          defaultMode: 'acceptEdits',
          rules: [rule],
        },
        prompts: { systemPrompt: 'Be kind.', appendSystemPrompt: 'Bye.', faults: [] },
      },
    );
    expect(options).toMatchObject({
      workspace: { directories: ['/one', '/w/sub', '/h/more', '/two'] },
      rules: [
        { tool: 'Read', effect: 'allow', source: 'cliArg' },
        { tool: 'Edit', effect: 'deny', source: 'cliArg' },
        rule,
      ],
      servers: { a: { command: 'a' } },
      permissionMode: 'plan',
      maxTurns: 3,
      includePartialMessages: true,
      systemPrompt: 'Be kind.',
      appendSystemPrompt: 'And brief.\n\nBye.',
      hooks: [hook, hook],
      agents: { helper: { description: 'd', prompt: 'p' } },
      builtIns: ['Read'],
      asksProgram: false,
      deniesPrompts: true,
    });
    expect(faults).toEqual([]);
    expect(notes).toEqual([expect.stringMatching(/^--allowedTools: .*Nonsense does not support a pattern/)]);
  });

  test('shell commands of tools and hooks do not get model keys', () => {
    const env = { PATH: '/bin', ANTHROPIC_API_KEY: 'a', ANTHROPIC_AUTH_TOKEN: 'b', OPENAI_API_KEY: 'c' };
    const { options } = planSession({}, NOTHING, { ...AROUND, env });
    expect(options.shellEnv).toEqual({ PATH: '/bin' });
  });

  test('flags and variables of our own', () => {
    const env = { CLAUDE_CODE_SDK_READS_SESSION_STATE: '1' };
    const { options } = planSession({ toolMarks: true, leadOnly: true, reportDecisions: true }, NOTHING, {
      ...AROUND,
      env,
    });
    expect(options).toMatchObject({
      marks: true,
      leadOnly: true,
      reportsState: 'to-sdk',
      reportsDecisions: true,
    });
  });

  test('a program can get the messages about the state', () => {
    const env = { CLAUDE_CODE_SDK_READS_SESSION_STATE: '1', CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1' };
    expect(planSession({}, NOTHING, { ...AROUND, env }).options.reportsState).toBe('to-program');
  });

  test('an invalid rule in --disallowedTools is an error', () => {
    expect(plan({ disallowedTools: ['Nonsense(x)'] }).faults).toEqual([
      expect.stringMatching(/^--disallowedTools: .*Nonsense does not support a pattern/),
    ]);
  });

  test.each([
    ['stdio', []],
    [
      'mcp__ask__me',
      [
        '--permission-prompt-tool supports only "stdio"; answer permission requests with canUseTool in the program',
      ],
    ],
  ])('--permission-prompt-tool %s', (permissionPromptTool, faults) => {
    const { options, ...planned } = plan({ permissionPromptTool });
    expect(planned.faults).toEqual(faults);
    expect(options.asksProgram).toBe(true);
  });

  test('settings can prevent that the program is asked', () => {
    const settings = { ...NO_SETTINGS, deniesPrompts: true };
    expect(plan({ permissionPromptTool: 'stdio' }, { settings }).options.asksProgram).toBe(false);
  });

  test.each<[string, readonly string[], readonly string[] | undefined]>([
    ['all by default', ['default'], undefined],
    ['none', [], []],
    ['some', ['Read', 'Bash'], ['Read', 'Bash']],
  ])('built-in tools: %s', (_, tools, builtIns) => {
    expect(plan({ tools }).options.builtIns).toEqual(builtIns);
  });

  test('an invalid agent definition is an error', () => {
    expect(plan({ agents: { good: { prompt: 'p' }, bad: {} } }).faults).toEqual([
      '--agents: "bad" must be { "description": string, "prompt": string }',
    ]);
  });

  describe('the mode', () => {
    test.each<[AgentFlags, boolean]>([
      [{ mayBypass: true }, true],
      [{ skipPermissions: true }, true],
      [{ permissionMode: 'bypassPermissions' }, true],
      [{ permissionMode: 'plan' }, false],
    ])('%j: mode bypassPermissions may be used later: %s', (flags, mayBypass) => {
      expect(plan(flags).options.mayBypass).toBe(mayBypass);
    });

    const mode = (
      defaultMode: 'plan' | 'bypassPermissions',
      source: 'userSettings' | 'policySettings' = 'userSettings',
    ): { settings: Settings } => ({
      settings: {
        ...NO_SETTINGS,
        defaultMode,
        permissions: { ...NO_SETTINGS.permissions, modes: { [source]: defaultMode } },
      },
    });

    test.each<[string, AgentFlags, Partial<PlanFiles>, string | undefined]>([
      ['settings', {}, mode('plan'), 'plan'],
      ['the flag before settings', { permissionMode: 'default' }, mode('plan'), 'default'],
      ['policy before the flag', { permissionMode: 'default' }, mode('plan', 'policySettings'), 'plan'],
      ['bypass', { permissionMode: 'bypassPermissions' }, {}, 'bypassPermissions'],
      ['bypass, allowed', { permissionMode: 'bypassPermissions', mayBypass: true }, {}, 'bypassPermissions'],
      ['skipping', { skipPermissions: true }, {}, 'bypassPermissions'],
      ['nothing', {}, {}, undefined],
    ])('%s', (_, flags, files, expected) => {
      const { options, faults } = plan(flags, files);
      expect({ mode: options.permissionMode, faults }).toEqual({ mode: expected, faults: [] });
    });

    test.each<[AgentFlags, Partial<PlanFiles>, RegExp]>([
      [{}, mode('bypassPermissions'), /requires --allow-dangerously-skip-permissions/],
      [
        { permissionMode: 'bypassPermissions', mayBypass: true },
        { settings: { ...NO_SETTINGS, forbidsBypass: true } },
        /is forbidden by "permissions.disableBypassPermissionsMode"/,
      ],
      [
        { skipPermissions: true },
        { settings: { ...NO_SETTINGS, forbidsBypass: true } },
        /is forbidden by "permissions.disableBypassPermissionsMode"/,
      ],
    ])('%j %j is refused', (flags, files, fault) => {
      const { options, faults } = plan(flags, files);
      expect({ mode: options.permissionMode, mayBypass: options.mayBypass }).toEqual({
        mode: undefined,
        mayBypass: false,
      });
      expect(faults).toEqual([expect.stringMatching(fault)]);
    });
  });

  test('environment variables limit results', () => {
    const env = { MAX_MCP_OUTPUT_TOKENS: '500', ENABLE_MCP_LARGE_OUTPUT_FILES: 'false' };
    expect(planSession({}, NOTHING, { ...AROUND, env }).options).toMatchObject({
      maxResultTokens: 500,
      resultFiles: false,
    });
    const invalid = planSession({}, NOTHING, { ...AROUND, env: { MAX_MCP_OUTPUT_TOKENS: 'many' } });
    expect(invalid.notes).toHaveLength(1);
  });

  const UNUSED =
    'the variable ENABLE_TOOL_SEARCH is ignored: its value must be on, off, auto, auto:<percent of the context window> or a number of tokens';

  test.each([
    ['bogus', {}, undefined, [UNUSED]],
    ['', {}, undefined, []],
    [' true ', {}, 'on', []],
    ['bogus', { toolSearch: 'off' }, 'off', []],
  ] as const)('ENABLE_TOOL_SEARCH=%j with %j', (word, flags, toolSearch, notes) => {
    const { options, ...rest } = planSession(flags, NOTHING, {
      ...AROUND,
      env: { ENABLE_TOOL_SEARCH: word },
    });
    expect({ toolSearch: options.toolSearch, notes: rest.notes }).toEqual({ toolSearch, notes });
  });
});

describe('prompt files', () => {
  test('without flags nothing is read', async () => {
    expect(await readPromptFiles({}, '/nowhere')).toEqual({ faults: [] });
  });

  test('reads prompt files relative to the working directory', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'launch-'));
    onTestFinished(() => rm(cwd, { recursive: true }));
    await writeFile(join(cwd, 'prompt.md'), 'Be kind.');
    await writeFile(join(cwd, 'more.md'), 'Be brief.');
    const flags = { systemPromptFile: 'prompt.md', appendSystemPromptFile: join(cwd, 'more.md') };
    expect(await readPromptFiles(flags, cwd)).toEqual({
      systemPrompt: 'Be kind.',
      appendSystemPrompt: 'Be brief.',
      faults: [],
    });
  });

  test('an unreadable file is an error; a value that is not a path may be a secret and is not shown', async () => {
    const flags = { systemPromptFile: 'none.md', appendSystemPromptFile: 'TOKEN=hush' };
    expect((await readPromptFiles(flags, '/nowhere')).faults).toEqual([
      '--system-prompt-file none.md cannot be read (ENOENT)',
      'the file of --append-system-prompt-file cannot be read (ENOENT)',
    ]);
  });
});
