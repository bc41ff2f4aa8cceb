import type { Options } from './options.ts';
import { settingsText } from './settings.ts';

/** The agent's arguments for these options, in the incumbent's order. `mcpConfig` is the text made from the servers. */
export function buildArgv(options: Options, mcpConfig: string | undefined): string[] {
  const argv = ['--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'];
  for (const flag of FLAGS) argv.push(...flag(options, mcpConfig));
  return argv;
}

type Flag = (options: Options, mcpConfig: string | undefined) => string[];

/** `--name=value`: one argument, so no value can become a flag. An empty one is as good as none. */
const set = (name: string, value: string | number | undefined): string[] =>
  value === undefined || value === '' ? [] : [`--${name}=${value}`];
const on = (name: string, isOn: boolean | undefined): string[] => (isOn ? [`--${name}`] : []);
const list = (name: string, values: readonly string[] | undefined): string[] =>
  values && values.length > 0 ? [`--${name}=${values.join(',')}`] : [];
/** Two arguments, except where the value would read as a flag. */
const pair = (name: string, value: string | undefined): string[] => {
  if (value === undefined) return [];
  return value.startsWith('-') ? [`--${name}=${value}`] : [`--${name}`, value];
};

const FLAGS: readonly Flag[] = [
  thinking,
  (o) => set('effort', o.effort),
  (o) => set('max-turns', o.maxTurns),
  (o) => set('max-budget-usd', o.maxBudgetUsd),
  (o) => set('task-budget', o.taskBudget?.total),
  (o) => set('model', o.model),
  (o) => set('agent', o.agent),
  (o) => list('betas', o.betas),
  (o) => (o.outputFormat ? [`--json-schema=${JSON.stringify(o.outputFormat.schema)}`] : []),
  (o) => (o.debugFile ? set('debug-file', o.debugFile) : on('debug', o.debug)),
  (o) => set('permission-prompt-tool', o.canUseTool ? 'stdio' : o.permissionPromptToolName),
  (o) => set('permission-prompts', o.permissionPrompts),
  (o) => on('continue', o.continue),
  (o) => set('resume', o.resume),
  (o) => list('allowedTools', [...(o.allowedTools ?? []), ...skillRules(o)]),
  (o) => list('disallowedTools', o.disallowedTools),
  (o) => (Array.isArray(o.tools) ? [`--tools=${o.tools.join(',')}`] : o.tools ? ['--tools=default'] : []),
  (_, mcpConfig) => pair('mcp-config', mcpConfig),
  (o) => pair('mcp-config', o.mcpConfig || undefined),
  (o) => (o.settingSources ? [`--setting-sources=${o.settingSources.join(',')}`] : []),
  (o) => on('strict-mcp-config', o.strictMcpConfig),
  (o) => set('permission-mode', o.permissionMode),
  (o) => on('allow-dangerously-skip-permissions', o.allowDangerouslySkipPermissions),
  (o) => set('fallback-model', o.fallbackModel),
  (o) => on('include-hook-events', o.includeHookEvents),
  (o) => on('include-partial-messages', o.includePartialMessages),
  (o) => set('project-config-root', o.projectConfigRoot),
  (o) => (o.additionalDirectories ?? []).map((directory) => `--add-dir=${directory}`),
  plugins,
  (o) => on('fork-session', o.forkSession),
  (o) => set('resume-session-at', o.resumeSessionAt),
  (o) => set('resume-drops-turn', o.resumeDropsTurn),
  (o) => set('session-id', o.sessionId),
  (o) => on('no-session-persistence', o.persistSession === false),
  (o) => pair('managed-settings', o.managedSettings && JSON.stringify(o.managedSettings)),
  extraArgs,
];

function thinking({ thinking: config, maxThinkingTokens }: Options): string[] {
  if (!config) {
    return maxThinkingTokens === 0 ? ['--thinking=disabled'] : set('max-thinking-tokens', maxThinkingTokens);
  }
  const { type } = config;
  if (type === 'disabled') return ['--thinking=disabled'];
  const budget = type === 'enabled' ? config.budgetTokens : undefined;
  return [
    budget === undefined ? '--thinking=adaptive' : `--max-thinking-tokens=${budget}`,
    ...set('thinking-display', config.display),
  ];
}

function skillRules({ skills }: Options): string[] {
  if (skills === 'all') return ['Skill'];
  return (skills ?? []).map((skill) => `Skill(${skill})`);
}

function plugins({ plugins: list = [], pluginDelivery }: Options): string[] {
  if (pluginDelivery === 'initialize') return on('await-initialize', list.length > 0);
  return list.map((it) => `--plugin-dir${it.skipMcpDiscovery ? '-no-mcp' : ''}=${it.path}`);
}

/** Settings take the place of an extra argument of that name, else they come last. */
function extraArgs(options: Options): string[] {
  const extra: Record<string, string | null> = { ...options.extraArgs };
  const settings = settingsText(options);
  if (settings !== undefined) extra.settings = settings;
  return Object.entries(extra).flatMap(([name, value]) =>
    value === null ? [`--${name}`] : pair(name, value),
  );
}
