import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addAgentFlags, agentOptions } from '../../src/cli/agent-flags.ts';
import { checkOptions } from '../../src/sdk/options/check-options.ts';

/** The options of the SDK that a command line stands for. */
function optionsOf(...args: string[]) {
  const command = addAgentFlags(new Command('x'))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  command.parse(args, { from: 'user' });
  return agentOptions(command);
}
const OWN_PROMPT = {
  systemPrompt: { type: 'preset', preset: 'claude_code' },
  extraArgs: { 'tool-marks': null, 'tell-decisions': null },
};

test('without flags the agent’s own system prompt is all there is', () => {
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
])('%j is not understood', (args) => {
  expect(() => optionsOf(...args)).toThrow(/invalid/);
});

test('a word that --setting-sources does not take is told with the one that may be meant', () => {
  expect(() => optionsOf('--setting-sources', 'project,usr')).toThrow(/did you mean user\?/);
});

test('servers of several configurations are merged, the later ones win', () => {
  const config = (servers: object) => JSON.stringify({ mcpServers: servers });
  const one = { command: 'one' };
  const two = { type: 'http', url: 'http://127.0.0.1/' };
  expect(optionsOf('--mcp-config', config({ a: one, b: one }), '--mcp-config', config({ b: two }))).toEqual({
    ...OWN_PROMPT,
    mcpServers: { a: one, b: two },
  });
});

test('the help says what mode auto is here', () => {
  const help = addAgentFlags(new Command('x')).configureHelp({ helpWidth: 500 }).helpInformation();
  expect(help).toMatch(/--permission-mode <mode> .*auto is the same as default with our own agent/);
});
