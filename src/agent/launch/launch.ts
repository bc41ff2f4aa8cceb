import { randomUUID } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { release, type } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { readApprovals } from '../../config/approval/approvals.ts';
import { type Configuration, readConfiguration } from '../../config/configuration.ts';
import { fatalMessages, newStartupMessages, startupMessages } from '../../config/explain/startup-messages.ts';
import { RunningConfiguration } from '../../config/running-configuration.ts';
import { type FileRuleStore, fileRuleStore } from '../../config/settings/file-rule-store.ts';
import type { Settings } from '../../config/settings/merge-settings.ts';
import type { AgentLink } from '../../control/link.ts';
import type { ConnectContext } from '../../mcp/connection/connect-context.ts';
import { fileEraCache, memoryEraCache } from '../../mcp/connection/protocol-era.ts';
import { fileToolCache } from '../../mcp/discovery/tool-cache.ts';
import { stepsText } from '../../mcp/servers/servers-options.ts';
import { absolutePath } from '../../permissions/path.ts';
import type { Rule } from '../../permissions/rule.ts';
import type { RuleSet } from '../../permissions/rule-store.ts';
import { openPins } from '../../pool/pinning/pins.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { EFFORT_LEVELS } from '../../protocol/system-message.ts';
import { StructuredOutput } from '../builtins/structured-output.ts';
import type { ModelError, ModelErrorCode } from '../models/model.ts';
import type { RetryEvent } from '../models/retry.ts';
import { modelFigures } from '../models/usage-totals.ts';
import { AgentSession } from '../session/agent-session.ts';
import type { ConfiguredNames } from '../session/server-status.ts';
import { definitionContent, definitionRoots } from '../skills/definition-files.ts';
import type { DefinitionSource } from '../skills/skills.ts';
import { unopenedMessage } from '../turn/turn-report.ts';
import { chooseModel } from './choose-model.ts';
import {
  type Environment,
  type LaunchEnvironment,
  readOutputSettings,
  readRequestSettings,
} from './environment-variables.ts';
import type { AgentFlags } from './flag-table.ts';
import { memoryOptions } from './memory-options.ts';
import { describeAccount, listModels } from './model-list.ts';
import { selectedModel } from './model-name.ts';
import { openConversation } from './open-conversation.ts';
import type { ParsedFlags } from './parse-flags.ts';
import { configEnvironment, planSession, readPromptFiles, requestedSources } from './plan-session.ts';

/** The arguments and the environment of an agent, whether it runs in a process of its own or in the program's. */
export type Launch = LaunchEnvironment & {
  /** The parsed command line, or the options of a program in this process. */
  readonly flags: ParsedFlags;
  readonly now: () => Date;
  /** Receives warnings, one line each. */
  readonly note: (text: string) => void;
  /** Ends the session. */
  readonly signal: AbortSignal;
};

/** A session that has ended already, because there is no conversation to resume. */
type UnopenedSession = { readonly done: Promise<void>; readonly hasFailed: true };

/**
 * Starts a session. If the conversation to resume does not exist, the session consists of an error result. Rejects with
 * one `SdkError` that lists all invalid flags; nothing is started then.
 */
