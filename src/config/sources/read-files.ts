import type { ConfigWorld } from '../config-context.ts';
import { type Document, MIGRATIONS, readDocument } from '../files/read-document.ts';
import type { ConfigFault, Source } from '../model.ts';
import { homeLabel, type Places, projectLabel } from './config-paths.ts';
import { contentFaults, readServers, type ServersKind } from './read-servers.ts';
import { type FileState, fileState, type SettingsSource } from './source-types.ts';

/** What stands in the files that are always looked for; the lowest first. */
export type FoundFiles = {
  readonly servers: readonly Source[];
  readonly settings: readonly SettingsSource[];
  readonly faults: readonly ConfigFault[];
  readonly unreadPolicies: readonly string[];
  readonly files: readonly FileState[];
};

/** One file that is looked for, and what it may hold. */
type Wish = {
  readonly scope: SettingsSource['scope'];
  readonly path: string;
  readonly label: string;
  readonly holds: 'servers' | 'settings' | 'both';
  readonly within?: string;
};

/** Reads all of them; of user, project and local only the `scopes` that are given, if they are. */
export async function readFiles(
  world: ConfigWorld,
  places: Places,
  scopes: readonly string[] | undefined,
): Promise<FoundFiles> {
  const wishes = wishesOf(world, places);
  const isLeftOut = ({ scope }: Wish) =>
    scope !== 'managed' && scopes !== undefined && !scopes.includes(scope);
  const files = await Promise.all(
    wishes.map(async (wish) => ({ wish, document: isLeftOut(wish) ? undefined : await read(wish) })),
  );
  const settings = files.filter(({ wish }) => wish.holds !== 'servers');
  const broken = settings.filter(({ document }) => document?.state === 'unusable');
  return {
    servers: files.flatMap(({ wish, document }) => serversOf(wish, document)),
    settings: settings.flatMap(({ wish, document }) => settingsOf(wish, document)),
    // What is wrong with a file that may hold servers stands with those.
    faults: settings.flatMap(({ wish, document }) =>
      wish.holds === 'both' || !document ? [] : contentFaults(document, wish),
    ),
    unreadPolicies: broken.flatMap(({ wish }) => (wish.scope === 'managed' ? [wish.label] : [])),
    files: files.flatMap(({ wish: { path, label }, document }) =>
      document ? [fileState(path, label, document)] : [],
    ),
  };
}

function wishesOf(world: ConfigWorld, places: Places): Wish[] {
  const { within, user, project, shared, local, managedServers, managedSettings } = places;
  const inProject = (scope: 'project' | 'local', holds: Wish['holds']) => (path: string) =>
    ({ scope, path, label: projectLabel(path, world), holds, within }) as const;
  const ofMachine = (holds: Wish['holds']) => (path: string) =>
    ({ scope: 'managed', path, label: homeLabel(path, world), holds }) as const;
  return [
    { scope: 'user', path: user, label: homeLabel(user, world), holds: 'both' },
    ...project.map(inProject('project', 'servers')),
    ...shared.map(inProject('project', 'settings')),
    ...local.map(inProject('local', 'both')),
    ...managedServers.map(ofMachine('servers')),
    ...managedSettings.map(ofMachine('settings')),
  ];
}

function read({ path, holds, within }: Wish): Promise<Document> {
  return readDocument(path, {
    ...(within !== undefined && { within }),
    // `.mcp.json` is everybody's, and its version, should it have one, not ours.
    ...(holds !== 'servers' && { migrations: MIGRATIONS.settings }),
  });
}

function serversOf({ scope, label, path, holds }: Wish, document: Document | undefined): Source[] {
  if (holds === 'settings') return [];
  if (!document) return [{ scope, label, path, state: 'absent', leftOut: true, servers: [], faults: [] }];
  const kind: ServersKind = holds === 'both' ? 'settings' : 'file';
  return [readServers(document, { scope, label, path, kind })];
}

function settingsOf({ scope, label, path }: Wish, document: Document | undefined): SettingsSource[] {
  if (document?.state !== 'read') return [];
  const { value, locate } = document;
  return [{ scope, label, path, value, locate }];
}
