import { resolve } from 'node:path';
import type { ConfigContext } from '../config-context.ts';
import { type Document, FILE_VERSION, readDocument } from '../files/read-document.ts';
import { SCOPES, type Scope, type Source } from '../model.ts';
import { type ConfigPaths, findConfigPaths, homeLabel, pathLabel, projectLabel } from './config-paths.ts';
import { pluginDirectories, readPlugin } from './plugins.ts';
import { connectorSettings, connectorSource } from './read-connectors.ts';
import { readFlags } from './read-flags.ts';
import { documentFaults, readServers } from './read-servers.ts';
import {
  type ConfigFlags,
  compareSettings,
  type FoundSources,
  fileState,
  type SettingsSource,
  settingsSources,
} from './source-types.ts';

/** Reads every source of configuration; never throws and uses no network. */
export function findSources(context: ConfigContext, flags: ConfigFlags): FoundSources {
  const paths = findConfigPaths(context);
  const files = configFiles(context, paths).map((file) => ({
    file,
    document: isExcluded(file, flags) ? undefined : readFile(file),
  }));
  const settingsFiles = files.filter(({ file }) => file.holds !== 'servers');
  const fromFlags = readFlags(flags, context.cwd);
  const settings = lowestFirst([
    ...settingsFiles.flatMap(({ file, document }) => settingsSources(file, document)),
    ...fromFlags.settings,
  ]);
  // Only user and managed settings may add plugins and connectors.
  const naming = settings.filter(({ scope }) => scope === 'user' || scope === 'managed');
  const ofPlugins = naming.map((it) => pluginDirectories(it, context));
  const ofConnectors = naming.map((it) => connectorSettings(it));
  const directories = [
    ...ofPlugins.flatMap((it) => it.directories),
    ...(flags.pluginDirs ?? []).filter((it) => it !== '').map((it) => resolve(context.cwd, it)),
  ];
  const plugins = lastOfEach(directories, (it) => it).map((directory) => ({
    directory,
    ...readPlugin(directory, (path) => pathLabel(path, context)),
  }));
  const connectors = lastOfEach(
    ofConnectors.flatMap((it) => it.connectors),
    ({ url }) => url,
  );
  const catalogs = connectors.map((it) => connectorSource(it, context.home));
  const { root } = paths;
  return {
    ...(root !== undefined && { root }),
    sources: inScopeOrder([
      ...catalogs,
      ...plugins.flatMap((it) => it.sources),
      ...files.flatMap(({ file, document }) => serversOf(file, document)),
      ...fromFlags.servers,
    ]),
    settingsSources: settings,
    connectors,
    plugins: plugins.map(({ name, directory }) => ({ name, directory })),
    program: Object.fromEntries(fromFlags.program),
    sourceFaults: [
      // Problems of files that may also hold servers are in `sources`.
      ...settingsFiles.flatMap(({ file, document }) =>
        file.holds === 'both' || !document ? [] : documentFaults(document, file),
      ),
      ...fromFlags.faults,
      ...[...ofPlugins, ...ofConnectors].flatMap((it) => it.faults),
    ],
    unreadPolicies: settingsFiles.flatMap(({ file, document }) =>
      file.scope === 'managed' && document?.state === 'unusable' ? [file.label] : [],
    ),
    files: [
      ...files.flatMap(({ file: { path, label }, document }) =>
        document ? [fileState(path, label, document)] : [],
      ),
      ...fromFlags.files,
      ...plugins.flatMap((it) => it.files),
      ...catalogs.flatMap(({ path, label, state }) => (path === undefined ? [] : [{ path, label, state }])),
    ],
  };
}

/** A configuration file at a well-known path, and what it may contain. */
type ConfigFile = {
  readonly scope: SettingsSource['scope'];
  readonly path: string;
  readonly label: string;
  readonly holds: 'servers' | 'settings' | 'both';
  readonly format?: 'claude';
  readonly within?: string;
};

/** The files at well-known paths, lowest precedence first. */
function configFiles(context: ConfigContext, paths: ConfigPaths): ConfigFile[] {
  const { within, user, project, shared, local, claude, managedServers, managedSettings } = paths;
  const inProject = (scope: 'project' | 'local', holds: ConfigFile['holds']) => (path: string) =>
    ({ scope, path, label: projectLabel(path, context), holds, within }) as const;
  const managed = (holds: ConfigFile['holds']) => (path: string) =>
    ({ scope: 'managed', path, label: homeLabel(path, context), holds }) as const;
  const ofClaude = (file: ConfigFile) => ({ ...file, format: 'claude' }) as const;
  return [
    ...[
      {
        scope: 'user',
        path: claude.user,
        label: homeLabel(claude.user, context),
        holds: 'settings',
      } as const,
      ...claude.shared.map(inProject('project', 'settings')),
      ...claude.local.map(inProject('local', 'settings')),
    ].map(ofClaude),
    { scope: 'user', path: user, label: homeLabel(user, context), holds: 'both' },
    ...project.map(inProject('project', 'servers')),
    ...shared.map(inProject('project', 'settings')),
    ...local.map(inProject('local', 'both')),
    ...managedServers.map(managed('servers')),
    ...managedSettings.map(managed('settings')),
    ofClaude(managed('settings')(claude.managed)),
  ];
}

/** Whether `--setting-sources` excludes the file; managed files cannot be excluded. */
function isExcluded({ scope }: ConfigFile, { scopes }: ConfigFlags): boolean {
  return scope !== 'managed' && scopes !== undefined && !scopes.includes(scope);
}

function readFile({ path, holds, format, within }: ConfigFile): Document {
  return readDocument(path, {
    ...(within !== undefined && { within }),
    // Other programs share `.mcp.json` and `.claude`, so a version in them is not Toolplane's.
    ...(holds !== 'servers' && format === undefined && { version: FILE_VERSION }),
  });
}

function serversOf({ scope, label, path, holds }: ConfigFile, document: Document | undefined): Source[] {
  if (holds === 'settings') return [];
  if (!document) return [{ scope, label, path, state: 'absent', leftOut: true, servers: [], faults: [] }];
  return [readServers(document, { scope, label, path, kind: holds === 'both' ? 'settings' : 'file' })];
}

/** Of managed settings the first has the highest precedence: the system's own over those of a variable or a flag. */
function lowestFirst(settings: readonly SettingsSource[]): SettingsSource[] {
  const managed = settings.filter(({ scope }) => scope === 'managed');
  const others = settings.filter(({ scope }) => scope !== 'managed');
  return [...others.toSorted(compareSettings), ...managed.reverse()];
}

/** Sorts by scope, lowest precedence first, and keeps the order within a scope. */
function inScopeOrder<T extends { readonly scope: Scope }>(found: readonly T[]): T[] {
  return found.toSorted((one, other) => SCOPES.indexOf(one.scope) - SCOPES.indexOf(other.scope));
}

/** Removes duplicates and keeps the last of each. */
function lastOfEach<T>(all: readonly T[], key: (one: T) => string): T[] {
  const last = new Map<string, T>();
  for (const one of all) {
    last.delete(key(one));
    last.set(key(one), one);
  }
  return [...last.values()];
}
