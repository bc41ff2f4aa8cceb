import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { launchArgv } from '../../../src/protocol/launch-flag.ts';
import { checkOptions } from '../../../src/sdk/options/check-options.ts';
import {
  buildEnvironment,
  type Environment,
  launchFlags,
  OFFICIAL_SDK_VERSION,
  settingsText,
} from '../../../src/sdk/options/launch-flags.ts';
import type { Options } from '../../../src/sdk/options/options.ts';

const argvOf = (options: Options, mcpConfig: string | undefined) =>
  launchArgv(launchFlags(options, mcpConfig));

describe('argv', () => {
  const ALWAYS = ['--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'];

  const ROWS: readonly (readonly [name: string, options: Options, more: string[]])[] = [
    ['nothing', {}, []],
    [
      'additionalDirectories',
      { additionalDirectories: ['/one', './two'] },
      ['--add-dir=/one', '--add-dir=./two'],
    ],
    ['agent', { agent: 'reviewer' }, ['--agent=reviewer']],
    [
      'allowDangerouslySkipPermissions',
      { allowDangerouslySkipPermissions: true },
      ['--allow-dangerously-skip-permissions'],
    ],
    [
      'allowedTools (R25)',
      { allowedTools: ['mcp__calc__add', 'Bash(git log:*)'] },
      ['--allowedTools=mcp__calc__add,Bash(git log:*)'],
    ],
    ['allowedTools, none', { allowedTools: [] }, []],
    ['betas', { betas: ['a', 'b'] }, ['--betas=a,b']],
    ['canUseTool', { canUseTool: async () => null }, ['--permission-prompt-tool=stdio']],
    ['continue', { continue: true }, ['--continue']],
    ['continue off', { continue: false }, []],
    ['debug', { debug: true }, ['--debug']],
    ['debugFile instead of debug', { debug: true, debugFile: '/log' }, ['--debug-file=/log']],
    ['disallowedTools', { disallowedTools: ['WebFetch'] }, ['--disallowedTools=WebFetch']],
    ['effort', { effort: 'high' }, ['--effort=high']],
    [
      'extraArgs',
      { extraArgs: { flag: null, value: 'v', empty: '' } },
      ['--flag', '--value', 'v', '--empty', ''],
    ],
    ['extraArgs like a flag', { extraArgs: { value: '--other' } }, ['--value=--other']],
    ['fallbackModel', { fallbackModel: 'small' }, ['--fallback-model=small']],
    ['forkSession', { forkSession: true }, ['--fork-session']],
    ['includeHookEvents', { includeHookEvents: true }, ['--include-hook-events']],
    ['includePartialMessages', { includePartialMessages: true }, ['--include-partial-messages']],
    ['managedSettings', { managedSettings: { a: 1 } }, ['--managed-settings', '{"a":1}']],
    ['maxBudgetUsd', { maxBudgetUsd: 1.5 }, ['--max-budget-usd=1.5']],
    ['maxBudgetUsd zero', { maxBudgetUsd: 0 }, ['--max-budget-usd=0']],
    ['maxThinkingTokens', { maxThinkingTokens: 2048 }, ['--max-thinking-tokens=2048']],
    ['maxThinkingTokens zero', { maxThinkingTokens: 0 }, ['--thinking=disabled']],
    ['maxTurns (R24)', { maxTurns: 3 }, ['--max-turns=3']],
    ['mcpConfig (R28)', { mcpConfig: './servers.json' }, ['--mcp-config', './servers.json']],
    ['mcpConfig like a flag', { mcpConfig: '--model' }, ['--mcp-config=--model']],
    ['mcpConfig, none', { mcpConfig: '' }, []],
    ['model', { model: 'm' }, ['--model=m']],
    [
      'outputFormat',
      { outputFormat: { type: 'json_schema', schema: { type: 'object' } } },
      ['--json-schema={"type":"object"}'],
    ],
    ['permissionMode', { permissionMode: 'plan' }, ['--permission-mode=plan']],
    [
      'permissionPromptToolName',
      { permissionPromptToolName: 'mcp__auth__ask' },
      ['--permission-prompt-tool=mcp__auth__ask'],
    ],
    ['permissionPrompts', { permissionPrompts: 'none' }, ['--permission-prompts=none']],
    ['persistSession off', { persistSession: false }, ['--no-session-persistence']],
    ['persistSession on', { persistSession: true }, []],
    [
      'plugins',
      {
        plugins: [
          { type: 'local', path: '/p' },
          { type: 'local', path: '/q', skipMcpDiscovery: true },
        ],
      },
      ['--plugin-dir=/p', '--plugin-dir-no-mcp=/q'],
    ],
    [
      'plugins by initialize',
      { plugins: [{ type: 'local', path: '/p' }], pluginDelivery: 'initialize' },
      ['--await-initialize'],
    ],
    ['plugins by initialize, none', { plugins: [], pluginDelivery: 'initialize' }, []],
    ['projectConfigRoot', { projectConfigRoot: '/root' }, ['--project-config-root=/root']],
    ['resume', { resume: '--model=x' }, ['--resume=--model=x']],
    ['resumeDropsTurn', { resumeDropsTurn: 'id' }, ['--resume-drops-turn=id']],
    ['resumeSessionAt', { resumeSessionAt: 'id' }, ['--resume-session-at=id']],
    ['sandbox', { sandbox: { enabled: false } }, ['--settings', '{"sandbox":{"enabled":false}}']],
    ['sessionId', { sessionId: '-v' }, ['--session-id=-v']],
    ['settingSources', { settingSources: ['user', 'project'] }, ['--setting-sources=user,project']],
    ['settingSources, none', { settingSources: [] }, ['--setting-sources=']],
    ['settings path', { settings: './s.json' }, ['--settings', './s.json']],
    ['settings like a flag', { settings: '--verbose' }, ['--settings=--verbose']],
    [
      'settings in the place of the extra argument',
      { settings: { m: 1 }, extraArgs: { settings: 'x', z: 'z' } },
      ['--settings', '{"m":1}', '--z', 'z'],
    ],
    ['skills all', { skills: 'all' }, ['--allowedTools=Skill']],
    [
      'skills',
      { skills: ['pdf', 'docx'], allowedTools: ['Read'] },
      ['--allowedTools=Read,Skill(pdf),Skill(docx)'],
    ],
    ['strictMcpConfig', { strictMcpConfig: true }, ['--strict-mcp-config']],
    ['taskBudget', { taskBudget: { total: 0 } }, ['--task-budget=0']],
    [
      'thinking adaptive',
      { thinking: { type: 'adaptive', display: 'summarized' } },
      ['--thinking=adaptive', '--thinking-display=summarized'],
    ],
    ['thinking enabled', { thinking: { type: 'enabled', budgetTokens: 7 } }, ['--max-thinking-tokens=7']],
    ['thinking enabled, open', { thinking: { type: 'enabled' } }, ['--thinking=adaptive']],
    ['thinking disabled', { thinking: { type: 'disabled' }, maxThinkingTokens: 9 }, ['--thinking=disabled']],
    ['tools', { tools: ['Read', 'Bash'] }, ['--tools=Read,Bash']],
    ['tools, none', { tools: [] }, ['--tools=']],
    ['tools of the preset', { tools: { type: 'preset', preset: 'claude_code' } }, ['--tools=default']],
    [
      'empty texts',
      { model: '', agent: '', resume: '', sessionId: '', fallbackModel: '', debugFile: '' },
      [],
    ],
  ];

  test.each(ROWS)('%s', (_, options, more) => {
    expect(argvOf(options, undefined)).toEqual([...ALWAYS, ...more]);
  });

  test('options of initialize are not on the command line; input is streamed (R66)', () => {
    const options: Options = {
      agents: { a: { description: 'd', prompt: 'p'.repeat(200_000) } },
      systemPrompt: 'be kind',
      title: 't',
      hooks: { Stop: [] },
      env: { A: 'b' },
      cwd: '/somewhere',
      stderr: () => {},
    };
    expect(argvOf(options, undefined)).toEqual(ALWAYS);
  });

  test('the order does not depend on the order of the options', () => {
    const options: Options = {
      extraArgs: { x: 'y' },
      managedSettings: {},
      persistSession: false,
      sessionId: 's',
      resumeDropsTurn: 'r',
      resumeSessionAt: 'q',
      forkSession: true,
      plugins: [{ type: 'local', path: '/p' }],
      additionalDirectories: ['/d'],
      projectConfigRoot: '/c',
      includePartialMessages: true,
      includeHookEvents: true,
      fallbackModel: 'f',
      allowDangerouslySkipPermissions: true,
      permissionMode: 'plan',
      strictMcpConfig: true,
      settingSources: [],
      mcpConfig: '/m.json',
      tools: [],
      disallowedTools: ['B'],
      allowedTools: ['A'],
      resume: 'id',
      continue: true,
      permissionPrompts: 'host',
      permissionPromptToolName: 'ask',
      debug: true,
      outputFormat: { type: 'json_schema', schema: {} },
      betas: ['b'],
      agent: 'a',
      model: 'm',
      taskBudget: { total: 1 },
      maxBudgetUsd: 2,
      maxTurns: 3,
      effort: 'low',
      thinking: { type: 'adaptive' },
    };
    expect(argvOf(options, '{"mcpServers":{}}')).toEqual([
      ...ALWAYS,
      '--thinking=adaptive',
      '--effort=low',
      '--max-turns=3',
      '--max-budget-usd=2',
      '--task-budget=1',
      '--model=m',
      '--agent=a',
      '--betas=b',
      '--json-schema={}',
      '--debug',
      '--permission-prompt-tool=ask',
      '--permission-prompts=host',
      '--continue',
      '--resume=id',
      '--allowedTools=A',
      '--disallowedTools=B',
      '--tools=',
      ...['--mcp-config', '{"mcpServers":{}}'],
      ...['--mcp-config', '/m.json'],
      '--setting-sources=',
      '--strict-mcp-config',
      '--permission-mode=plan',
      '--allow-dangerously-skip-permissions',
      '--fallback-model=f',
      '--include-hook-events',
      '--include-partial-messages',
      '--project-config-root=/c',
      '--add-dir=/d',
      '--plugin-dir=/p',
      '--fork-session',
      '--resume-session-at=q',
      '--resume-drops-turn=r',
      '--session-id=s',
      '--no-session-persistence',
      ...['--managed-settings', '{}'],
      ...['--x', 'y'],
    ]);
  });

  test('servers and the deprecated path are both passed, neither is dropped (R14, C6)', () => {
    expect(argvOf({ mcpConfig: '/m.json' }, '{"mcpServers":{"a":{"command":"x"}}}').slice(5)).toEqual([
      ...['--mcp-config', '{"mcpServers":{"a":{"command":"x"}}}'],
      ...['--mcp-config', '/m.json'],
    ]);
  });

  /** Options with text of the user, and arbitrary texts for them. */
  const anyText = fc.oneof(
    fc.string(),
    fc.string().map((text) => `--${text}`),
    fc.string().map((text) => `-${text}`),
  );
  const texts = fc.array(anyText, { maxLength: 3 });
  const anyTexts = fc.record(
    {
      additionalDirectories: texts,
      agent: anyText,
      allowedTools: texts,
      betas: texts,
      debugFile: anyText,
      disallowedTools: texts,
      extraArgs: fc.dictionary(fc.constantFrom('one', 'two', 'settings'), anyText),
      fallbackModel: anyText,
      mcpConfig: anyText,
      model: anyText,
      outputFormat: fc.record({
        type: fc.constant('json_schema' as const),
        schema: fc.dictionary(anyText, anyText),
      }),
      managedSettings: fc.dictionary(anyText, anyText),
      permissionPromptToolName: anyText,
      plugins: fc.array(fc.record({ type: fc.constant('local' as const), path: anyText }), { maxLength: 2 }),
      projectConfigRoot: anyText,
      resume: anyText,
      resumeDropsTurn: anyText,
      resumeSessionAt: anyText,
      sessionId: anyText,
      settings: anyText,
      skills: texts,
      tools: texts,
    },
    { requiredKeys: [] },
  );

  /** Flags without a value, or with one in the next place; all others are `--flag=value`. */
  const BARE = new Set([...ALWAYS, '--mcp-config', '--managed-settings', '--settings', '--one', '--two']);

  test('no value can become a flag', () => {
    fc.assert(
      fc.property(anyTexts, (options) => {
        const stray = argvOf(options as Options, undefined).filter(
          (entry) => entry.startsWith('-') && !BARE.has(entry) && !/^--[a-zA-Z][a-zA-Z-]*=/.test(entry),
        );
        expect(stray).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test.each(['--model', 'a=b', 'a b', '', '-x'])(
    'an extra argument named %j is rejected, so that a name cannot contain a value',
    (name) => {
      expect(() => checkOptions({ extraArgs: { [name]: null } })).toThrow('options.extraArgs must be');
    },
  );
});

describe('settings', () => {
  test.each<[string, Options, string | undefined]>([
    ['nothing', {}, undefined],
    ['an empty text', { settings: '' }, undefined],
    ['a path, as it is', { settings: './s.json' }, './s.json'],
    ['JSON text, as it is', { settings: '{ "a": 1 }' }, '{ "a": 1 }'],
    ['an object', { settings: { a: 1, gone: undefined } }, '{"a":1}'],
    ['an extra argument', { extraArgs: { settings: 'x' } }, 'x'],
    ['the option before the extra argument', { settings: { a: 1 }, extraArgs: { settings: 'x' } }, '{"a":1}'],
  ])('%s', (_, options, text) => {
    expect(settingsText(options)).toBe(text);
  });

  /** The sandbox of the settings, that of the option, and the merged one. */
  const MERGES: readonly (readonly [name: string, settings: object, option: object, merged: object])[] = [
    ['alone', {}, { enabled: false }, { enabled: false }],
    ['on: it must be there', {}, { enabled: true }, { enabled: true, failIfUnavailable: true }],
    [
      'on, and may be missing',
      {},
      { enabled: true, failIfUnavailable: false },
      { enabled: true, failIfUnavailable: false },
    ],
    [
      'on, and may be missing by the settings',
      { failIfUnavailable: false },
      { enabled: true },
      { failIfUnavailable: false, enabled: true },
    ],
    ['on by the settings only', { enabled: true }, { enabled: undefined }, { enabled: true }],
    [
      'members of the option replace',
      { enabled: true, a: 1 },
      { enabled: false, b: 2 },
      { enabled: false, a: 1, b: 2 },
    ],
    [
      'nested ones too',
      { network: { allowedDomains: ['a'], x: 1 } },
      { network: { x: 2 } },
      { network: { allowedDomains: ['a'], x: 2 } },
    ],
    [
      'an allow list replaces',
      { network: { allowedDomains: ['a'] } },
      { network: { allowedDomains: ['b'] } },
      { network: { allowedDomains: ['b'] } },
    ],
    [
      'deny lists are united',
      {
        network: { deniedDomains: ['a', 'b'] },
        filesystem: { denyRead: ['/a'], denyWrite: ['/w'], allowWrite: ['/x'] },
      },
      {
        network: { deniedDomains: ['b', 'c'] },
        filesystem: { denyRead: ['/b'], denyWrite: ['/w'], allowWrite: ['/y'] },
      },
      {
        network: { deniedDomains: ['a', 'b', 'c'] },
        filesystem: { denyRead: ['/a', '/b'], denyWrite: ['/w'], allowWrite: ['/y'] },
      },
    ],
    [
      'credentials of both sides',
      { credentials: { files: [{ path: '/a', mode: 'mask' }] } },
      { credentials: { files: [{ path: '/a', mode: 'deny' }] } },
      {
        credentials: {
          files: [
            { path: '/a', mode: 'mask' },
            { path: '/a', mode: 'deny' },
          ],
        },
      },
    ],
    [
      'ripgrep as a whole',
      { ripgrep: { command: 'a', args: [] } },
      { ripgrep: { command: 'b' } },
      { ripgrep: { command: 'b' } },
    ],
    [
      'a switch that turns the file rules off does not survive',
      { filesystem: { disabled: true, x: 1 } },
      { filesystem: { denyRead: ['/a'] } },
      { filesystem: { x: 1, denyRead: ['/a'] } },
    ],
    [
      'nor where files are denied as credentials',
      { filesystem: { disabled: true } },
      { credentials: { files: [{ path: '/a', mode: 'deny' }] } },
      { filesystem: {}, credentials: { files: [{ path: '/a', mode: 'deny' }] } },
    ],
    [
      'a proxy does not survive an allow list',
      { network: { httpProxyPort: 1, socksProxyPort: 2 } },
      { network: { allowedDomains: ['a'] } },
      { network: { allowedDomains: ['a'] } },
    ],
    [
      'unless the option sets it',
      { network: { httpProxyPort: 1 } },
      { network: { httpProxyPort: 3, allowedDomains: ['a'] } },
      { network: { httpProxyPort: 3, allowedDomains: ['a'] } },
    ],
    [
      'a proxy stays where nothing is restricted',
      { network: { httpProxyPort: 1 } },
      { enabled: false },
      { network: { httpProxyPort: 1 }, enabled: false },
    ],
    [
      'undefined members change nothing',
      { enabled: true, network: { x: 1 } },
      { enabled: undefined, network: undefined },
      { enabled: true, network: { x: 1 } },
    ],
  ];

  test.each(MERGES)('the sandbox, %s', (_, settings, option, merged) => {
    const base = Object.keys(settings).length > 0 ? { model: 'm', sandbox: { ...settings } } : { model: 'm' };
    const expected = { model: 'm', sandbox: merged };
    const sandbox = option as Record<string, unknown>;
    const read = (text: string | undefined) => JSON.parse(text ?? '') as unknown;
    expect(read(settingsText({ settings: base, sandbox }))).toEqual(expected);
    expect(read(settingsText({ settings: JSON.stringify(base), sandbox }))).toEqual(expected);
    expect(read(settingsText({ extraArgs: { settings: JSON.stringify(base) }, sandbox }))).toEqual(expected);
  });

  test('merging does not change the given settings', () => {
    const settings = { sandbox: { network: { deniedDomains: ['a'] } } };
    settingsText({ settings, sandbox: { enabled: true, network: { deniedDomains: ['b'] } } });
    expect(settings).toEqual({ sandbox: { network: { deniedDomains: ['a'] } } });
  });
});

describe('environment', () => {
  const OWN = {
    CLAUDE_AGENT_SDK_VERSION: OFFICIAL_SDK_VERSION,
    CLAUDE_CODE_ENTRYPOINT: 'sdk-ts',
    CLAUDE_CODE_SDK_READS_SESSION_STATE: '1',
  };

  const ROWS: readonly (readonly [
    name: string,
    options: Options,
    inherited: Environment,
    env: Environment,
  ])[] = [
    ['nothing', {}, {}, OWN],
    ['what is inherited', {}, { A: '1', B: undefined }, { ...OWN, A: '1' }],
    [
      'the option instead of what is inherited (C32)',
      { env: { B: '2', C: undefined } },
      { A: '1' },
      { ...OWN, B: '2' },
    ],
    [
      'an entry point that is set already',
      {},
      { CLAUDE_CODE_ENTRYPOINT: 'cli' },
      { ...OWN, CLAUDE_CODE_ENTRYPOINT: 'cli' },
    ],
    ['an inherited version is replaced', {}, { CLAUDE_AGENT_SDK_VERSION: 'x' }, OWN],
    [
      'a version in the option is kept',
      { env: { CLAUDE_AGENT_SDK_VERSION: 'x' } },
      {},
      { ...OWN, CLAUDE_AGENT_SDK_VERSION: 'x' },
    ],
    ['what would disturb a node process is taken out', {}, { NODE_OPTIONS: '--inspect', DEBUG: '*' }, OWN],
    [
      'debugging of the agent',
      { env: { DEBUG_CLAUDE_AGENT_SDK: '1' } },
      {},
      { ...OWN, DEBUG_CLAUDE_AGENT_SDK: '1', DEBUG: '1' },
    ],
    ['limits of the agent pass', {}, { MAX_MCP_OUTPUT_TOKENS: '5' }, { ...OWN, MAX_MCP_OUTPUT_TOKENS: '5' }],
    [
      'checkpoints',
      { enableFileCheckpointing: true },
      {},
      { ...OWN, CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: 'true' },
    ],
    ['no checkpoints', { enableFileCheckpointing: false }, {}, OWN],
    [
      'the preview format',
      { toolConfig: { askUserQuestion: { previewFormat: 'html' } } },
      {},
      { ...OWN, CLAUDE_CODE_QUESTION_PREVIEW_FORMAT: 'html' },
    ],
    ['no preview format', { toolConfig: {} }, {}, OWN],
  ];

  test.each(ROWS)('%s', (_, options, inherited, env) => {
    expect(buildEnvironment(options, inherited)).toEqual(env);
  });

  test('does not change the given environments', () => {
    const option = { DEBUG: 'x' };
    const inherited = { NODE_OPTIONS: 'y' };
    buildEnvironment({ env: option }, {});
    buildEnvironment({}, inherited);
    expect([option, inherited]).toEqual([{ DEBUG: 'x' }, { NODE_OPTIONS: 'y' }]);
  });
});
