import { resolve } from 'node:path';
import type { Wanted } from '../../config/sources/wanted.ts';
import { type ConfigWorld, configWorld } from '../../config/world.ts';
import type { AgentFlags } from './flag-table.ts';
import type { Surroundings } from './surroundings.ts';

/** What the flags say about configuration. */
export function wantedConfiguration(flags: AgentFlags): Wanted {
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

/** Where configuration is looked for; a program may say that the project is elsewhere. */
export function launchWorld(
  { projectConfigRoot }: AgentFlags,
  { cwd, env, home }: Surroundings,
  platform: NodeJS.Platform,
): ConfigWorld {
  const root = projectConfigRoot === undefined ? cwd : resolve(cwd, projectConfigRoot);
  return configWorld({ cwd: root, env, userHome: home, platform });
}

/** Flags whose words are none of those they take. */
export function wantedFaults({ settingSources = [] }: AgentFlags): string[] {
  const unknown = settingSources.filter((it) => !SOURCES.includes(it));
  return unknown.map((it) => `--setting-sources takes ${SOURCES.join(', ')}, not ${JSON.stringify(it)}`);
}

const SOURCES: readonly string[] = ['user', 'project', 'local'];