export async function launch(link: AgentLink, given: Launch): Promise<AgentSession | UnopenedSession> {
  const { note, now, signal } = given;
  const cwd = workingDirectory(given.cwd);
  const parsed = given.flags;
  const { flags, nameOf } = parsed;
  const [prompts, configuration] = await Promise.all([
    readPromptFiles(flags, cwd),
    readConfiguration(
      configEnvironment(flags, { ...given, cwd }, process.platform),
      requestedSources(flags, nameOf),
    ),
  ]);
  const { settings } = configuration;
  const running = new RunningConfiguration(configuration);
  const env = { ...given.env, ...settings.env };
  const files = { settings, prompts, servers: running.servers };
  const plan = planSession(flags, files, { ...given, cwd, env }, nameOf);
  const output = await compileOutput(parsed, env);
  const fatal = fatalMessages(configuration);
  const faults = [...parsed.faults, ...prompts.faults, ...fatal, ...plan.faults, ...output.errors];
  if (faults.length > 0) throw badOptions(faults);
  const notes = [...parsed.notes, ...startupMessages(configuration), ...plan.notes, ...output.notes];
  for (const text of notes) note(text);

  const model = selectedModel(flags.model, settings, env);
  let session: AgentSession | undefined;
  const requests = readRequestSettings(flags, env);
  for (const text of requests.notes) note(text);
  const retry = { ...requests.retry, onRetry: (event: RetryEvent) => session?.emit(noticeOf(event)) };
  const noticeOf = (event: RetryEvent) =>
    event.kind === 'fallback' ? fallbackMessage(event, chosen.resolveName) : retryMessage(event);
  const effort = EFFORT_LEVELS.find((level) => level === flags.effort);
  if (flags.effort !== undefined && effort === undefined)
    note(`${nameOf('effort')} is ignored: must be one of ${EFFORT_LEVELS.join(', ')}`);
  const chosen = chooseModel({ ...flags, effort, ...(model !== undefined && { model }) }, env, {
    cwd,
    nameOf,
    retry,
    ...requests.timeout,
  });
  // The model of an agent is known later.
  const isModelKnown = chosen.lookedFor === undefined && flags.agent === undefined;
  if (flags.maxBudgetUsd !== undefined && isModelKnown && !modelFigures(chosen.modelName)) {
    const unknown = `the prices of the model ${JSON.stringify(chosen.modelName)} are unknown`;
    const instead = `limit the number of model requests with ${nameOf('max-turns')} instead`;
    throw badOptions([`${nameOf('max-budget-usd')} cannot be checked: ${unknown}; ${instead}`]);
  }

  const root = configuration.context.home;
  const opened = await openConversation(flags, {
    root,
    cwd,
    claudeHome: configuration.context.claudeHome,
    entrypoint: env.CLAUDE_CODE_ENTRYPOINT,
    now,
    note,
    nameOf,
  });
  if ('missing' in opened) return unopened(link, opened.missing);
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
    memory: memoryOptions(configuration, { cwd, home: given.home, env }, plan.options.rules),
    environment: {
      cwd,
      platform: process.platform,
      system: `${type()} ${release()}`,
      env: given.env,
      startedAt: now(),
    },
    pins: openPins(join(root, 'pins'), { mode: opened.kept.transcript ? 'write' : 'read', note }),
    configured: configuredNames(running),
    definitions: definitionSource(running, flags),
    ruleStore,
    model: chosen.model,
    modelName: chosen.modelName,
    resolveModelName: chosen.resolveName,
    defaultModelName: chosen.defaultModelName,
    planModelName: chosen.planModelName,
    planNameOf: chosen.planNameOf,
    models: listModels(chosen.modelName, env),
    account: describeAccount(chosen.modelName, env),
    effortOf: chosen.effortOf,
    providerOf: chosen.providerOf,
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

/** Like the `claude` CLI, the agent sends an error result and ends without an answer to `initialize`. */
async function unopened(
  link: AgentLink,
  { sessionId, reason }: { readonly sessionId: string; readonly reason: string },
): Promise<UnopenedSession> {
  await link.send({ ...unopenedMessage(reason), session_id: sessionId, uuid: randomUUID() });
  await link.close();
  return { done: Promise.resolve(), hasFailed: true };
}

/** Compiles `--json-schema`, so that an invalid schema is an error at launch. */
async function compileOutput({ flags: { jsonSchema }, nameOf }: ParsedFlags, env: Environment) {
  if (!jsonSchema) return { options: {}, errors: [], notes: [] };
  const { maxAttempts, notes } = readOutputSettings(env);
  const output = await StructuredOutput.compile(jsonSchema, maxAttempts);
  if (output instanceof StructuredOutput) return { options: { output }, errors: [], notes };
  return {
    options: {},
    errors: [`${nameOf('json-schema')} is not a valid JSON Schema: ${output.fault}`],
    notes,
  };
}

/** Servers that the program itself configured have no scope, which is reported as `dynamic`. */
function configuredNames(running: RunningConfiguration): ConfiguredNames {
  return {
    scopeOf: (name) => (running.scopeOf(name) === 'program' ? undefined : running.scopeOf(name)),
    inactive: () => running.inactive(),
  };
}

/** The files of skills, commands, kinds of sub-agents and output styles. Settings and approvals may change in the session. */
function definitionSource(running: RunningConfiguration, flags: AgentFlags): DefinitionSource {
  const { context } = running.current;
  const scopes = flags.settingSources;
  const byFlag = (flags.pluginDirsNoMcp ?? []).map((it) => resolve(context.cwd, it));
  const added = byFlag.map((directory) => ({ name: basename(directory), directory }));
  return {
    context,
    roots: () =>
      definitionRoots(context, {
        ...(scopes && { scopes }),
        plugins: [...running.current.plugins, ...added],
      }),
    isApproved: ({ path, text }) =>
      readApprovals(context.home).approvals.ofSettings(definitionContent(path, text)) === 'approved',
    outputStyle: () => running.current.settings.outputStyle,
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
  'broken-reply': 'unknown',
  'reply-limit': 'unknown',
  refused: 'unknown',
  unauthorized: 'authentication_failed',
  'bad-request': 'invalid_request',
  'bad-image': 'invalid_request',
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
