import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { redactText } from '../../base/text/redact.ts';
import { type ConfigContext, configContext } from '../../config/config-context.ts';
import { sessionTimeouts } from '../../config/running-configuration.ts';
import { effectiveMode, type Settings } from '../../config/settings/merge-settings.ts';
import { readRules } from '../../config/settings/permission-settings.ts';
import type { ConfigFlags } from '../../config/sources/source-types.ts';
import { CONNECT_TIMEOUT_MS } from '../../mcp/calls/time-limits.ts';
import type { ServerEntry } from '../../mcp/connection/connect-context.ts';
import { absolutePath } from '../../permissions/path.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import { parseAgents } from '../session/agent-definition.ts';
import type { SessionOptions } from '../session/session.ts';
import {
  type LaunchEnvironment,
  readResultSettings,
  readToolSearch,
  shellEnvironment,
} from './environment-variables.ts';
import type { AgentFlags } from './flag-table.ts';

/** The session options except the model, and what is wrong with the flags. */
type SessionPlan = {
  readonly options: Omit<SessionOptions, 'model' | 'modelName'>;
  readonly faults: readonly string[];
  readonly notes: readonly string[];
};

const UNSUPPORTED_PROMPT_TOOL =
  '--permission-prompt-tool supports only "stdio"; answer permission requests with canUseTool in the program';

export type PlanFiles = {
  readonly settings: Settings;
  readonly servers: Readonly<Record<string, ServerEntry>>;
  readonly prompts: PromptFiles;
};

/** Combines flags and settings to session options. A flag wins over settings, and policy wins over flags. */
export function planSession(flags: AgentFlags, files: PlanFiles, around: LaunchEnvironment): SessionPlan {
  const { env, cwd, home, version } = around;
  const { settings, prompts } = files;
  const allowed = readRules(flags.allowedTools ?? [], 'allow', 'cliArg');
  const denied = readRules(flags.disallowedTools ?? [], 'deny', 'cliArg');
  const mode = modeOf(flags, settings);
  const { toolSearch, notes: toolSearchNotes } = readToolSearch(flags, env);
  const results = readResultSettings(env);
  const agents = parseAgents(flags.agents);
  const invalidAgents = Object.keys(flags.agents ?? {}).filter((name) => !Object.hasOwn(agents, name));
  const added = [...(flags.addDirs ?? []), ...settings.directories];
  const options: SessionPlan['options'] = {
    version,
    workspace: {
      cwd,
      home,
      directories: added.map((path) => absolutePath(path, { cwd, home, directories: [] })),
    },
    rules: [...allowed.rules, ...denied.rules, ...settings.rules],
    servers: files.servers,
    callLimits: sessionTimeouts(settings.timeouts),
    connect: {
      env,
      cwd,
      connectTimeoutMs: settings.timeouts.connectMs?.value ?? CONNECT_TIMEOUT_MS,
      clientInfo: { name: 'toolplane', version },
    },
    shellEnv: shellEnvironment(env),
    hooks: settings.hooks,
    agents,
    ...(flags.agent && { agent: flags.agent }),
    ...(flags.model && { isModelRequested: true }),
    mayBypass: mode.mayBypass,
    // A program that answers permission requests sets the flag.
    asksProgram:
      flags.permissionPromptTool !== undefined &&
      flags.permissionPrompts !== 'none' &&
      !settings.deniesPrompts,
    ...stateReports(env),
    fileCheckpoints: /^(?:1|true)$/.test(env.CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING ?? ''),
    reportsDecisions: flags.reportDecisions === true,
    marks: flags.toolMarks === true,
    ...(toolSearch && { toolSearch }),
    leadOnly: flags.leadOnly === true,
    includePartialMessages: flags.includePartialMessages === true,
    systemPrompt: flags.systemPrompt ?? prompts.systemPrompt ?? '',
    appendSystemPrompt: joined(flags.appendSystemPrompt, prompts.appendSystemPrompt),
    ...results.options,
    ...(mode.mode && { permissionMode: mode.mode }),
    replayUserMessages: flags.replayUserMessages === true,
    // 0 means unlimited.
    ...(flags.maxTurns && { maxTurns: flags.maxTurns }),
    ...(flags.maxBudgetUsd !== undefined && { maxBudgetUsd: flags.maxBudgetUsd }),
    ...(flags.tools && !flags.tools.includes('default') && { builtIns: flags.tools }),
  };
  return {
    options,
    faults: [
      ...prefixed('--disallowedTools', denied.faults),
      ...mode.faults,
      ...sourceErrors(flags),
      ...((flags.permissionPromptTool ?? 'stdio') === 'stdio' ? [] : [UNSUPPORTED_PROMPT_TOOL]),
      ...invalidAgents.map(
        (name) => `--agents: "${name}" must be { "description": string, "prompt": string }`,
      ),
    ],
    notes: [
      ...prefixed('--allowedTools', allowed.notes),
      ...prefixed('--disallowedTools', denied.notes),
      ...results.notes,
      ...toolSearchNotes,
      ...(mode.mode === 'auto' ? ['mode auto is not supported; using mode default'] : []),
    ],
  };
}

