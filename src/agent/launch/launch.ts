import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Configuration, readConfiguration } from '../../config/configuration.ts';
import { fatalMessages, newStartupMessages, startupMessages } from '../../config/explain/startup-messages.ts';
import { RunningConfiguration } from '../../config/running-configuration.ts';
import { type FileRuleStore, fileRuleStore } from '../../config/settings/file-rule-store.ts';
import type { Settings } from '../../config/settings/merge-settings.ts';
import type { AgentLink } from '../../control/link.ts';
import type { ConnectContext } from '../../mcp/connection/connect-context.ts';
import { fileEraCache, memoryEraCache } from '../../mcp/connection/protocol-era.ts';
import { fileToolCache } from '../../mcp/discovery/tool-cache.ts';
import { stepsText } from '../../mcp/servers/configure.ts';
import { absolutePath } from '../../permissions/path.ts';
import type { Rule } from '../../permissions/rule.ts';
import type { RuleSet } from '../../permissions/rule-store.ts';
import { openPins } from '../../pool/pinning/pins.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { StructuredOutput } from '../builtins/structured-output.ts';
import type { ModelError, ModelErrorCode } from '../models/model.ts';
import type { RetryEvent } from '../models/retry.ts';
import { modelFigures } from '../models/usage-totals.ts';
import { AgentSession } from '../session/agent-session.ts';
import type { ConfiguredNames } from '../session/server-status.ts';
import { chooseModel } from './choose-model.ts';
import {
  type Environment,
  type LaunchEnvironment,
  readOutputSettings,
  readRequestSettings,
} from './environment-variables.ts';
import type { AgentFlags } from './flag-table.ts';
import { openConversation } from './open-conversation.ts';
import type { ParsedFlags } from './parse-flags.ts';
import { configEnvironment, planSession, readPromptFiles, requestedSources } from './plan-session.ts';

/** The arguments and the environment of an agent, whether it runs in a process of its own or in the program's. */
export type Launch = LaunchEnvironment & {
  /** Its command line, or the options of a program in this process. */
  readonly flags: ParsedFlags;
  readonly now: () => Date;
  /** Receives warnings, one line each. */
  readonly note: (text: string) => void;
  /** Ends the session. */
  readonly signal: AbortSignal;
};

/** Starts a session. Rejects with one `SdkError` that lists all invalid flags; nothing is started then. */
export async function launch(link: AgentLink, given: Launch): Promise<AgentSession> {
  const { note, now, signal } = given;
  const cwd = workingDirectory(given.cwd);
  const parsed = given.flags;
  const { flags } = parsed;
  const [prompts, configuration] = await Promise.all([
    readPromptFiles(flags, cwd),
    readConfiguration(configEnvironment(flags, { ...given, cwd }, process.platform), requestedSources(flags)),
  ]);
  const { settings } = configuration;
  const running = new RunningConfiguration(configuration);
  const env = { ...given.env, ...settings.env };
  const plan = planSession(flags, { settings, prompts, servers: running.servers }, { ...given, cwd, env });
  const output = await compileOutput(flags, env);
  const fatal = fatalMessages(configuration);
  const faults = [...parsed.faults, ...prompts.faults, ...fatal, ...plan.faults, ...output.faults];
  if (faults.length > 0) throw badOptions(faults);
  const notes = [...parsed.notes, ...startupMessages(configuration), ...plan.notes, ...output.notes];
  for (const text of notes) note(text);

  const model = flags.model ?? settings.model ?? claudeModel(settings, env);
  let session: AgentSession | undefined;
  const requests = readRequestSettings(flags, env);
  for (const text of requests.notes) note(text);
  const retry = { ...requests.retry, onRetry: (event: RetryEvent) => session?.emit(noticeOf(event)) };
  const noticeOf = (event: RetryEvent) =>
    event.kind === 'fallback' ? fallbackMessage(event, chosen.resolveName) : retryMessage(event);
  const chosen = chooseModel({ ...flags, ...(model !== undefined && { model }) }, env, {
    cwd,
    retry,
    ...requests.timeout,
  });
  // The model of an agent is known later.
  const isFinal = chosen.lookedFor === undefined && flags.agent === undefined;
  if (flags.maxBudgetUsd !== undefined && isFinal && !modelFigures(chosen.modelName)) {
    const unknown = `the prices of the model ${JSON.stringify(chosen.modelName)} are unknown`;
    throw badOptions([`a maximum budget cannot be checked: ${unknown}; limit the number of turns instead`]);
  }

  const root = configuration.context.home;
  const opened = await openConversation(flags, {
    root,
    cwd,
    entrypoint: env.CLAUDE_CODE_ENTRYPOINT,
    now,
    note,
  });
  if ('fault' in opened) throw badOptions([opened.fault]);

  const location = { cwd, home: given.home, note };
  const ruleStore = launchRules(flags, plan.options.rules, configuration, location);
  session = new AgentSession(link, {
    ...plan.options,
    ...opened.kept,
    ...output.options,
    // A session without a transcript leaves no cache on disk either.
    connect: {
      ...plan.options.connect,
      expand: running.expand,
      ...serverCaches(root, opened.kept.transcript ? 'disk' : 'memory'),
    },
    pins: openPins(join(root, 'pins'), { mode: opened.kept.transcript ? 'write' : 'read', note }),
    configured: configuredNames(running),
    ruleStore,
    model: chosen.model,
    modelName: chosen.modelName,
    resolveModelName: chosen.resolveName,
    note,
    signal,
  });
  const servers = session.servers;
  running.follow({
    note,
    // Configuration that is saved during the session applies to it.
    configure(entries, now, before) {
      // Rules first, so that a new deny rule applies before servers are started.
      ruleStore.renew(absoluteRules(now.settings, location));
      const applied = stepsText(servers.configure(entries));
      // The reconnect of a server that is now forbidden fails with the reason.
      for (const name of running.forbidden(before, now, servers.all)) void servers.reconnect(name);
      for (const text of [...(applied ? [applied] : []), ...newStartupMessages(before, now)]) note(text);
    },
  });
  const end = () => running[Symbol.dispose]();
  session.done.then(end, end);
  return session;
}

