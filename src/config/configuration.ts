import { choicesPath } from './approval/approval-store.ts';
import { type Choices, readChoices } from './approval/approvals.ts';
import type { ConfigWorld } from './config-context.ts';
import { mergeServers } from './merge/merge-servers.ts';
import { type Policy, readPolicy } from './merge/policy.ts';
import type { ConfigFault, Merged, Source } from './model.ts';
import { mergeSettings, type Settings } from './settings/merge-settings.ts';
import { homeLabel } from './sources/config-paths.ts';
import { findSources } from './sources/find-sources.ts';
import type { FileState, Found, SettingsSource, Wanted } from './sources/source-types.ts';

/** Everything that is configured here and now, with where it comes from. */
export type Configuration = {
  readonly world: ConfigWorld;
  readonly wanted: Wanted;
  /** When reading began, by the system's clock. */
  readonly readAt: number;
  /** What all of it was made of. */
  readonly gathered: Gathered;
  /** Every file that says something, whether it is there or not. */
  readonly files: Found['files'];
  /** The repository, if the directory belongs to one. */
  readonly root?: string;
  /** The lowest first. */
  readonly sources: readonly Source[];
  readonly settingsSources: readonly SettingsSource[];
  readonly settings: Settings;
  readonly merged: Merged;
  /** Servers in the program itself that `--mcp-config` names. */
  readonly program: Found['program'];
  readonly connectors: Found['connectors'];
  readonly policy: Policy;
  readonly choices: Choices;
  /** What is wrong, each thing once, in the order of the sources. */
  readonly faults: readonly ConfigFault[];
  /** Managed settings that are there and cannot be read: nobody knows what they forbid, so nothing may be started. */
  readonly unreadPolicies: readonly string[];
  /** Members of settings that other programs use and we do not, a line each. */
  readonly unused: readonly string[];
};

/** What was read, before it is put together. */
export type Gathered = {
  readonly world: ConfigWorld;
  readonly wanted: Wanted;
  readonly readAt: number;
  readonly found: Found;
  readonly choices: Choices;
  /** Why nothing is known of what was approved. */
  readonly choicesFault?: string;
};

/** Reads every source and merges them; never rejects: what cannot be used stands in `faults`. */
export async function readConfiguration(world: ConfigWorld, wanted: Wanted = {}): Promise<Configuration> {
  const readAt = Date.now();
  const [read, { choices, fault }] = await Promise.all([findSources(world, wanted), readChoices(world.home)]);
  const found = { ...read, files: [...read.files, choicesFile(world, fault)] };
  return configurationOf({
    world,
    wanted,
    readAt,
    found,
    choices,
    ...(fault !== undefined && { choicesFault: fault }),
  });
}

/** Puts together what was read; the same gives the same. */
export function configurationOf(gathered: Gathered): Configuration {
  const { world, wanted, readAt, found, choices, choicesFault: fault } = gathered;
  // The highest first: what the system's own forbid is told before what others do.
  const managed = found.settings.filter(({ scope }) => scope === 'managed').reverse();
  const { policy, faults: ofPolicy } = readPolicy(managed, found.unreadPolicies);
  const { settings, faults: ofSettings, notes } = mergeSettings(found.settings, choices);
  const merged = mergeServers({
    sources: found.sources,
    choices,
    policy,
    overrides: settings.overrides,
    isStrict: wanted.isStrict === true,
    programNames: Object.keys(found.program),
    placeOf: ({ name, scope, label, path }) =>
      found.settings
        .find((it) => it.scope === scope && it.label === label && it.path === path)
        ?.locate(['serverSettings', name]),
  });
  const { root } = found;
  return {
    world,
    wanted,
    readAt,
    gathered,
    files: found.files,
    program: found.program,
    connectors: found.connectors,
    unreadPolicies: found.unreadPolicies,
    ...(root !== undefined && { root }),
    sources: found.sources,
    settingsSources: found.settings,
    settings,
    merged,
    policy,
    choices,
    faults: [
      ...found.sources.flatMap((it) => it.faults),
      ...found.faults,
      ...ofPolicy,
      ...ofSettings,
      ...merged.faults,
      ...(fault === undefined
        ? []
        : [{ level: 'error', scope: 'user', label: 'choices', message: fault } as const]),
    ],
    unused: notes,
  };
}

function choicesFile(world: ConfigWorld, fault: string | undefined): FileState {
  const path = choicesPath(world.home);
  return { path, label: homeLabel(path, world), state: fault === undefined ? 'read' : 'unusable' };
}
