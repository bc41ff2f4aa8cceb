import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { redactText } from '../../base/text/redact.ts';
import { Inbox } from '../../channels/inbox.ts';
import { type ConfigContext, configContext } from '../../config/config-context.ts';
import { sessionTimeouts } from '../../config/running-configuration.ts';
import { configuredIdentityProvider, sealedCredentialStore } from '../../config/secrets/account-store.ts';
import { CHANNEL_DEFAULTS, parseChannelFlag } from '../../config/settings/channel-settings.ts';
import { effectiveMode, type Settings } from '../../config/settings/merge-settings.ts';
import { readRules } from '../../config/settings/permission-settings.ts';
import type { ConfigFlags } from '../../config/sources/source-types.ts';
import { ServerAuth } from '../../mcp/auth/authorizer.ts';
import { CONNECT_TIMEOUT_MS } from '../../mcp/calls/time-limits.ts';
import type { ServerEntry } from '../../mcp/connection/connect-context.ts';
import { absolutePath } from '../../permissions/path.ts';
import { type FlagNames, flagName } from '../../protocol/launch-flag.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import { parseAgents } from '../builtins/agents/agent-definition.ts';
import type { SessionChannels, SessionOptions } from '../session/session.ts';
import {
  isScheduleDisabled,
  type LaunchEnvironment,
  readListSettings,
  readResultSettings,
  readTaskSettings,
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

export type PlanFiles = {
  readonly settings: Settings;
  readonly servers: Readonly<Record<string, ServerEntry>>;
  readonly prompts: PromptFiles;
};

/** Combines flags and settings to session options. A flag wins over settings, and policy wins over flags. */
export function planSession(
  flags: AgentFlags,
  files: PlanFiles,
  around: LaunchEnvironment & { note?(text: string): void },
  nameOf: FlagNames = flagName,
): SessionPlan {
  const { env, cwd, home, version } = around;
  const { settings, prompts } = files;
  const allowed = readRules(flags.allowedTools ?? [], 'allow', 'cliArg');
  const denied = readRules(flags.disallowedTools ?? [], 'deny', 'cliArg');
  const mode = modeOf(flags, settings, nameOf);
  const { toolSearch, notes: toolSearchNotes } = readToolSearch(flags, env);
  const results = readResultSettings(env);
  const lists = readListSettings(env);
  const tasks = readTaskSettings(flags, env, settings.timeouts.backgroundMs?.value);
  const agents = parseAgents(flags.agents);
  const invalidAgents = Object.keys(flags.agents ?? {}).filter((name) => !Object.hasOwn(agents, name));
  const added = [...(flags.addDirs ?? []), ...settings.directories];
  const place = configEnvironment(flags, around, process.platform);
  const channels = planChannels(flags, settings, nameOf);
  const deniesPrompts = flags.permissionPrompts === 'none' || settings.deniesPrompts === true;
  const options: SessionPlan['options'] = {
    nameOf,
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
      auth: new ServerAuth({
        store: sealedCredentialStore(place),
        identityProvider: configuredIdentityProvider(settings, place),
        env,
        onNotice: (server, message) => around.note?.(`MCP server "${server}": ${message}`),
      }),
    },
    ...(channels.settings && {
      channels: {
        settings: channels.settings,
        requested: channels.requested,
        openInbox: () => Inbox.open(join(place.home, 'channels')),
      },
    }),
    ...(flags.serverLogLevel && { serverLogLevel: flags.serverLogLevel }),
    shellEnv: shellEnvironment(env),
    hooks: settings.hooks,
    agents,
    ...(flags.agent && { agent: flags.agent }),
    ...(flags.model && { isModelRequested: true }),
    mayBypass: mode.mayBypass,
    // A program that answers permission requests sets the flag.
    asksProgram: flags.permissionPromptTool !== undefined && !deniesPrompts,
    ...(deniesPrompts && { deniesPrompts }),
    ...(flags.awaitChannels && { awaitsChannels: true }),
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
    ...tasks.options,
    ...lists.options,
    stateDirectory: place.home,
    schedule: { isDisabled: isScheduleDisabled(env), home: join(place.home, 'schedule') },
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
      ...prefixed(nameOf('disallowedTools'), denied.faults),
      ...mode.faults,
      ...channels.faults,
      ...sourceErrors(flags, nameOf),
      ...((flags.permissionPromptTool ?? 'stdio') === 'stdio' ? [] : [unsupportedPromptTool(nameOf)]),
      ...invalidAgents.map(
        (name) => `${nameOf('agents')}: "${name}" must be { "description": string, "prompt": string }`,
      ),
    ],
    notes: [
      ...prefixed(nameOf('allowedTools'), allowed.notes),
      ...prefixed(nameOf('disallowedTools'), denied.notes),
      ...results.notes,
      ...tasks.notes,
      ...lists.notes,
      ...toolSearchNotes,
      ...(mode.mode === 'auto' ? ['mode auto is not supported; using mode default'] : []),
    ],
  };
}

