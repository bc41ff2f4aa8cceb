import { describe, expect, test } from 'vitest';
import { HOOK_EVENTS } from '../../../src/protocol/hook.ts';
import { SdkError } from '../../../src/protocol/sdk-error.ts';
import { checkOptions, optionWarnings } from '../../../src/sdk/options/check-options.ts';
import { OPTION_TABLE } from '../../../src/sdk/options/option-table.ts';
import type { Options } from '../../../src/sdk/options/options.ts';

describe('check options', () => {
  /** The error with which these options are refused. */
  function refusal(options: unknown): { code: string; message: string } {
    try {
      checkOptions(options as Options);
    } catch (error) {
      if (error instanceof SdkError) return { code: error.code, message: error.message };
      throw error;
    }
    throw new Error('nothing was refused');
  }

  const supported = Object.entries(OPTION_TABLE).filter(([, row]) => row.goes !== 'refused');
  const refused = Object.entries(OPTION_TABLE).filter(([, row]) => row.goes === 'refused');

  test.each(supported.map(([name]) => name))('an invalid %s is one error that names it', (name) => {
    // No option takes a symbol.
    const { code, message } = refusal({ [name]: Symbol('bad') });
    expect(code).toBe('bad-option');
    expect(message).toBe(`options.${name} must be ${OPTION_TABLE[name]?.check.what}; it is Symbol(bad)`);
  });

  test.each(refused)('%s is rejected by name with an alternative', (name, row) => {
    expect(refusal({ [name]: {} })).toEqual({
      code: 'unsupported-option',
      message: `options.${name} is not supported: ${row.does}`,
    });
  });

  test.each<[unknown, string]>([
    [{ maxTurns: 0, strictOptions: true }, 'options.maxTurns must be a whole number, 1 or more; it is 0'],
    [{ maxTurns: '3', strictOptions: true }, 'options.maxTurns must be a whole number, 1 or more; it is "3"'],
    [{ maxTurns: {} }, 'options.maxTurns must be a whole number, 1 or more; it is an object {  }'],
    [{ maxBudgetUsd: 5n, strictOptions: true }, 'options.maxBudgetUsd must be a number, 0 or more; it is 5'],
    [{ model: () => {} }, 'options.model must be a string; it is a function'],
    [{ mcpConfig: { a: {} } }, 'options.mcpConfig must be a string; it is an object { a: object }'], // R15
    [{ model: null, strictOptions: true }, 'options.model must be a string; it is null'],
    [{ strictOptions: 'yes' }, 'options.strictOptions must be true or false; it is "yes"'],
    [{ stderr: 'x'.repeat(100) }, `options.stderr must be a function; it is "${'x'.repeat(60)}…"`],
    [
      { plugins: [{ type: 'remote', path: '/x' }] },
      'options.plugins must be a list of { type: "local", path }; it is a list of object',
    ],
    [
      { taskBudget: {}, strictOptions: true },
      'options.taskBudget must be { total: number }; it is an object {  }',
    ],
    [
      { env: { ANTHROPIC_API_KEY: 'sk-ant-supersecretvalue', PORTS: {} } },
      'options.env must be an object whose values are strings or undefined; it is an object { ANTHROPIC_API_KEY: string, PORTS: object }',
    ],
  ])('%o: the message names the accepted and the given value', (options, message) => {
    expect(refusal(options)).toEqual({ code: 'bad-option', message });
  });

  test.each([
    ['mcpServer', 'options.mcpServer is not an option; did you mean "mcpServers"?'],
    ['systemprompt', 'options.systemprompt is not an option; did you mean "systemPrompt"?'],
    ['somethingElseEntirely', 'options.somethingElseEntirely is not an option'],
    ['toString', 'options.toString is not an option'],
  ])('with strictOptions, an unknown option %s is rejected with the closest one', (name, message) => {
    expect(refusal({ [name]: 1, strictOptions: true })).toEqual({ code: 'bad-option', message });
  });

  test('an invalid value beside an unknown option is an error', () => {
    expect(refusal({ noSuchOption: 1, maxTurns: {} }).message).toMatch(/^options\.maxTurns must be/);
  });

  test.each<[string, unknown]>([
    ['a guard that is not a function', { canUseTool: 'x' }],
    ['hooks that are not functions', { hooks: { PreToolUse: [{ hooks: ['x'] }] } }],
    ['rules that could add other rules', { allowedTools: ['Read,Bash'] }],
    ['a deny rule that cannot be read', { disallowedTools: ['Bash(rm'] }],
    ['tools as text, which would select all tools', { tools: 'Read' }],
    ['a sandbox that is not an object', { sandbox: true }],
    ['managed settings that are not an object', { managedSettings: 'x' }],
    ['a switch for permissions that is not a boolean', { allowDangerouslySkipPermissions: 'no' }],
    ['directories as text', { additionalDirectories: '/tmp' }],
  ])('%s: rejected, although the official package accepts it', (_, options) => {
    expect(refusal(options).code).toBe('bad-option');
  });

  test.each<[string, Options, string]>([
    [
      'the same model twice',
      { model: 'm', fallbackModel: 'm' },
      'options.fallbackModel must differ from options.model',
    ],
    [
      'two ways to ask',
      { canUseTool: async () => null, permissionPromptToolName: 'x' },
      'options.canUseTool and options.permissionPromptToolName cannot be combined: use one of them',
    ],
    [
      'dialogs without a handler',
      { supportedDialogKinds: ['k'] },
      'options.supportedDialogKinds needs options.onUserDialog, which answers the dialogs',
    ],
  ])('%s cannot be combined', (_, options, message) => {
    expect(refusal(options)).toEqual({ code: 'bad-option', message });
  });

  test.each<Options>([
    { settings: './file.json' },
    { settings: '{ not json' },
    { settings: '[]' },
    { extraArgs: { settings: './file.json' } },
  ])('a sandbox cannot be merged into %o', (options) => {
    expect(refusal({ ...options, sandbox: { enabled: true } })).toEqual({
      code: 'bad-option',
      message:
        'options.sandbox can be merged into options.settings only if options.settings is an object or JSON text: add the sandbox to the settings file instead',
    });
  });

  test.each<[unknown, string]>([
    [{ Stop: {} }, 'options.hooks.Stop must be a list'],
    [{ Stop: [{ hooks: [] }, {}] }, 'options.hooks.Stop[1].hooks must be a list of functions'],
    [{ Stop: [null] }, 'options.hooks.Stop[0].hooks must be a list of functions'],
    [{ Stop: [{ hooks: ['x'] }] }, 'options.hooks.Stop[0].hooks must be a list of functions'],
  ])('invalid hooks %o are rejected with their position', (hooks, message) => {
    expect(refusal({ hooks })).toEqual({ code: 'bad-option', message });
  });

  test.each<[object, string]>([
    [{ PreToolUs: [] }, 'options.hooks.PreToolUs is not a hook event; did you mean "PreToolUse"?'],
    [{ Whatever: [] }, 'options.hooks.Whatever is not a hook event'],
  ])('with strictOptions, hooks %o of an unknown event are rejected', (hooks, message) => {
    expect(refusal({ hooks, strictOptions: true })).toEqual({ code: 'bad-option', message });
    expect(() => checkOptions({ hooks } as Options)).not.toThrow();
  });

  test('every event can have hooks', () => {
    const hooks = Object.fromEntries(HOOK_EVENTS.map((event) => [event, [{ hooks: [async () => ({})] }]]));
    expect(() => checkOptions({ hooks })).not.toThrow();
  });

  test('undefined is the same as not given', () => {
    const options = Object.fromEntries(Object.keys(OPTION_TABLE).map((name) => [name, undefined]));
    expect(() => checkOptions(options)).not.toThrow();
  });

  test('null is the same as not given', () => {
    const absent = Object.fromEntries(Object.keys(OPTION_TABLE).map((name) => [name, null]));
    expect(checkOptions(absent)).toEqual({});
    expect(checkOptions({ ...absent, model: 'm' })).toEqual({ model: 'm' });
  });

  test.each(refused)('with strictOptions, a null %s is rejected', (name) => {
    expect(refusal({ [name]: null, strictOptions: true }).code).toBe('unsupported-option');
  });

  test.each<Options>([
    { settings: '', sandbox: { enabled: true } },
    { settings: '{"a":1}', sandbox: { enabled: true }, extraArgs: { settings: './file.json' } },
    { fallbackModel: '', model: '' },
    { supportedDialogKinds: [] },
  ])('%o is accepted', (options) => {
    expect(() => checkOptions(options)).not.toThrow();
  });
});

