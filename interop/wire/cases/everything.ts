import type { Options, Sdk, WireCase } from '../case.ts';
import { calc } from '../servers.ts';

const SESSION = '00000000-0000-4000-8000-0000000000aa';
const MESSAGE = '00000000-0000-4000-8000-0000000000bb';
const go = async () => ({ continue: true });

function everything(sdk: Sdk): Options {
  return {
    verbatimPrompts: true,
    toolConfig: { askUserQuestion: { previewFormat: 'html' } },
    enableFileCheckpointing: true,
    extraArgs: { 'extra-flag': null, extra: 'value' },
    managedSettings: { permissions: { deny: ['Bash'] } },
    settings: { model: 'm' },
    sandbox: { enabled: true },
    sessionId: SESSION,
    resumeDropsTurn: MESSAGE,
    resumeSessionAt: MESSAGE,
    forkSession: true,
    resume: SESSION,
    continue: true,
    plugins: [{ type: 'local', path: '/elsewhere/plugin' }],
    additionalDirectories: ['/one', '/two'],
    projectConfigRoot: '/elsewhere/checkout',
    includePartialMessages: true,
    includeHookEvents: true,
    allowDangerouslySkipPermissions: true,
    permissionMode: 'plan',
    strictMcpConfig: true,
    settingSources: ['user'],
    mcpServers: { calc: calc(sdk), st: { command: 'node', args: [] } },
    tools: ['Read'],
    disallowedTools: ['WebFetch'],
    allowedTools: ['Read'],
    skills: ['pdf'],
    permissionPrompts: 'host',
    canUseTool: async () => ({ behavior: 'allow' }),
    debug: true,
    debugFile: '/elsewhere/debug.log',
    outputFormat: { type: 'json_schema', schema: { type: 'object' } },
    betas: ['context-1m-2025-08-07'],
    agent: 'reviewer',
    agents: { reviewer: { description: 'Reviews', prompt: 'You review.' } },
    fallbackModel: 'claude-haiku-4-5',
    model: 'claude-sonnet-5',
    taskBudget: { total: 1000 },
    maxBudgetUsd: 2,
    maxTurns: 3,
    effort: 'low',
    thinking: { type: 'adaptive', display: 'omitted' },
    perTaskStopAffordance: true,
    supportedDialogKinds: ['refusal_fallback_prompt'],
    onUserDialog: async () => ({ behavior: 'cancelled' }),
    onElicitation: async () => ({ action: 'decline' }),
    forwardSubagentText: true,
    agentProgressSummaries: true,
    promptSuggestions: true,
    title: 'My session',
    toolAliases: { Bash: 'mcp__workspace__bash' },
    planModeInstructions: 'Plan well.',
    systemPrompt: {
      type: 'preset',
      preset: 'claude_code',
      append: 'More.',
      excludeDynamicSections: true,
      snapshot: false,
    },
    hooks: { PreToolUse: [{ hooks: [go] }] },
  };
}

/** Nearly everything at once, in reverse, so that the order on the wire cannot be the order of the options. */
export const EVERYTHING_CASES: readonly WireCase[] = [
  { name: 'everything', options: everything },
  {
    name: 'everything, other values',
    options: (sdk) => {
      const { debugFile: _debugFile, canUseTool: _ask, ...rest } = everything(sdk);
      return {
        ...rest,
        mcpServers: { calc: { ...calc(sdk), timeout: 5000 }, st: { command: 'node', args: [] } },
        permissionPromptToolName: 'mcp__auth__ask',
        persistSession: false,
        pluginDelivery: 'initialize',
        systemPrompt: { type: 'custom', prompt: 'Be brief.', snapshot: true },
        thinking: { type: 'enabled', budgetTokens: 5, display: 'omitted' },
        tools: { type: 'preset', preset: 'claude_code' },
      };
    },
  },
];
