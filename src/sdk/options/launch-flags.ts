import { isRecord } from '../../base/json-value.ts';
import type { LaunchFlag } from '../../protocol/launch-flag.ts';
import type { Options } from './options.ts';

/** The launch flags for these options, in the order of the official SDK. `mcpConfig` is built from the servers. */
export function launchFlags(options: Options, mcpConfig: string | undefined): LaunchFlag[] {
  return FLAGS.flatMap((flag) => flag(options, mcpConfig));
}

/** The members of a settings object. */
type Members = Record<string, unknown>;
type Flags = readonly LaunchFlag[];

/** The value may have another type than declared: it is written as text. */
const given = (name: string, value: unknown): Flags =>
  value === undefined ? [] : [{ name, value: typeof value === 'number' ? value : String(value) }];
/** An empty string, 0 and false count as not given. */
const set = (name: string, value: unknown): Flags => (value ? given(name, value) : []);
const on = (name: string, isOn: unknown): Flags => (isOn ? [{ name, value: true }] : []);
const list = (name: string, value: readonly string[] | undefined): Flags =>
  value && value.length > 0 ? [{ name, value }] : [];
/** A list that is also sent when it is empty. */
const mayBeEmpty = (name: string, value: readonly string[] | undefined): Flags =>
  value ? [{ name, value }] : [];
const json = (name: string, value: Members | undefined): Flags => (value ? [{ name, value }] : []);

const FLAGS: readonly ((options: Options, mcpConfig: string | undefined) => Flags)[] = [
  thinking,
  (o) => set('effort', o.effort),
  (o) => set('max-turns', o.maxTurns),
  (o) => given('max-budget-usd', o.maxBudgetUsd),
  (o) => (o.taskBudget ? given('task-budget', String(o.taskBudget.total)) : []),
  (o) => set('model', o.model),
  (o) => set('agent', o.agent),
  (o) => list('betas', o.betas),
  (o) => json('json-schema', outputSchema(o)),
  (o) => (o.debugFile ? set('debug-file', o.debugFile) : on('debug', o.debug)),
  (o) => set('permission-prompt-tool', o.canUseTool ? 'stdio' : o.permissionPromptToolName),
  (o) => set('permission-prompts', o.permissionPrompts),
  (o) => on('continue', o.continue),
  (o) => set('resume', o.resume),
  (o) => list('allowedTools', [...(o.allowedTools ?? []), ...skillRules(o)]),
  (o) => list('disallowedTools', o.disallowedTools),
  (o) => mayBeEmpty('tools', o.tools && !Array.isArray(o.tools) ? ['default'] : o.tools),
  (_, mcpConfig) => set('mcp-config', mcpConfig),
  (o) => set('mcp-config', o.mcpConfig),
  (o) => mayBeEmpty('setting-sources', o.settingSources),
  (o) => on('strict-mcp-config', o.strictMcpConfig),
  (o) => set('permission-mode', o.permissionMode),
  (o) => on('allow-dangerously-skip-permissions', o.allowDangerouslySkipPermissions),
  (o) => set('fallback-model', o.fallbackModel),
  (o) => on('include-hook-events', o.includeHookEvents),
  (o) => on('include-partial-messages', o.includePartialMessages),
  (o) => given('project-config-root', o.projectConfigRoot),
  (o) => (o.additionalDirectories ?? []).map((value) => ({ name: 'add-dir', value })),
  plugins,
  (o) => (o.channels ?? []).map((value) => ({ name: 'channels', value })),
  (o) => on('fork-session', o.forkSession),
  (o) => set('resume-session-at', o.resumeSessionAt),
  (o) => given('resume-drops-turn', o.resumeDropsTurn),
  (o) => set('session-id', o.sessionId),
  (o) => on('no-session-persistence', o.persistSession === false),
  (o) => json('managed-settings', o.managedSettings),
  extraArgs,
];

