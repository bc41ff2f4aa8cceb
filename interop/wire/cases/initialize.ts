import type { Options, Sdk, WireCase } from '../case.ts';
import { calc, withCalc } from '../servers.ts';

const go = async () => ({ continue: true });
const reviewer = { description: 'Reviews', prompt: 'You review.' };

/** One row per option that travels in the `initialize` request. */
const ROWS: Readonly<Record<string, Options | ((sdk: Sdk) => Options)>> = {
  'systemPrompt text': { systemPrompt: 'Be brief.' },
  'systemPrompt empty text': { systemPrompt: '' },
  'systemPrompt blocks': { systemPrompt: ['one', '__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__', 'two'] },
  'systemPrompt no blocks': { systemPrompt: [] },
  'systemPrompt custom': { systemPrompt: { type: 'custom', prompt: 'Be brief.' } },
  'systemPrompt custom snapshot': { systemPrompt: { type: 'custom', prompt: ['a', 'b'], snapshot: false } },
  'systemPrompt custom snapshot true': { systemPrompt: { type: 'custom', prompt: 'a', snapshot: true } },
  'systemPrompt preset': { systemPrompt: { type: 'preset', preset: 'claude_code' } },
  'systemPrompt preset append': { systemPrompt: { type: 'preset', preset: 'claude_code', append: 'More.' } },
  'systemPrompt preset everything': {
    systemPrompt: {
      type: 'preset',
      preset: 'claude_code',
      append: 'More.',
      excludeDynamicSections: true,
      snapshot: true,
    },
  },
  'systemPrompt preset exclude': {
    systemPrompt: { type: 'preset', preset: 'claude_code', excludeDynamicSections: true },
  },
  'systemPrompt preset exclude false': {
    systemPrompt: { type: 'preset', preset: 'claude_code', excludeDynamicSections: false, snapshot: false },
  },
  agents: { agents: { reviewer } },
  'agents full': {
    agents: {
      full: {
        ...reviewer,
        tools: ['Read'],
        disallowedTools: ['Bash'],
        model: 'haiku',
        mcpServers: ['calc', { st: { command: 'node' } }],
        skills: ['pdf'],
        maxTurns: 2,
        background: true,
        memory: 'user',
        effort: 'low',
        permissionMode: 'plan',
      },
    },
  },
  'agents empty': { agents: {} },
  'agent and agents': { agent: 'reviewer', agents: { reviewer } },
  title: { title: 'My session' },
  'title empty': { title: '' },
  toolAliases: { toolAliases: { Bash: 'mcp__workspace__bash' } },
  'toolAliases empty': { toolAliases: {} },
  planModeInstructions: { planModeInstructions: 'Plan well.' },
  'promptSuggestions true': { promptSuggestions: true },
  'promptSuggestions false': { promptSuggestions: false },
  'agentProgressSummaries true': { agentProgressSummaries: true },
  'agentProgressSummaries false': { agentProgressSummaries: false },
  'forwardSubagentText true': { forwardSubagentText: true },
  'forwardSubagentText false': { forwardSubagentText: false },
  'perTaskStopAffordance true': { perTaskStopAffordance: true },
  'perTaskStopAffordance false': { perTaskStopAffordance: false },
  verbatimPrompts: { verbatimPrompts: true },
  'verbatimPrompts false': { verbatimPrompts: false },
  supportedDialogKinds: {
    supportedDialogKinds: ['refusal_fallback_prompt'],
    onUserDialog: async () => ({ behavior: 'cancelled' }),
  },
  'supportedDialogKinds empty': { supportedDialogKinds: [] },
  'supportedDialogKinds without callback': { supportedDialogKinds: ['refusal_fallback_prompt'] },
  'onUserDialog alone': { onUserDialog: async () => ({ behavior: 'cancelled' }) },
  'onElicitation alone': { onElicitation: async () => ({ action: 'decline' }) },
  'canUseTool alone': { canUseTool: async () => ({ behavior: 'allow' }) },
  'canUseTool and permissionPromptToolName': {
    canUseTool: async () => ({ behavior: 'allow' }),
    permissionPromptToolName: 'mcp__auth__ask',
  },
  hooks: { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [go] }] } },
  'hooks many': {
    hooks: {
      PreToolUse: [{ matcher: 'Bash', hooks: [go, go], timeout: 5 }, { hooks: [go] }],
      Stop: [{ hooks: [go], onFailure: 'continue' }],
    },
  },
  'hooks same function twice': { hooks: { PreToolUse: [{ hooks: [go] }], PostToolUse: [{ hooks: [go] }] } },
  'hooks empty': { hooks: {} },
  'hooks empty list': { hooks: { PreToolUse: [] } },
  'hooks empty matcher': { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [] }] } },
  'hooks that block': { hooks: { PreToolUse: [{ hooks: [go], onFailure: 'block' }] } },
  'one sdk server': withCalc,
  'sdk server under another key': (sdk) => ({ mcpServers: { 'Other Key': calc(sdk) } }),
  'sdk servers and stdio server': (sdk) => ({
    mcpServers: { first: calc(sdk), st: { command: 'node', args: [] }, second: calc(sdk) },
    strictMcpConfig: true,
  }),
  'sdk server without tools': (sdk) => ({ mcpServers: { none: sdk.createSdkMcpServer({ name: 'none' }) } }),
  'sdk server with no tools list': (sdk) => ({
    mcpServers: { none: sdk.createSdkMcpServer({ name: 'none', tools: [] }) },
  }),
  'sdk server timeout': (sdk) => ({
    mcpServers: { slow: sdk.createSdkMcpServer({ name: 'slow', timeout: 30_000, tools: [] }) },
  }),
  'sdk server tool policy': (sdk) => ({
    mcpServers: {
      calc: { ...calc(sdk), timeout: 5, tools: [{ name: 'add', permission_policy: 'always_ask' as const }] },
    },
  }),
  'sdk server always loaded': (sdk) => ({
    mcpServers: {
      al: sdk.createSdkMcpServer({
        name: 'al',
        alwaysLoad: true,
        tools: [sdk.tool('t', 'T', {}, async () => ({ content: [] }))],
      }),
    },
  }),
};

export const INITIALIZE_CASES: readonly WireCase[] = [
  ...Object.entries(ROWS).map(([name, options]) => ({
    name: `initialize: ${name}`,
    options: typeof options === 'function' ? options : () => options,
  })),
  {
    name: 'initialize: hooks that block, supported',
    options: () => ({ hooks: { PreToolUse: [{ hooks: [go], onFailure: 'block' }] } }),
    scenario: {
      replies: {
        initialize: {
          response: {
            commands: [],
            agents: [],
            output_style: 'default',
            available_output_styles: [],
            models: [],
            account: {},
            hooks_applied: true,
            hook_on_failure_supported: true,
          },
        },
      },
    },
  },
  {
    name: 'initialize: manifests off',
    options: withCalc,
    ambient: { CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS: '1' },
  },
  {
    name: 'initialize: refused',
    scenario: { replies: { initialize: { error: 'not today', error_code: 'no' } } },
  },
];