/** An SDK sets the first variable for itself; a program sets the second to get the messages too. */
function stateReports({
  CLAUDE_CODE_SDK_READS_SESSION_STATE: sdk,
  CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: program,
}: LaunchEnvironment['env']): Pick<SessionOptions, 'reportsState'> {
  if (program === '1' || program === 'true') return { reportsState: 'to-program' };
  return sdk === '1' ? { reportsState: 'to-sdk' } : {};
}

function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n');
}

type ChosenMode = {
  readonly mode?: PermissionMode;
  readonly mayBypass: boolean;
  readonly faults: readonly string[];
};

function modeOf(flags: AgentFlags, settings: Settings): ChosenMode {
  const flag = flags.skipPermissions ? 'bypassPermissions' : flags.permissionMode;
  const mode = effectiveMode(settings, flag);
  // The mode of a settings file does not allow itself.
  const isAllowed = flags.mayBypass === true || flag === 'bypassPermissions';
  const isForbidden = settings.forbidsBypass === true;
  const mayBypass = isAllowed && !isForbidden;
  if (mode !== 'bypassPermissions' || mayBypass) return { ...(mode && { mode }), mayBypass, faults: [] };
  const fault = isForbidden
    ? 'mode bypassPermissions is forbidden by "permissions.disableBypassPermissionsMode"'
    : 'mode bypassPermissions in settings also requires --allow-dangerously-skip-permissions';
  return { mayBypass, faults: [fault] };
}

function prefixed(flag: string, texts: readonly string[]): string[] {
  return texts.map((text) => `${flag}: ${text}`);
}

/** The configuration sources that the flags select. */
export function requestedSources(flags: AgentFlags): ConfigFlags {
  const { settingSources, mcpConfigs, pluginDirs, settings, managedSettings } = flags;
  return {
    isStrict: flags.strictMcpConfig === true,
    ...(settingSources && { scopes: settingSources }),
    ...(mcpConfigs && { mcpConfigs }),
    ...(pluginDirs && { pluginDirs }),
    ...(settings !== undefined && { settings }),
    ...(managedSettings && { managedSettings }),
  };
}

/** Where configuration is read from; `--project-config-root` sets another project directory. */
export function configEnvironment(
  { projectConfigRoot }: AgentFlags,
  { cwd, env, home }: LaunchEnvironment,
  platform: NodeJS.Platform,
): ConfigContext {
  const root = projectConfigRoot === undefined ? cwd : resolve(cwd, projectConfigRoot);
  return configContext({ cwd: root, env, userHome: home, platform });
}

/** Errors of unknown values of `--setting-sources`. */
function sourceErrors({ settingSources = [] }: AgentFlags): string[] {
  const unknown = settingSources.filter((it) => !SOURCES.includes(it));
  return unknown.map((it) => `--setting-sources takes ${SOURCES.join(', ')}, not ${JSON.stringify(it)}`);
}

const SOURCES: readonly string[] = ['user', 'project', 'local'];

type PromptFiles = {
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  readonly faults: readonly string[];
};

type Flags = Pick<AgentFlags, 'systemPromptFile' | 'appendSystemPromptFile'>;

/** Reads `--system-prompt-file` and `--append-system-prompt-file`. */
export async function readPromptFiles(flags: Flags, cwd: string): Promise<PromptFiles> {
  const faults: string[] = [];
  const text = async (flag: string, path: string | undefined): Promise<string | undefined> => {
    if (path === undefined) return undefined;
    try {
      return await readFile(resolve(cwd, path), 'utf8');
    } catch (cause) {
      faults.push(`${named(flag, path)} cannot be read (${(cause as NodeJS.ErrnoException).code})`);
      return undefined;
    }
  };
  const systemPrompt = await text('--system-prompt-file', flags.systemPromptFile);
  const appendSystemPrompt = await text('--append-system-prompt-file', flags.appendSystemPromptFile);
  return {
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(appendSystemPrompt !== undefined && { appendSystemPrompt }),
    faults,
  };
}

/** A value that does not look like a path may be a secret, so it is not shown. */
function named(flag: string, path: string): string {
  return /^[\w./~@+-]{1,200}$/.test(path) ? `${flag} ${redactText(path)}` : `the file of ${flag}`;
}
