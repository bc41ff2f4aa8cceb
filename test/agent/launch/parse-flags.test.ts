import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AgentFlags, FLAGS } from '../../../src/agent/launch/flag-table.ts';

import { checkFlags, parseFlags } from '../../../src/agent/launch/parse-flags.ts';
import { flagName, launchArgv, optionName } from '../../../src/protocol/launch-flag.ts';
import { PERMISSION_MODES } from '../../../src/protocol/permission.ts';
import { launchFlags } from '../../../src/sdk/options/launch-flags.ts';
import { OFFICIAL_OPTIONS } from '../../../src/sdk/options/option-table.ts';
import type { Options } from '../../../src/sdk/options/options.ts';

const SECRET = 'sk-ant-0123456789abcdef';

const READ: readonly (readonly [argv: string[], flags: AgentFlags])[] = [
  [[], {}],
  [['--model', 'm'], { model: 'm' }],
  [['--model=m'], { model: 'm' }],
  [['--model='], { model: '' }],
  [['--model=a=b\nc'], { model: 'a=b\nc' }],
  [['--model=one', '--model', 'two'], { model: 'two' }],
  [['--system-prompt=--help'], { systemPrompt: '--help' }],
  [['--max-turns=3', '--include-partial-messages'], { maxTurns: 3, includePartialMessages: true }],
  [['--max-turns=-1.5', '--replay-user-messages'], { maxTurns: -1.5, replayUserMessages: true }],
  [['-p', '--print', '--verbose', '--debug'], {}],
  [['--allowedTools=Read,Bash(a, b),mcp__x'], { allowedTools: ['Read', 'Bash(a, b)', 'mcp__x'] }],
  [['--allowedTools', 'Read Bash(git log:*),Edit'], { allowedTools: ['Read', 'Bash(git log:*)', 'Edit'] }],
  [['--allowedTools', 'Read', 'Edit', '--model', 'm'], { allowedTools: ['Read', 'Edit'], model: 'm' }],
  [['--allowed-tools', 'Read', '--allowedTools=Edit'], { allowedTools: ['Read', 'Edit'] }],
  [['--allowedTools=mcp__my server'], { allowedTools: ['mcp__my server'] }],
  [['--disallowedTools=Bash(a(b,c),d)'], { disallowedTools: ['Bash(a(b,c),d)'] }],
  [['--mcp-config', '{"a":1, "b":2}', './x.json'], { mcpConfigs: ['{"a":1, "b":2}', './x.json'] }],
  [['--add-dir=/a b', '--add-dir', '/c,d'], { addDirs: ['/a b', '/c,d'] }],
  [['--managed-settings', '{"a":{"b":1}}'], { managedSettings: { a: { b: 1 } } }],
  [['--dangerously-skip-permissions'], { skipPermissions: true }],
  [['--setting-sources='], { settingSources: [] }],
  [['--plugin-dir', '/a', '--plugin-dir=/b'], { pluginDirs: ['/a', '/b'] }],
  [['--project-config-root=/p', '--strict-mcp-config'], { projectConfigRoot: '/p', strictMcpConfig: true }],
  [['--disallowed-tools', 'Bash', '--tool-marks'], { disallowedTools: ['Bash'], toolMarks: true }],
  [['--report-decisions', '--debug-to-stderr'], { reportDecisions: true }],
  [['--await-channels'], { awaitChannels: true }],
  [['--background-calls'], { backgroundCalls: true }],
];

test.each(READ)('%j', (argv, flags) => {
  expect(parseFlags(argv)).toEqual({ flags, faults: [], notes: [], nameOf: flagName });
});

test.each([
  [['--managed-settings-in-initialize'], 'pass --managed-settings'],
  [['--session-mirror'], 'store the messages yourself'],
])('%j is rejected with an alternative', (argv, instead) => {
  expect(parseFlags(argv).faults).toEqual([expect.stringContaining(instead)]);
});