/** Compiles `--json-schema`, so that an invalid schema is an error at launch. */
async function compileOutput({ jsonSchema }: AgentFlags, env: Environment) {
  if (!jsonSchema) return { options: {}, faults: [], notes: [] };
  const { maxAttempts, notes } = readOutputSettings(env);
  const output = await StructuredOutput.compile(jsonSchema, maxAttempts);
  if (output instanceof StructuredOutput) return { options: { output }, faults: [], notes };
  return { options: {}, faults: [`--json-schema is not a valid JSON Schema: ${output.fault}`], notes };
}

/** The model in settings of the `claude` CLI, which are about Anthropic's models; variables take precedence over it. */
function claudeModel({ claudeModel }: Settings, env: LaunchEnvironment['env']): string | undefined {
  const isNamed = env.TOOLPLANE_MODEL || env.ANTHROPIC_MODEL;
  const isAnthropic = env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN || env.ANTHROPIC_BASE_URL;
  return isNamed || !isAnthropic ? undefined : claudeModel;
}

/** Servers that the program itself configured have no scope, which is reported as `dynamic`. */
function configuredNames(running: RunningConfiguration): ConfiguredNames {
  return {
    scopeOf: (name) => (running.scopeOf(name) === 'program' ? undefined : running.scopeOf(name)),
    inactive: () => running.inactive(),
  };
}

/** What is remembered about servers between sessions: their protocol version and their tools. */
function serverCaches(
  root: string,
  where: 'disk' | 'memory',
): Pick<ConnectContext, 'eraCache' | 'toolCache'> {
  if (where === 'memory') return { eraCache: memoryEraCache() };
  const cache = join(root, 'cache');
  return {
    eraCache: fileEraCache(join(cache, 'eras.json')),
    toolCache: fileToolCache(join(cache, 'catalogue')),
  };
}

function badOptions(faults: readonly string[]): SdkError {
  return new SdkError('bad-option', faults.join('; '));
}

/** The real path of the directory, because permissions compare paths as strings. */
function workingDirectory(cwd: string): string {
  const found = statSync(cwd, { throwIfNoEntry: false });
  if (!found?.isDirectory())
    throw new SdkError('spawn-failed', `working directory ${cwd} is not a directory`);
  return realpathSync.native(cwd);
}

/** The `api_retry` message; `endpoint` and `reason` are additions to the official fields. */
function retryMessage({ error, failures, maxRetries, delayMs }: RetryEvent): Frame {
  return {
    type: 'system',
    subtype: 'api_retry',
    attempt: failures,
    max_retries: maxRetries,
    retry_delay_ms: delayMs,
    ...failureFields(error),
  };
}

/** The `model_fallback` message: another model answers for the rest of the turn. */
function fallbackMessage(
  { error, failedModel, model }: RetryEvent,
  resolveName: (given: string) => string,
): Frame {
  const original_model = resolveName(failedModel);
  const fallback_model = resolveName(model);
  return {
    type: 'system',
    subtype: 'model_fallback',
    trigger: error.status === 404 ? 'model_not_found' : RETRY_ERRORS[error.code],
    original_model,
    fallback_model,
    content: `The model ${original_model} failed; using ${fallback_model} for the rest of the turn`,
    ...failureFields(error),
  };
}

function failureFields(error: ModelError): Frame {
  return {
    error_status: error.status ?? null,
    error: RETRY_ERRORS[error.code],
    ...(error.endpoint !== undefined && { endpoint: error.endpoint }),
    ...(error.reason !== undefined && { reason: error.reason }),
  };
}

const RETRY_ERRORS: Readonly<Record<ModelErrorCode, string>> = {
  'rate-limited': 'rate_limit',
  overloaded: 'overloaded',
  failed: 'server_error',
  unreachable: 'unknown',
  unauthorized: 'authentication_failed',
  'bad-request': 'invalid_request',
  'too-long': 'invalid_request',
};

/** The rules of flags and files, in a store that saves "always allow" rules to files. */
export function launchRules(
  flags: AgentFlags,
  rules: readonly Rule[],
  { context, settings }: Configuration,
  location: Pick<LaunchEnvironment, 'cwd' | 'home'> & { note(text: string): void },
): FileRuleStore {
  const configured = absoluteRules(settings, location);
  const mode = flags.skipPermissions ? 'bypassPermissions' : flags.permissionMode;
  const added = (flags.addDirs ?? []).map((path) => ({
    path: absolute(path, location),
    source: 'cliArg' as const,
  }));
  return fileRuleStore({
    context,
    note: location.note,
    initial: {
      ...configured,
      rules,
      modes: { ...configured.modes, ...(mode && { cliArg: mode }) },
      directories: [...added, ...configured.directories],
    },
  });
}

/** The permissions of settings files, with absolute directories. */
export function absoluteRules(
  { permissions }: Pick<Settings, 'permissions'>,
  location: Pick<LaunchEnvironment, 'cwd' | 'home'>,
): RuleSet {
  const directories = permissions.directories.map((it) => ({ ...it, path: absolute(it.path, location) }));
  return { ...permissions, directories };
}

function absolute(path: string, { cwd, home }: Pick<LaunchEnvironment, 'cwd' | 'home'>): string {
  return absolutePath(path, { cwd, home, directories: [] });
}
