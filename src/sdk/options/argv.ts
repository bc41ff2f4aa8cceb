import { isRecord } from '../../base/json-value.ts';
import type { Options, Settings } from './options.ts';

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

/** What `--settings` carries: a path or JSON text, with the sandbox option merged in. */
export function settingsText(options: Options): string | undefined {
  const { settings, sandbox, extraArgs } = options;
  const given = settings === '' ? undefined : (settings ?? extraArgs?.settings ?? undefined);
  if (!sandbox) return typeof given === 'string' || given === undefined ? given : JSON.stringify(given);
  const base: Settings = typeof given === 'string' ? (JSON.parse(given) as Settings) : (given ?? {});
  const own = isRecord(base.sandbox) ? base.sandbox : {};
  const merged = mergeSandbox(own, sandbox);
  if (sandbox.enabled === true && merged.failIfUnavailable === undefined) merged.failIfUnavailable = true;
  return JSON.stringify({ ...base, sandbox: merged });
}

/** Restrictions of both sides hold; members the option sets replace these; two are replaced whole. */
const UNITED = new Set(['denyRead', 'denyWrite', 'deniedDomains', 'files', 'envVars']);
const WHOLE = new Set(['ripgrep', 'tlsTerminate']);

function mergeSandbox(base: Settings, option: Settings): Settings {
  const merged = dropLoosening(base, option);
  for (const [key, value] of Object.entries(option)) {
    if (value === undefined) continue;
    const known = merged[key];
    if (UNITED.has(key) && Array.isArray(known) && Array.isArray(value)) merged[key] = unite(known, value);
    else if (isRecord(known) && isRecord(value) && !WHOLE.has(key)) merged[key] = mergeSandbox(known, value);
    else merged[key] = value;
  }
  return merged;
}

/** A switch in the settings that would turn off what the option restricts does not survive. */
function dropLoosening(base: Settings, option: Settings): Settings {
  const kept = { ...base };
  const { filesystem, network, credentials } = option as Record<string, Settings | undefined>;
  const deniesFiles = Array.isArray(credentials?.files) && credentials.files.length > 0;
  if ((filesystem || deniesFiles) && isRecord(kept.filesystem) && kept.filesystem.disabled === true) {
    const { disabled: _, ...rest } = kept.filesystem;
    kept.filesystem = rest;
  }
  const denied = network?.deniedDomains;
  const restrictsNetwork =
    network?.allowedDomains !== undefined ||
    (Array.isArray(denied) && denied.length > 0) ||
    network?.strictAllowlist === true;
  if (restrictsNetwork && isRecord(kept.network)) {
    const ports = ['httpProxyPort', 'socksProxyPort'].filter((port) => network?.[port] === undefined);
    kept.network = Object.fromEntries(Object.entries(kept.network).filter(([key]) => !ports.includes(key)));
  }
  return kept;
}

function unite(a: unknown[], b: unknown[]): unknown[] {
  const seen = new Set(a.map((item) => JSON.stringify(item)));
  return [...a, ...b.filter((item) => !seen.has(JSON.stringify(item)))];
}

/** The version of the official SDK whose protocol is spoken here, which is what agents gate their behaviour on. */
export const PROTOCOL_OF = '0.3.325';

export type Environment = { [name: string]: string | undefined };

/** The agent's environment: `options.env` replaces the inherited one (C32), then the protocol's own variables. */
export function buildEnvironment(options: Options, inherited: Environment): Environment {
  const env: Environment = {};
  for (const [name, value] of Object.entries(options.env ?? inherited)) {
    if (value !== undefined) env[name] = value;
  }
  env.CLAUDE_CODE_ENTRYPOINT ??= 'sdk-ts';
  if (!options.env?.CLAUDE_AGENT_SDK_VERSION) env.CLAUDE_AGENT_SDK_VERSION = PROTOCOL_OF;
  env.CLAUDE_CODE_SDK_READS_SESSION_STATE = '1';
  delete env.NODE_OPTIONS;
  if (env.DEBUG_CLAUDE_AGENT_SDK) env.DEBUG = '1';
  else delete env.DEBUG;
  if (options.enableFileCheckpointing) env.CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING = 'true';
  const format = options.toolConfig?.askUserQuestion?.previewFormat;
  if (format) env.CLAUDE_CODE_QUESTION_PREVIEW_FORMAT = format;
  return env;
}
