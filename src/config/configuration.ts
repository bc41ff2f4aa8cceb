import { approvalsPath } from './approval/approval-store.ts';
import { type Approvals, readApprovals } from './approval/approvals.ts';
import type { ConfigContext } from './config-context.ts';
import { mergeServers } from './merge/merge-servers.ts';
import { type Policy, readPolicy } from './merge/policy.ts';
import type { ConfigDiagnostic, Merged, Source } from './model.ts';
import { mergeSettings, type Settings } from './settings/merge-settings.ts';
import { homeLabel } from './sources/config-paths.ts';
import { findSources } from './sources/find-sources.ts';
import type { ConfigFlags, FileState, FoundSources, SettingsSource } from './sources/source-types.ts';

/** Everything that is configured here and now, with where it comes from. */
export type Configuration = {
  readonly context: ConfigContext;
  readonly flags: ConfigFlags;
  /** When reading began, by the system's clock. */
  readonly readAt: number;
  /** What all of it was made of. */
  readonly gathered: Gathered;
  /** Every file that says something, whether it is there or not. */
  readonly files: FoundSources['files'];
  /** The repository, if the directory belongs to one. */
  readonly root?: string;
  /** The lowest first. */
  readonly sources: readonly Source[];
  readonly settingsSources: readonly SettingsSource[];
  readonly settings: Settings;
  readonly merged: Merged;
  /** Servers in the program itself that `--mcp-config` names. */
  readonly program: FoundSources['program'];
  readonly connectors: FoundSources['connectors'];
  readonly policy: Policy;
  readonly approvals: Approvals;
  /** What is wrong, each thing once, in the order of the sources. */
  readonly faults: readonly ConfigDiagnostic[];
  /** Managed settings that are there and cannot be read: nobody knows what they forbid, so nothing may be started. */
  readonly unreadPolicies: readonly string[];
  /** Members of settings that other programs use and we do not, a line each. */
  readonly unused: readonly string[];
};

/** What was read, before it is put together. */
export type Gathered = {
  readonly context: ConfigContext;
  readonly flags: ConfigFlags;
  readonly readAt: number;
  readonly found: FoundSources;
  readonly approvals: Approvals;
  /** Why nothing is known of what was approved. */
  readonly approvalsFault?: string;
};

/** Reads every source and merges them; never rejects: what cannot be used stands in `faults`. */
export async function readConfiguration(
  context: ConfigContext,
  flags: ConfigFlags = {},
): Promise<Configuration> {
  const readAt = Date.now();
  const [read, { choices, fault }] = await Promise.all([
    findSources(context, flags),
    readApprovals(context.home),
  ]);
  const found = { ...read, files: [...read.files, approvalsFile(context, fault)] };
  return configurationOf({
    context,
    flags,
    readAt,
    found,
    approvals: choices,
    ...(fault !== undefined && { approvalsFault: fault }),
  });
}

/** Puts together what was read; the same gives the same. */
export function configurationOf(gathered: Gathered): Configuration {
  const { context, flags, readAt, found, approvals: choices, approvalsFault: fault } = gathered;
  // The highest first: what the system's own forbid is told before what others do.
  const managed = found.settings.filter(({ scope }) => scope === 'managed').reverse();
  const { policy, faults: ofPolicy } = readPolicy(managed, found.unreadPolicies);
  const { settings, faults: ofSettings, notes } = mergeSettings(found.settings, choices);
  const merged = mergeServers({
    sources: found.sources,
    approvals: choices,
    policy,
    overrides: settings.overrides,
    isStrict: flags.isStrict === true,
    programNames: Object.keys(found.program),
    placeOf: ({ name, scope, label, path }) =>
      found.settings
        .find((it) => it.scope === scope && it.label === label && it.path === path)
        ?.locate(['serverSettings', name]),
  });
  const { root } = found;
  return {
    context,
    flags,
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
    approvals: choices,
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

function approvalsFile(context: ConfigContext, fault: string | undefined): FileState {
  const path = approvalsPath(context.home);
  return { path, label: homeLabel(path, context), state: fault === undefined ? 'read' : 'unusable' };
}
