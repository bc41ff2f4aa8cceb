import type { ConfigContext } from '../config-context.ts';
import { type Document, MIGRATIONS, readDocument } from '../files/read-document.ts';
import type { ConfigDiagnostic, Source } from '../model.ts';
import { type ConfigPaths, homeLabel, projectLabel } from './config-paths.ts';
import { contentFaults, readServers, type ServersKind } from './read-servers.ts';
import { type FileState, fileState, type SettingsSource } from './source-types.ts';

/** What stands in the files that are always looked for; the lowest first. */
export type FoundFiles = {
  readonly servers: readonly Source[];
  readonly settings: readonly SettingsSource[];
  readonly faults: readonly ConfigDiagnostic[];
  readonly unreadPolicies: readonly string[];
  readonly files: readonly FileState[];
};

/** One file that is looked for, and what it may hold. */
type ConfigFile = {
  readonly scope: SettingsSource['scope'];
  readonly path: string;
  readonly label: string;
  readonly holds: 'servers' | 'settings' | 'both';
  readonly within?: string;
};

/** Reads all of them; of user, project and local only the `scopes` that are given, if they are. */
export async function readFiles(
  context: ConfigContext,
  places: ConfigPaths,
  scopes: readonly string[] | undefined,
): Promise<FoundFiles> {
  const files = configFiles(context, places);
  const isLeftOut = ({ scope }: ConfigFile) =>
    scope !== 'managed' && scopes !== undefined && !scopes.includes(scope);
  const found = await Promise.all(
    files.map(async (file) => ({ file, document: isLeftOut(file) ? undefined : await read(file) })),
  );
  const settings = found.filter(({ file }) => file.holds !== 'servers');
  const broken = settings.filter(({ document }) => document?.state === 'unusable');
  return {
    servers: found.flatMap(({ file, document }) => serversOf(file, document)),
    settings: settings.flatMap(({ file, document }) => settingsOf(file, document)),
    // What is wrong with a file that may hold servers stands with those.
    faults: settings.flatMap(({ file, document }) =>
      file.holds === 'both' || !document ? [] : contentFaults(document, file),
    ),
    unreadPolicies: broken.flatMap(({ file }) => (file.scope === 'managed' ? [file.label] : [])),
    files: found.flatMap(({ file: { path, label }, document }) =>
      document ? [fileState(path, label, document)] : [],
    ),
  };
}

function configFiles(context: ConfigContext, places: ConfigPaths): ConfigFile[] {
  const { within, user, project, shared, local, managedServers, managedSettings } = places;
  const inProject = (scope: 'project' | 'local', holds: ConfigFile['holds']) => (path: string) =>
    ({ scope, path, label: projectLabel(path, context), holds, within }) as const;
  const ofMachine = (holds: ConfigFile['holds']) => (path: string) =>
    ({ scope: 'managed', path, label: homeLabel(path, context), holds }) as const;
  return [
    { scope: 'user', path: user, label: homeLabel(user, context), holds: 'both' },
    ...project.map(inProject('project', 'servers')),
    ...shared.map(inProject('project', 'settings')),
    ...local.map(inProject('local', 'both')),
    ...managedServers.map(ofMachine('servers')),
    ...managedSettings.map(ofMachine('settings')),
  ];
}

function read({ path, holds, within }: ConfigFile): Promise<Document> {
  return readDocument(path, {
    ...(within !== undefined && { within }),
    // `.mcp.json` is everybody's, and its version, should it have one, not ours.
    ...(holds !== 'servers' && { migrations: MIGRATIONS.settings }),
  });
}

function serversOf({ scope, label, path, holds }: ConfigFile, document: Document | undefined): Source[] {
  if (holds === 'settings') return [];
  if (!document) return [{ scope, label, path, state: 'absent', leftOut: true, servers: [], faults: [] }];
  const kind: ServersKind = holds === 'both' ? 'settings' : 'file';
  return [readServers(document, { scope, label, path, kind })];
}

function settingsOf({ scope, label, path }: ConfigFile, document: Document | undefined): SettingsSource[] {
  if (document?.state !== 'read') return [];
  const { value, locate } = document;
  return [{ scope, label, path, value, locate }];
}
