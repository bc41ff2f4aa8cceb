import { resolve } from 'node:path';
import type { ConfigContext } from '../config-context.ts';
import { SCOPES, type Scope } from '../model.ts';
import { findConfigPaths, pathLabel } from './config-paths.ts';
import { connectorSettings, connectorSource } from './connectors.ts';
import { pluginDirectories, readPlugin } from './plugins.ts';
import { readFiles } from './read-files.ts';
import { readFlags } from './read-flags.ts';
import type { ConfigFlags, FoundSources, SettingsSource } from './source-types.ts';

/** Looks everywhere; never rejects, and asks nobody on the network. */
export async function findSources(context: ConfigContext, flags: ConfigFlags): Promise<FoundSources> {
  const places = findConfigPaths(context);
  const [files, fromFlags] = await Promise.all([
    readFiles(context, places, flags.scopes),
    readFlags(flags, context.cwd),
  ]);
  const settings = lowestFirst([...files.settings, ...fromFlags.settings]);
  // What leads to servers from elsewhere is for the person and for those who run the machine to say.
  const naming = settings.filter(({ scope }) => scope === 'user' || scope === 'managed');
  const ofPlugins = naming.map((it) => pluginDirectories(it, context));
  const ofConnectors = naming.map((it) => connectorSettings(it));
  const directories = [
    ...ofPlugins.flatMap((it) => it.directories),
    // An empty one names nothing.
    ...(flags.pluginDirs ?? []).filter((it) => it !== '').map((it) => resolve(context.cwd, it)),
  ];
  const connectors = lastOfEach(
    ofConnectors.flatMap((it) => it.connectors),
    ({ url }) => url,
  );
  const [plugins, catalogues] = await Promise.all([
    Promise.all(
      lastOfEach(directories, (it) => it).map((it) => readPlugin(it, (path) => pathLabel(path, context))),
    ),
    Promise.all(connectors.map((it) => connectorSource(it, context.home))),
  ]);
  const { root } = places;
  return {
    ...(root !== undefined && { root }),
    sources: inOrder([
      ...catalogues,
      ...plugins.flatMap((it) => it.sources),
      ...files.servers,
      ...fromFlags.servers,
    ]),
    settings,
    connectors,
    program: Object.fromEntries(fromFlags.program),
    faults: [
      ...files.faults,
      ...fromFlags.faults,
      ...[...ofPlugins, ...ofConnectors].flatMap((it) => it.faults),
    ],
    unreadPolicies: files.unreadPolicies,
    files: [
      ...files.files,
      ...fromFlags.files,
      ...plugins.flatMap((it) => it.files),
      ...catalogues.flatMap(({ path, label, state }) => (path === undefined ? [] : [{ path, label, state }])),
    ],
  };
}

/** Of managed settings those that come first are the highest: the system's own rule over what a variable or a flag adds. */
function lowestFirst(settings: readonly SettingsSource[]): SettingsSource[] {
  const managed = settings.filter(({ scope }) => scope === 'managed');
  return [...inOrder(settings.filter(({ scope }) => scope !== 'managed')), ...managed.reverse()];
}

/** By scope, the lowest first; within one, as they come. */
function inOrder<T extends { readonly scope: Scope }>(found: readonly T[]): T[] {
  return found.toSorted((one, other) => SCOPES.indexOf(one.scope) - SCOPES.indexOf(other.scope));
}

/** Of what is named twice the later counts. */
function lastOfEach<T>(all: readonly T[], key: (one: T) => string): T[] {
  const last = new Map<string, T>();
  for (const one of all) {
    last.delete(key(one));
    last.set(key(one), one);
  }
  return [...last.values()];
}
