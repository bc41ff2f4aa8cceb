// "toolplane/host": the host half alone. It never loads the SDK half.
import './require-node.ts';
import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ConfigurationOptions, LoadedConfiguration } from '../config/running-configuration.ts';
import { checkConfigurationOptions } from '../host/check-host-options.ts';
import { Host } from '../host/host.ts';
import type { HostOptions } from '../host/host-options.ts';
import { HostError } from '../mcp/errors/host-error.ts';
import { VERSION } from './version.ts';

/** Creates a host and starts connecting its servers. `await using` closes it. */
export function createHost(options: HostOptions = {}): Host {
  const home = ownHome();
  const cacheDirectory = home === undefined ? undefined : join(home, 'cache');
  return new Host(options, { env: process.env, cwd: process.cwd(), version: VERSION, home, cacheDirectory });
}

/** Toolplane's directory of this user; undefined if the user has no home. */
function ownHome(): string | undefined {
  const { TOOLPLANE_HOME, HOME } = process.env;
  try {
    return TOOLPLANE_HOME ? resolve(TOOLPLANE_HOME) : join(HOME || homedir(), '.toolplane');
  } catch {
    return undefined;
  }
}

/**
 * Reads the configuration that applies to a directory: user, project, local, plugin, connector and managed
 * files. Pass the result to `createHost({ configuration })`, which starts its servers.
 */
export async function loadConfiguration(options: ConfigurationOptions = {}): Promise<LoadedConfiguration> {
  checkConfigurationOptions(options);
  const [{ readConfiguration }, { configContext }, { loadedConfiguration }] = await Promise.all([
    import('../config/configuration.ts'),
    import('../config/config-context.ts'),
    import('../config/running-configuration.ts'),
  ]);
  const { cwd = '.', env = process.env, mcpConfig, settingSources, strictMcpConfig, plugins } = options;
  const userHome = env.HOME || homedir();
  const context = configContext({
    cwd: directory(cwd),
    env,
    userHome,
    platform: process.platform,
  });
  const configuration = await readConfiguration(context, {
    isStrict: strictMcpConfig === true,
    ...(mcpConfig !== undefined && { mcpConfigs: [mcpConfig].flat() }),
    ...(settingSources && { scopes: settingSources }),
    ...(plugins && { pluginDirs: plugins }),
  });
  return loadedConfiguration(configuration, options.changes ? { changes: options.changes } : {});
}

/** The canonical path of the directory, by which projects are identified. */
function directory(cwd: string): string {
  const path = resolve(cwd);
  try {
    if (statSync(path).isDirectory()) return realpathSync.native(path);
  } catch {
    // The directory is missing or not readable.
  }
  throw new HostError('bad-config', '', `"cwd" is ${path}, which is not a readable directory`);
}

export type { ServerExplanation } from '../config/explain/explanation.ts';
export type {
  ConfigurationOptions,
  ConfiguredServerView,
  LoadedConfiguration,
} from '../config/running-configuration.ts';
export type { ChannelSetting } from '../config/settings/channel-settings.ts';
export type { Host } from '../host/host.ts';
export type { ChannelMessage, HostChannels } from '../host/host-channels.ts';
export type {
  HostAnswer,
  HostAuthOptions,
  HostCallOptions,
  HostEvent,
  HostEvents,
  HostHandlers,
  HostOptions,
  HostPrompt,
  HostResource,
  HostResourceTemplate,
  HostServerEntry,
  HostSkill,
  HostTool,
  InProcessEntry,
} from '../host/host-options.ts';
export type { PoolOptions, PoolSearch, PoolTool, ToolPool } from '../host/tool-pool.ts';
export type { AuthErrorCode, AuthStatus, AuthStore, OnAuthorize } from '../mcp/auth/auth-types.ts';
export { AuthError } from '../mcp/auth/auth-types.ts';
export type { IdentityProvider } from '../mcp/auth/token-grants.ts';
export type { CallRecord } from '../mcp/calls/journal.ts';
export type { ServerLog } from '../mcp/connection/connect-context.ts';
export { HostError, type HostErrorCode, ServerFault } from '../mcp/errors/host-error.ts';
export type {
  Completion,
  CompletionOf,
  FilledPrompt,
  PromptMessage,
  ReadResource,
} from '../mcp/features/feature-results.ts';
export type { Subscription } from '../mcp/features/subscriptions.ts';
export { NotReadyError, type Ready } from '../mcp/servers/ready.ts';
export type { ServerStatus } from '../mcp/servers/server-status.ts';
export type { Replaced } from '../mcp/servers/servers.ts';
export type { Difference } from '../pool/pinning/differences.ts';
export type { ToolChange } from '../pool/pinning/tool-change.ts';
export type { PoolDiagnostic } from '../pool/pool.ts';
