import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import {
  addAgentFlags,
  agentOptions,
  parseAgents,
  parseMcpConfigs,
} from '../../../src/cli/flags/agent-flags.ts';
import { checkOptions } from '../../../src/sdk/options/check-options.ts';
import { jsonFile } from '../support/json-file.ts';

describe('agent flags', () => {
  /** The SDK options of a command line. */
  function optionsOf(...args: string[]) {
    const command = addAgentFlags(new Command('x'))
      .exitOverride()
      .configureOutput({ writeErr: () => {} });
    command.parse(args, { from: 'user' });
    return agentOptions(command);
  }
  const OWN_PROMPT = {
    systemPrompt: { type: 'preset', preset: 'claude_code' },
    extraArgs: { 'tool-marks': null, 'report-decisions': null, 'server-log-level': 'warning' },
  };

  test('without flags, uses the system prompt of the agent', () => {
    expect(optionsOf()).toEqual(OWN_PROMPT);
  });

  test.each<[string[], object]>([
    [['--model', 'opus'], { model: 'opus' }],
    [['-m', 'opus', '--fallback-model=haiku'], { model: 'opus', fallbackModel: 'haiku' }],
    [['--permission-mode', 'plan'], { permissionMode: 'plan' }],
    [['--allow-dangerously-skip-permissions'], { allowDangerouslySkipPermissions: true }],
    [
      ['--allowedTools', 'mcp__docs, Bash(git log:*,git diff)', '--allowed-tools', 'Read'],
      { allowedTools: ['mcp__docs', 'Bash(git log:*,git diff)', 'Read'] },
    ],
    [['--disallowedTools', 'Write'], { disallowedTools: ['Write'] }],
    [['--tools', 'Read,Grep'], { tools: ['Read', 'Grep'] }],
    [['-c'], { continue: true }],
    [['--resume', 'id', '--fork-session'], { resume: 'id', forkSession: true }],
    [['--no-session-persistence'], { persistSession: false }],
    [
      ['--agents', '{"scout":{"description":"Looks","prompt":"Look."}}'],
      { agents: { scout: { description: 'Looks', prompt: 'Look.' } } },
    ],
    [['--tool-search', 'auto:5'], { extraArgs: { ...OWN_PROMPT.extraArgs, 'tool-search': 'auto:5' } }],
    [
      ['--server-log-level', 'debug'],
      { extraArgs: { ...OWN_PROMPT.extraArgs, 'server-log-level': 'debug' } },
    ],
    [['--channels', 'server:a', '--channels=server:b'], { channels: ['server:a', 'server:b'] }],
    [['--lead-only'], { extraArgs: { ...OWN_PROMPT.extraArgs, 'lead-only': null } }],
    [
      ['--lead-only', '--agent-executable', 'other'],
      { pathToClaudeCodeExecutable: 'other', extraArgs: { 'lead-only': null } },
    ],
    [['--add-dir', 'a', '--add-dir', 'b'], { additionalDirectories: ['a', 'b'] }],
    [['--max-turns', '3', '--max-thinking-tokens', '1024'], { maxTurns: 3, maxThinkingTokens: 1024 }],
    [
      ['--settings', '{}', '--strict-mcp-config', '--debug'],
      { settings: '{}', strictMcpConfig: true, debug: true },
    ],
    [['--setting-sources', 'user, local'], { settingSources: ['user', 'local'] }],
    [['--setting-sources='], { settingSources: [] }],
    [
      ['--plugin-dir', 'a', '--plugin-dir', 'b'],
      {
        plugins: [
          { type: 'local', path: 'a' },
          { type: 'local', path: 'b' },
        ],
      },
    ],
    [['--agent-executable', 'claude'], { pathToClaudeCodeExecutable: 'claude', extraArgs: undefined }],
    [
      ['--append-system-prompt', 'Be brief.'],
      { systemPrompt: { type: 'preset', preset: 'claude_code', append: 'Be brief.' } },
    ],
    [['--system-prompt', 'You are x.'], { systemPrompt: 'You are x.' }],
    [
      ['--system-prompt', 'You are x.', '--append-system-prompt', 'Be brief.'],
      { systemPrompt: ['You are x.', 'Be brief.'] },
    ],
  ])('%j is %j, which the SDK accepts', (args, options) => {
    const given = optionsOf(...args);
    expect(given).toEqual({ ...OWN_PROMPT, ...options });
    expect(() => checkOptions(given)).not.toThrow();
  });

  test.each([
    [['--max-turns', '0']],
    [['--max-turns', '1.5']],
    [['--permission-mode', 'yolo']],
    [['--tool-search', 'bogus']],
    [['--setting-sources', 'usr,project']],
  ])('%j is refused', (args) => {
    expect(() => optionsOf(...args)).toThrow(/invalid/);
  });

  test('--setting-sources refuses an unknown scope with a suggestion', () => {
    expect(() => optionsOf('--setting-sources', 'project,usr')).toThrow(/did you mean user\?/);
  });

  test('merges several configurations; the later server wins', () => {
    const config = (servers: object) => JSON.stringify({ mcpServers: servers });
    const one = { command: 'one' };
    const two = { type: 'http', url: 'http://127.0.0.1/' };
    expect(optionsOf('--mcp-config', config({ a: one, b: one }), '--mcp-config', config({ b: two }))).toEqual(
      {
        ...OWN_PROMPT,
        mcpServers: { a: one, b: two },
      },
    );
  });

  test('the help explains mode auto', () => {
    const help = addAgentFlags(new Command('x')).configureHelp({ helpWidth: 500 }).helpInformation();
    expect(help).toMatch(/--permission-mode <mode> .*with the built-in agent, auto is the same as default/);
  });
});