test('a flag without effect produces a warning', () => {
  expect(parseFlags(['--task-budget=5'])).toEqual({
    flags: { taskBudget: 5 },
    faults: [],
    notes: ['--task-budget has no effect: budgets are not sent to the model'],
    nameOf: flagName,
  });
});

test.each([
  [['--modle', 'x'], 'unknown flag --modle; did you mean --model?'],
  [['--zzzzzzzz=1'], 'unknown flag --zzzzzzzz'],
  [['-x'], 'unknown flag -x'],
  [['-model', 'x'], 'unknown flag -model; did you mean --model?'],
  [['--p'], 'unknown flag --p; did you mean -p?'],
  [['--toString'], 'unknown flag --toString'],
  [['do it'], 'argument 1 is not a flag; prompts are sent over stdin'],
  [['--verbose', '--'], 'argument 2 is not a flag; prompts are sent over stdin'],
  [['--model'], '--model requires a string'],
  [['--model', '--verbose'], '--model requires a string'],
  [['--allowedTools'], '--allowedTools requires a list'],
  [['--verbose=yes'], '--verbose takes no value'],
  [['--max-turns=x'], '--max-turns takes a number'],
  [['--max-turns='], '--max-turns takes a number'],
  [['--max-thinking-tokens=x'], '--max-thinking-tokens takes a number'],
  [['--task-budget='], '--task-budget takes an integer of at least 1'],
  [['--task-budget=0'], '--task-budget takes an integer of at least 1'],
  [['--output-format', 'text'], '--output-format takes only stream-json'],
  [['--agents', '[]'], '--agents takes a JSON object'],
  [['--agents', '{'], '--agents takes a JSON object'],
  [['--sdk-url=x'], '--sdk-url is not supported: the agent communicates over stdin and stdout'],
])('%j is rejected', (argv, fault) => {
  expect(parseFlags(argv).faults).toEqual([fault]);
});

test('every error is reported once, and valid flags are still parsed', () => {
  const { flags, faults } = parseFlags(['--no-such', 'a', 'b', '--model', 'm', '--max-turns', 'many']);
  expect(flags).toEqual({ model: 'm' });
  expect(faults).toEqual(['unknown flag --no-such', '--max-turns takes a number']);
});

test('a flag without effect is reported once, and not if its value is off', () => {
  const { notes } = parseFlags([
    '--task-budget=1',
    '--task-budget=2',
    '--setting-sources=',
    '--debug-file',
    'x',
  ]);
  expect(notes).toEqual([
    '--task-budget has no effect: budgets are not sent to the model',
    '--debug-file has no effect: no log is written',
  ]);
});

describe('every flag', () => {
  test.each(Object.keys(FLAGS))('errors of --%s contain no value', (name) => {
    const flag = name.length > 1 ? `--${name}` : `-${name}`;
    for (const argv of [[`${flag}=${SECRET}`], [flag, SECRET], [flag, '--model', SECRET, SECRET]]) {
      const { faults, notes } = parseFlags(argv);
      expect([...faults, ...notes].join('\n')).not.toContain('0123456789');
    }
  });
});

test('an unknown flag that looks like a secret is masked', () => {
  expect(parseFlags([`--${SECRET}`, SECRET]).faults.join()).not.toContain('0123456789');
});

test('parses any list of strings without throwing', () => {
  const word = fc.oneof(fc.string(), fc.constantFrom(...Object.keys(FLAGS).map((name) => `--${name}`)));
  fc.assert(
    fc.property(fc.array(word), (argv) => {
      const { flags, faults } = parseFlags(argv);
      expect(Object.values(flags)).not.toContain(undefined);
      expect(new Set(faults.map((fault) => typeof fault))).toEqual(
        new Set(faults.length > 0 ? ['string'] : []),
      );
    }),
  );
});

