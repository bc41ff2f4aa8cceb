import { limitsOf } from '../../config/configured-limits.ts';
import { modeInForce } from '../../config/settings/mode-in-force.ts';
import { readRules } from '../../config/settings/read-rules.ts';
import type { Settings } from '../../config/settings/settings.ts';
import { CONNECT_TIMEOUT_MS } from '../../mcp/calls/time-limits.ts';
import type { ServerEntry } from '../../mcp/connection/world.ts';
import { absolutePath } from '../../permissions/path.ts';
import { readToolSearch, TOOL_SEARCH_WORDS } from '../../pool/tool-budget.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import { readAgents } from '../session/agent-definition.ts';
import type { SessionOptions } from '../session/session-options.ts';
import type { AgentFlags } from './flag-table.ts';
import type { PromptFiles } from './prompt-files.ts';
import { readResultSettings } from './result-settings.ts';
import { shellEnvironment } from './shell-environment.ts';
import type { Surroundings } from './surroundings.ts';
import { wantedFaults } from './wanted-configuration.ts';

/** What a session needs beside its model. */
export type SessionPlan = {
  readonly options: Omit<SessionOptions, 'model' | 'modelName'>;
  readonly faults: readonly string[];
  readonly notes: readonly string[];
};

const NO_PROMPT_TOOL = '--permission-prompt-tool takes only stdio: answer canUseTool in the program';

/** What files say, beside the flags. */
export type PlanFiles = {
  readonly settings: Settings;
  readonly servers: Readonly<Record<string, ServerEntry>>;
  readonly prompts: PromptFiles;
};

/** Flags and files as a session takes them. Where both say something, the flag counts, but policy beats it. */
export function planSession(flags: AgentFlags, files: PlanFiles, around: Surroundings): SessionPlan {
  const { env, cwd, home, version } = around;
  const { settings, prompts } = files;
  const allowed = readRules(flags.allowedTools ?? [], 'allow', 'cliArg');
  const denied = readRules(flags.disallowedTools ?? [], 'deny', 'cliArg');
  const mode = modeOf(flags, settings);
  const wanted = flags.toolSearch === undefined ? (env.ENABLE_TOOL_SEARCH?.trim() ?? '') : '';
  const toolSearch = flags.toolSearch ?? readToolSearch(wanted);
  const results = readResultSettings(env);
  const agents = readAgents(flags.agents);
  const misread = Object.keys(flags.agents ?? {}).filter((name) => !Object.hasOwn(agents, name));
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
    callLimits: limitsOf(settings.timeouts),
    connect: {
      env,
      cwd,
      connectTimeoutMs: settings.timeouts.connectMs?.value ?? CONNECT_TIMEOUT_MS,
      clientInfo: { name: 'toolplane', version },
    },
    shellEnv: shellEnvironment(env),
    hooks: settings.hooks,
    agents,
    mayBypass: mode.mayBypass,
    // A program that answers questions says so; one that does not is not asked.
    asksProgram: flags.permissionPromptTool !== undefined && flags.permissionPrompts !== 'none',
    tellsState: env.CLAUDE_CODE_SDK_READS_SESSION_STATE === '1',
    tellsDecisions: flags.tellDecisions === true,
    marks: flags.toolMarks === true,
    ...(toolSearch && { toolSearch }),
    leadOnly: flags.leadOnly === true,
    includePartialMessages: flags.includePartialMessages === true,
    systemPrompt: flags.systemPrompt ?? prompts.systemPrompt ?? '',
    appendSystemPrompt: joined(flags.appendSystemPrompt, prompts.appendSystemPrompt),
    ...results.options,
    ...(mode.mode && { permissionMode: mode.mode }),
    ...(flags.maxTurns !== undefined && { maxTurns: flags.maxTurns }),
    ...(flags.tools && !flags.tools.includes('default') && { builtIns: flags.tools }),
  };
  return {
    options,
    faults: [
      ...prefixed('--disallowedTools', denied.faults),
      ...mode.faults,
      ...wantedFaults(flags),
      ...((flags.permissionPromptTool ?? 'stdio') === 'stdio' ? [] : [NO_PROMPT_TOOL]),
      ...misread.map((name) => `--agents: "${name}" must be { "description": text, "prompt": text }`),
    ],
    notes: [
      ...prefixed('--allowedTools', allowed.notes),
      ...prefixed('--disallowedTools', denied.notes),
      ...results.notes,
      ...(wanted === '' || toolSearch ? [] : [`ENABLE_TOOL_SEARCH is ${TOOL_SEARCH_WORDS}: it is not used`]),
      ...(mode.mode === 'auto' ? ['mode auto is taken as default: nobody judges calls here'] : []),
    ],
  };
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
  const mode = modeInForce(settings, flag);
  const isAllowed = flags.mayBypass === true || flags.skipPermissions === true;
  const isForbidden = settings.forbidsBypass === true;
  const mayBypass = isAllowed && !isForbidden;
  if (mode !== 'bypassPermissions' || mayBypass) return { ...(mode && { mode }), mayBypass, faults: [] };
  const fault = isForbidden
    ? 'mode bypassPermissions is forbidden by "permissions.disableBypassPermissionsMode"'
    : 'mode bypassPermissions needs --allow-dangerously-skip-permissions as well';
  return { mayBypass, faults: [fault] };
}

function prefixed(flag: string, texts: readonly string[]): string[] {
  return texts.map((text) => `${flag}: ${text}`);
}