describe('read agents', () => {
  const SCOUT = { scout: { description: 'Looks', prompt: 'Look.', tools: ['Read'] } };

  test('reads agents from a file or JSON text', () => {
    expect(parseAgents(JSON.stringify(SCOUT))).toEqual(SCOUT);
    expect(parseAgents(jsonFile(JSON.stringify(SCOUT)))).toEqual(SCOUT);
  });

  test.each([
    ['a file that is not there', () => 'no-such.json', /^cannot read --agents no-such\.json: ENOENT/],
    ['a text that is no JSON', () => '{"a', /^--agents is not valid JSON: line 1, column 2/],
    ['a list', () => jsonFile('[]'), /flag\.json: must be an object that maps names to agents$/],
    ['no agent', () => '{"a":"x"}', /^--agents: agent "a": "description" must be a string$/],
    ['no prompt', () => '{"a":{"description":"x"}}', /^--agents: agent "a": "prompt" must be a string$/],
  ])('%s is an error that names it', (_, given, message) => {
    expect(() => parseAgents(given())).toThrow(message);
  });
});

describe('read mcp config', () => {
  /** The parsed servers and the reported lines. */
  function read(...given: string[]) {
    const told: string[] = [];
    return { servers: parseMcpConfigs(given, (line) => told.push(line)), told };
  }

  test('reads servers from a file or JSON text', () => {
    const text = '{"mcpServers":{"a":{"command":"x"}}}';
    const one = { servers: { a: { command: 'x' } }, told: [] };
    expect(read(jsonFile(`\ufeff${text}`))).toEqual(one);
    expect(read(`  ${text}`)).toEqual(one);
    expect(read()).toEqual({ servers: {}, told: [] });
  });

  test('accepts comments, and variables in a URL', () => {
    const path = jsonFile('{\n  // ours\n  "mcpServers": { "a": { "url": "${BASE}/mcp" }, },\n}');
    expect(read(path)).toEqual({ servers: { a: { url: '${BASE}/mcp' } }, told: [] });
  });

  test('reports an invalid entry with its position and keeps the others', () => {
    const path = jsonFile(
      '{"mcpServers": {\n  "a": {"type": "foo"},\n  "b": {"type": "sdk", "name": "b"},\n  "c": {"command": "x"},\n  "--all": {"command": "y"}\n}}',
    );
    expect(read(path)).toEqual({
      servers: { c: { command: 'x' } },
      told: [
        expect.stringMatching(/^--mcp-config .*flag\.json:2:9: mcpServers\.a\.type: unknown type "foo"/),
        expect.stringMatching(
          /flag\.json:3:9: mcpServers\.b\.type: an in-process server cannot be defined in a file/,
        ),
        expect.stringMatching(/flag\.json:5:3: mcpServers\.--all: .*must not begin with "-"/),
      ],
    });
  });

  test.each([
    ['a file that is not there', () => 'no-such.json', /^--mcp-config no-such\.json: no such file/],
    ['a file that is no JSON', () => jsonFile('{'), /^--mcp-config .*flag\.json:1:2: /],
    ['a text that is no JSON', () => '{"a', /^--mcp-config:1:\d+: /],
    ['a file without servers', () => jsonFile('{"servers":{}}'), /flag\.json:1:2: servers: .*"mcpServers"/],
    ['a list of servers', () => '{"mcpServers":[]}', /^--mcp-config:1:2: mcpServers: must be an object/],
  ])('%s is an error and defines no server', (_, given, message) => {
    expect(() => read(given())).toThrow(message);
  });

  test('the later of two servers with one name wins', () => {
    const { servers } = read(
      '{"mcpServers":{"a":{"command":"y"}}}',
      '{"mcpServers":{"a":{"command":"z"},"constructor":{"command":"x"}}}',
    );
    expect(servers).toEqual({ a: { command: 'z' }, constructor: { command: 'x' } });
  });

  test('errors of a file do not quote its content', () => {
    const path = jsonFile('{"mcpServers": {"a": {\n  "env": {"KEY": sk-secret}}}}');
    expect(() => read(path)).toThrow(/flag\.json:2:18: /);
    expect(() => read(path)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('secret') }),
    );
  });
});