describe('parses the command line that the SDK writes', () => {
  const name = fc.stringMatching(/^[a-zA-Z0-9_.*-]{1,12}$/);
  const words = fc.string({ minLength: 1 });
  // JSON has no negative zero.
  const json = fc
    .dictionary(words, fc.jsonValue())
    .map((it) => JSON.parse(JSON.stringify(it)) as object as Record<string, unknown>);
  const rule = fc
    .tuple(name, fc.option(fc.stringMatching(/^[^()]{1,12}$/)))
    .map(([tool, content]) => (content === null ? tool : `${tool}(${content})`));
  const options: fc.Arbitrary<Options> = fc.record(
    {
      additionalDirectories: fc.array(words, { minLength: 1 }),
      agent: words,
      continue: fc.constant(true),
      debugFile: words,
      forkSession: fc.constant(true),
      includeHookEvents: fc.constant(true),
      maxBudgetUsd: fc.double({ min: 0, minExcluded: true, max: 1e9, noNaN: true }),
      maxThinkingTokens: fc.integer({ min: 1 }),
      outputFormat: fc.record({
        type: fc.constant('json_schema' as const),
        schema: json,
      }),
      permissionPromptToolName: words,
      plugins: fc.array(fc.record({ type: fc.constant('local' as const), path: words }), { minLength: 1 }),
      projectConfigRoot: words,
      resume: words,
      resumeDropsTurn: words,
      resumeSessionAt: words,
      sessionId: words,
      strictMcpConfig: fc.constant(true),
      tools: fc.array(name),
      allowedTools: fc.array(rule, { minLength: 1 }),
      betas: fc.array(name, { minLength: 1 }),
      disallowedTools: fc.array(rule, { minLength: 1 }),
      effort: fc.constantFrom('low' as const, 'max' as const),
      fallbackModel: words,
      includePartialMessages: fc.constant(true),
      managedSettings: json,
      maxTurns: fc.integer({ min: 1 }),
      mcpConfig: words,
      model: words,
      permissionMode: fc.constantFrom(...PERMISSION_MODES),
      permissionPrompts: fc.constantFrom('host' as const, 'none' as const),
      allowDangerouslySkipPermissions: fc.constant(true),
      settings: words,
      settingSources: fc.subarray(['user' as const, 'project' as const, 'local' as const]),
      taskBudget: fc.record({ total: fc.integer({ min: 1 }) }),
    },
    { requiredKeys: [] },
  );

  test('every option that becomes a flag', () => {
    fc.assert(
      fc.property(options, fc.option(words, { nil: undefined }), (given, mcpConfig) => {
        const launched = launchFlags(given, mcpConfig);
        const parsed = parseFlags(launchArgv(launched));
        const { flags, faults } = parsed;
        expect(flags).toEqual(expectedOf(given, mcpConfig));
        expect(faults.filter((fault) => !fault.includes(' is not supported: '))).toEqual([]);
        expect(checkFlags(launched, flagName)).toEqual(parsed);
      }),
    );
  });

  test.each<[Options]>([
    [{ maxBudgetUsd: 1, effort: 'low', outputFormat: { type: 'json_schema', schema: {} } }],
    [{ extraArgs: { nosuch: 'x', 'max-turns': 'many', 'tool-search': 'on', debug: null, settings: '-x' } }],
    [
      {
        extraArgs: { allowedTools: 'Read Grep', model: '' },
        allowedTools: [' A ', 'B'],
      },
    ],
    [{ extraArgs: { 'replay-user-messages': '', tools: '', model: '', 'strict-mcp-config': '' } }],
    [{ thinking: { type: 'enabled', budgetTokens: 1.5 }, plugins: [{ type: 'local', path: 'a' }] }],
    [{ plugins: [{ type: 'local', path: 'a', skipMcpDiscovery: true }], permissionPromptToolName: 'x' }],
  ])('in-process options and the command line produce the same messages for %j', (given) => {
    const launched = launchFlags(given, undefined);
    expect(checkFlags(launched, flagName)).toEqual(parseFlags(launchArgv(launched)));
  });

  test('an empty string in extraArgs is the same as null for a flag without a value', () => {
    const launched = launchFlags(
      { extraArgs: { 'strict-mcp-config': '', tools: '', continue: '' } },
      undefined,
    );
    expect(checkFlags(launched, flagName)).toEqual({
      flags: { strictMcpConfig: true, tools: [], continue: true },
      faults: [],
      notes: [],
      nameOf: flagName,
    });
  });

  test('a value of extraArgs for a flag without a value is ignored', () => {
    const launched = launchFlags({ extraArgs: { 'strict-mcp-config': 'yes', verbose: 'true' } }, undefined);
    const flags = { strictMcpConfig: true };
    expect(checkFlags(launched, flagName)).toMatchObject({ flags, faults: [] });
    expect(parseFlags(launchArgv(launched))).toMatchObject({ flags, faults: [] });
  });

  test.each([
    [{ thinking: { type: 'adaptive' } }, { thinking: 'adaptive' }],
    [{ thinking: { type: 'enabled', budgetTokens: 9 } }, { maxThinkingTokens: 9 }],
    [{ maxThinkingTokens: 0 }, { thinking: 'disabled' }],
    [
      { canUseTool: async () => null, debug: true, tools: [] },
      { permissionPromptTool: 'stdio', tools: [] },
    ],
    [
      { tools: { type: 'preset', preset: 'claude_code' }, persistSession: false },
      { tools: ['default'], noPersistence: true },
    ],
    [{ skills: ['pdf'] }, { allowedTools: ['Skill(pdf)'] }],
    [{ sandbox: { enabled: false } }, { settings: '{"sandbox":{"enabled":false}}' }],
  ] as [Options, AgentFlags][])('%j', (given, flags) => {
    const launched = launchFlags(given, undefined);
    expect(parseFlags(launchArgv(launched))).toEqual({ flags, faults: [], notes: [], nameOf: flagName });
    expect(checkFlags(launched, flagName)).toEqual({ flags, faults: [], notes: [], nameOf: flagName });
  });

  test('messages to a program name its options; what extraArgs gives keeps the name of the flag', () => {
    const given = {
      maxBudgetUsd: -1,
      taskBudget: { total: 1 },
      extraArgs: { 'max-retries': 'x' },
    };
    expect(checkFlags(launchFlags(given, undefined), optionName)).toMatchObject({
      faults: [
        'options.maxBudgetUsd takes a number greater than 0',
        expect.stringMatching(/^--max-retries /),
      ],
      notes: [expect.stringMatching(/^options\.taskBudget has no effect/)],
    });
  });

  test('the option of every flag that an option becomes is known', () => {
    fc.assert(
      fc.property(options, (given) => {
        for (const { name } of launchFlags(given, '{}')) {
          expect(Object.keys(OFFICIAL_OPTIONS)).toContain(optionName(name).replace('options.', ''));
        }
      }),
    );
  });

  function expectedOf(given: Options, mcpConfig: string | undefined): AgentFlags {
    const { additionalDirectories, allowDangerouslySkipPermissions, mcpConfig: file, ...others } = given;
    const { outputFormat, permissionPromptToolName, plugins, taskBudget, ...same } = others;
    const configs = [mcpConfig, file].filter((it) => it !== undefined);
    return {
      ...(same as object),
      ...(additionalDirectories && { addDirs: additionalDirectories }),
      ...(allowDangerouslySkipPermissions && { mayBypass: true }),
      ...(configs.length > 0 && { mcpConfigs: configs }),
      ...(outputFormat && { jsonSchema: outputFormat.schema }),
      ...(permissionPromptToolName && { permissionPromptTool: permissionPromptToolName }),
      ...(plugins && { pluginDirs: plugins.map(({ path }) => path) }),
      ...(taskBudget && { taskBudget: taskBudget.total }),
    };
  }
});