function thinking({ thinking: config, maxThinkingTokens }: Options): Flags {
  const disabled = set('thinking', 'disabled');
  if (!config) return maxThinkingTokens === 0 ? disabled : given('max-thinking-tokens', maxThinkingTokens);
  if (config.type === 'disabled') return disabled;
  if (config.type !== 'enabled' && config.type !== 'adaptive') return [];
  const budget = config.type === 'enabled' ? config.budgetTokens : undefined;
  return [
    ...(budget === undefined ? set('thinking', 'adaptive') : given('max-thinking-tokens', budget)),
    ...set('thinking-display', config.display),
  ];
}

/** The schema of the structured output; other formats are ignored. */
export function outputSchema({ outputFormat }: Options): Members | undefined {
  return outputFormat?.type === 'json_schema' ? outputFormat.schema : undefined;
}

function skillRules({ skills }: Options): string[] {
  if (skills === 'all') return ['Skill'];
  return (skills ?? []).map((skill) => `Skill(${skill})`);
}

function plugins({ plugins: list = [], pluginDelivery }: Options): Flags {
  if (pluginDelivery === 'initialize') return on('await-initialize', list.length > 0);
  return list.map((it) => ({
    name: it.skipMcpDiscovery ? 'plugin-dir-no-mcp' : 'plugin-dir',
    value: it.path,
  }));
}

/** Settings replace an extra argument of that name, or come last. */
function extraArgs(options: Options): Flags {
  const extra: Record<string, unknown> = { ...options.extraArgs };
  const settings = settingsText(options);
  if (settings !== undefined) extra.settings = settings;
  return Object.entries(extra).map(([name, value]) => ({
    name,
    value: value === null ? true : String(value),
    isText: true,
  }));
}

/** The value of `--settings`: a path or JSON text, with the sandbox option merged in. */
export function settingsText(options: Options): string | undefined {
  const { settings, sandbox, extraArgs } = options;
  const given = settings === '' ? undefined : (settings ?? extraArgs?.settings ?? undefined);
  if (!sandbox) return typeof given === 'string' || given === undefined ? given : JSON.stringify(given);
  const base: Members = typeof given === 'string' ? (JSON.parse(given) as Members) : (given ?? {});
  const own = isRecord(base.sandbox) ? base.sandbox : {};
  const merged = mergeSandbox(own, sandbox);
  if (sandbox.enabled === true && merged.failIfUnavailable === undefined) merged.failIfUnavailable = true;
  return JSON.stringify({ ...base, sandbox: merged });
}

/** Restriction lists are merged; other members of the option replace those of the settings; two are replaced as a whole. */
const UNITED = new Set(['denyRead', 'denyWrite', 'deniedDomains', 'files', 'envVars']);
const WHOLE = new Set(['ripgrep', 'tlsTerminate']);

function mergeSandbox(base: Members, option: Members): Members {
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

/** Removes settings that would disable a restriction set by the option. */
function dropLoosening(base: Members, option: Members): Members {
  const kept = { ...base };
  const { filesystem, network, credentials } = option as Record<string, Members | undefined>;
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

/** The official SDK version whose protocol this SDK implements; agents enable features by it. */
export const OFFICIAL_SDK_VERSION = '0.3.325';

export type Environment = { [name: string]: string | undefined };

/** The agent's environment: `options.env` replaces the inherited one (C32), then the protocol's own variables. */
export function buildEnvironment(options: Options, inherited: Environment): Environment {
  const env: Environment = {};
  for (const [name, value] of Object.entries(options.env ?? inherited)) {
    if (value !== undefined) env[name] = String(value);
  }
  env.CLAUDE_CODE_ENTRYPOINT ??= 'sdk-ts';
  if (!options.env?.CLAUDE_AGENT_SDK_VERSION) env.CLAUDE_AGENT_SDK_VERSION = OFFICIAL_SDK_VERSION;
  env.CLAUDE_CODE_SDK_READS_SESSION_STATE = '1';
  delete env.NODE_OPTIONS;
  if (env.DEBUG_CLAUDE_AGENT_SDK) env.DEBUG = '1';
  else delete env.DEBUG;
  if (options.enableFileCheckpointing) env.CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING = 'true';
  const format = options.toolConfig?.askUserQuestion?.previewFormat;
  if (format) env.CLAUDE_CODE_QUESTION_PREVIEW_FORMAT = format;
  return env;
}
