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
import type { ModelErrorCode } from '../models/model.ts';
import type { RetryEvent } from '../models/retry.ts';
import { AgentSession } from '../session/agent-session.ts';
import type { ConfiguredNames } from '../session/server-status.ts';
import { chooseModel } from './choose-model.ts';
import type { AgentFlags } from './flag-table.ts';
import { openConversation } from './open-conversation.ts';
import type { ParsedFlags } from './parse-flags.ts';
import {
  configEnvironment,
  type LaunchEnvironment,
  planSession,
  readPromptFiles,
  readRequestSettings,
  requestedSources,
} from './plan-session.ts';

/** What an agent is started with, as a process or in one. */
export type Launch = LaunchEnvironment & {
  /** Its command line, or the options of a program in this process. */
  readonly flags: ParsedFlags;
  readonly now: () => Date;
  /** Hears what has no effect, one line each. */
  readonly note: (text: string) => void;
  /** Ends the session before the program does. */
  readonly signal: AbortSignal;
};

/** Starts a session. Rejects with one `SdkError` that names everything wrong with the flags, and then nothing was started. */
export async function launch(link: AgentLink, given: Launch): Promise<AgentSession> {
  const { note, now, signal } = given;
  const cwd = directory(given.cwd);
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
  const fatal = fatalMessages(configuration);
  const faults = [...parsed.faults, ...prompts.faults, ...fatal, ...plan.faults];
  if (faults.length > 0) throw refusal(faults);
  for (const text of [...parsed.notes, ...startupMessages(configuration), ...plan.notes]) note(text);

  const root = configuration.world.home;
  const opened = await openConversation(flags, { root, cwd, now, note });
  if ('fault' in opened) throw refusal([opened.fault]);

  const model = flags.model ?? settings.model;
  const around = { cwd, home: given.home, note };
  const ruleStore = launchRules(flags, plan.options.rules, configuration, around);
  let session: AgentSession | undefined;
  const requests = readRequestSettings(flags, env);
  for (const text of requests.notes) note(text);
  const retry = { ...requests.retry, onRetry: (event: RetryEvent) => session?.emit(retryMessage(event)) };
  const chosen = chooseModel({ ...flags, ...(model !== undefined && { model }) }, env, {
    cwd,
    retry,
    ...requests.timeout,
  });
  session = new AgentSession(link, {
    ...plan.options,
    ...opened.kept,
    // A session that leaves nothing on disk leaves this neither.
    connect: {
      ...plan.options.connect,
      expand: running.expand,
      ...memories(root, opened.kept.transcript ? 'disk' : 'memory'),
    },
    pins: openPins(join(root, 'pins'), { mode: opened.kept.transcript ? 'write' : 'read', note }),
    configured: namesOf(running),
    ruleStore,
    model: chosen.model,
    modelName: chosen.modelName,
    note,
    signal,
  });
  const servers = session.servers;
  running.follow({
    note,
    // What is saved while the session lasts counts in it.
    configure(entries, now, before) {
      // First what forbids, whatever becomes of the servers.
      ruleStore.renew(placedRules(now.settings, around));
      const applied = stepsText(servers.configure(entries));
      // Dialled anew they fail, and say why.
      for (const name of running.forbidden(before, now, servers.all)) void servers.reconnect(name);
      for (const text of [...(applied ? [applied] : []), ...newStartupMessages(before, now)]) note(text);
    },
  });
  const end = () => running[Symbol.dispose]();
  session.done.then(end, end);
  return session;
}

/** To a program, what it gave itself is dynamic. */
function namesOf(running: RunningConfiguration): ConfiguredNames {
  return {
    scopeOf: (name) => (running.scopeOf(name) === 'program' ? undefined : running.scopeOf(name)),
    inactive: () => running.aside(),
  };
}

/** What is known of servers from one session to the next. */
function memories(root: string, where: 'disk' | 'memory'): Pick<ConnectContext, 'eraCache' | 'toolCache'> {
  if (where === 'memory') return { eraCache: memoryEraCache() };
  const cache = join(root, 'cache');
  return {
    eraCache: fileEraCache(join(cache, 'eras.json')),
    toolCache: fileToolCache(join(cache, 'catalogue')),
  };
}

function refusal(faults: readonly string[]): SdkError {
  return new SdkError('bad-option', faults.join('; '));
}

/** Permissions compare paths as texts, so the directory's own one counts. Two calls of microseconds need no thread. */
function directory(cwd: string): string {
  const found = statSync(cwd, { throwIfNoEntry: false });
  if (!found?.isDirectory()) throw new SdkError('spawn-failed', `${cwd} is no directory to run an agent in`);
  return realpathSync.native(cwd);
}

/** The `api_retry` message; `endpoint`, `reason` and `fallback_model` are additions to the official fields. */
function retryMessage({ error, failures, maxRetries, delayMs, kind, model }: RetryEvent): Frame {
  return {
    type: 'system',
    subtype: 'api_retry',
    attempt: failures,
    max_retries: maxRetries,
    retry_delay_ms: delayMs,
    error_status: error.status ?? null,
    error: RETRY_ERRORS[error.code],
    ...(error.endpoint !== undefined && { endpoint: error.endpoint }),
    ...(error.reason !== undefined && { reason: error.reason }),
    ...(kind === 'fallback' && { fallback_model: model }),
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

/** The rules a session begins with, of flags and files, in a store that keeps "always allow" in files. */
export function launchRules(
  flags: AgentFlags,
  rules: readonly Rule[],
  { world, settings }: Configuration,
  around: Pick<LaunchEnvironment, 'cwd' | 'home'> & { note(text: string): void },
): FileRuleStore {
  const first = placedRules(settings, around);
  const mode = flags.skipPermissions ? 'bypassPermissions' : flags.permissionMode;
  const added = (flags.addDirs ?? []).map((path) => ({
    path: absolute(path, around),
    source: 'cliArg' as const,
  }));
  return fileRuleStore({
    world,
    note: around.note,
    initial: {
      rules,
      modes: { ...first.modes, ...(mode && { cliArg: mode }) },
      directories: [...added, ...first.directories],
    },
  });
}

/** What files say of permissions, with directories as paths are compared. */
export function placedRules(
  { permissions }: Pick<Settings, 'permissions'>,
  around: Pick<LaunchEnvironment, 'cwd' | 'home'>,
): RuleSet {
  const directories = permissions.directories.map((it) => ({ ...it, path: absolute(it.path, around) }));
  return { ...permissions, directories };
}

function absolute(path: string, { cwd, home }: Pick<LaunchEnvironment, 'cwd' | 'home'>): string {
  return absolutePath(path, { cwd, home, directories: [] });
}