describe('warnings', () => {
  const canUseTool = async () => null;
  const shadowed = (message: string) => ({ code: 'TOOLPLANE_CAN_USE_TOOL_SHADOWED', message });
  const by = (tools: string) =>
    shadowed(
      `options.canUseTool will not be called for ${tools}: allowedTools allows every call of these tools. Remove them from allowedTools, or use a PreToolUse hook`,
    );
  const bypassed = shadowed(
    "options.canUseTool will not be called: permissionMode 'bypassPermissions' allows every call. Use a PreToolUse hook to see every call",
  );

  test.each<[string, Options, object[]]>([
    ['nothing', {}, []],
    ['a callback alone', { canUseTool }, []],
    ['allowed tools alone', { allowedTools: ['Read'] }, []],
    ['a whole tool', { canUseTool, allowedTools: ['Read'] }, [by('Read')]],
    [
      'whole in every spelling, each told once, in order',
      { canUseTool, allowedTools: ['B()', 'A(*)', 'B()', 'mcp__c'] },
      [by('B(), A(*), mcp__c')],
    ],
    ['parts of a tool', { canUseTool, allowedTools: ['Bash(git log:*)'] }, []],
    ['bypass', { canUseTool, permissionMode: 'bypassPermissions' }, [bypassed]],
    [
      'bypass says it all',
      { canUseTool, permissionMode: 'bypassPermissions', allowedTools: ['Read'] },
      [bypassed],
    ],
    [
      'unknown options',
      { mcpServer: 1, toString: 1, absent: undefined } as Options,
      [
        {
          code: 'TOOLPLANE_UNKNOWN_OPTION',
          message: 'options.mcpServer is not an option and is ignored; did you mean "mcpServers"?',
        },
        { code: 'TOOLPLANE_UNKNOWN_OPTION', message: 'options.toString is not an option and is ignored' },
      ],
    ],
    [
      'unknown hook events',
      { hooks: { PreToolUs: [] } } as Options,
      [
        {
          code: 'TOOLPLANE_UNKNOWN_HOOK_EVENT',
          message:
            'options.hooks.PreToolUs is not a hook event, so its hooks will not run; did you mean "PreToolUse"?',
        },
      ],
    ],
    ['another mode', { canUseTool, permissionMode: 'plan' }, []],
    [
      'the deprecated path (R13)',
      { mcpConfig: '/x' },
      [
        {
          code: 'TOOLPLANE_MCP_CONFIG_DEPRECATED',
          message:
            'options.mcpConfig is deprecated: use options.mcpServers, which also accepts in-process servers',
        },
      ],
    ],
  ])('%s', (_, options, warnings) => {
    expect(optionWarnings(options)).toEqual(warnings);
  });
});