/** The channels of settings and of the flag; undefined if there are none. */
function planChannels(
  { channels: given }: AgentFlags,
  { channels: configured }: Settings,
  nameOf: FlagNames,
): {
  readonly settings?: SessionChannels['settings'];
  readonly requested: readonly string[];
  readonly faults: readonly string[];
} {
  const parsed = (given ?? []).map(parseChannelFlag);
  const faults = parsed.flatMap((it) => ('fault' in it ? [`${nameOf('channels')} ${it.fault}`] : []));
  if (configured === false)
    return {
      requested: [],
      faults: given
        ? [
            `${nameOf('channels')}: the managed settings disable channels; leave it out, or ask your administrator`,
          ]
        : faults,
    };
  const named = parsed.flatMap((it) => ('server' in it && it.server !== undefined ? [it.server] : []));
  const added = named.filter((name) => !Object.hasOwn(configured, name));
  const settings = { ...configured, ...Object.fromEntries(added.map((name) => [name, CHANNEL_DEFAULTS])) };
  const isUsed = given !== undefined || Object.keys(settings).length > 0;
  return { ...(isUsed && { settings }), requested: named, faults };
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

function unsupportedPromptTool(nameOf: FlagNames): string {
  return `${nameOf('permission-prompt-tool')} supports only "stdio"; answer permission requests with canUseTool in the program`;
}

function modeOf(flags: AgentFlags, settings: Settings, nameOf: FlagNames): ChosenMode {
  const flag = flags.skipPermissions ? 'bypassPermissions' : flags.permissionMode;
  const mode = effectiveMode(settings, flag);
  // A flag must allow mode bypassPermissions: a settings file can set the mode, but not allow it.
  const isAllowed = flags.mayBypass === true || flag === 'bypassPermissions';
  const isForbidden = settings.forbidsBypass === true;
  const mayBypass = isAllowed && !isForbidden;
  if (mode !== 'bypassPermissions' || mayBypass) return { ...(mode && { mode }), mayBypass, faults: [] };
  const fault = isForbidden
    ? 'mode bypassPermissions is forbidden by "permissions.disableBypassPermissionsMode"'
    : `mode bypassPermissions in settings also requires ${nameOf('allow-dangerously-skip-permissions')}`;
  return { mayBypass, faults: [fault] };
}

function prefixed(flag: string, texts: readonly string[]): string[] {
  return texts.map((text) => `${flag}: ${text}`);
}

/** The configuration sources that the flags select. */
export function requestedSources(flags: AgentFlags, nameOf: FlagNames): ConfigFlags {
  const { settingSources, mcpConfigs, pluginDirs, settings, managedSettings } = flags;
  return {
    nameOf,
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
function sourceErrors({ settingSources = [] }: AgentFlags, nameOf: FlagNames): string[] {
  const unknown = settingSources.filter((it) => !SOURCES.includes(it));
  const name = nameOf('setting-sources');
  return unknown.map((it) => `${name} takes ${SOURCES.join(', ')}, not ${JSON.stringify(it)}`);
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
