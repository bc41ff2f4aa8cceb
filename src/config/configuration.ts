import { approvalsPath } from './approval/approval-store.ts';
import { type Approvals, readApprovals } from './approval/approvals.ts';
import type { ConfigContext } from './config-context.ts';
import { mergeServers } from './merge/merge-servers.ts';
import { type Policy, readPolicy } from './merge/policy.ts';
import type { ConfigDiagnostic, Merged } from './model.ts';
import { mergeSettings, type Settings, type UnusedKeys } from './settings/merge-settings.ts';
import { homeLabel } from './sources/config-paths.ts';
import { findSources } from './sources/find-sources.ts';
import type { ConfigFlags, FoundSources } from './sources/source-types.ts';

/** The complete configuration, with the source of each part. */
export type Configuration = ConfigInputs & {
  readonly settings: Settings;
  readonly merged: Merged;
  readonly policy: Policy;
  /** All problems, each once, in the order of the sources. */
  readonly faults: readonly ConfigDiagnostic[];
  readonly unused: readonly UnusedKeys[];
};

/** Everything that was read, before it is merged. */
export type ConfigInputs = FoundSources & {
  readonly context: ConfigContext;
  readonly flags: ConfigFlags;
  /** System time when reading began. */
  readonly readAt: number;
  readonly approvals: Approvals;
  /** Why the approvals could not be read. */
  readonly approvalsFault?: string;
};

/** Reads every source and merges them; never rejects: problems are in `faults`. */
export async function readConfiguration(
  context: ConfigContext,
  flags: ConfigFlags = {},
): Promise<Configuration> {
  const readAt = Date.now();
  const found = findSources(context, flags);
  const { approvals, fault } = readApprovals(context.home);
  const path = approvalsPath(context.home);
  const state = fault === undefined ? 'read' : 'unusable';
  return mergeConfiguration({
    ...found,
    files: [...found.files, { path, label: homeLabel(path, context), state }],
    context,
    flags,
    readAt,
    approvals,
    ...(fault !== undefined && { approvalsFault: fault }),
  });
}

/** Merges what was read; depends on nothing else. */
export function mergeConfiguration(inputs: ConfigInputs): Configuration {
  const { sources, settingsSources, approvals, approvalsFault } = inputs;
  // Highest precedence first, so that the system's own policy is named before others.
  const managed = settingsSources.filter(({ scope }) => scope === 'managed').reverse();
  const { policy, faults: policyFaults } = readPolicy(managed, inputs.unreadPolicies);
  const { settings, faults: settingsFaults, unused } = mergeSettings(settingsSources, approvals);
  const merged = mergeServers({
    sources,
    approvals,
    policy,
    overrides: settings.overrides,
    isStrict: inputs.flags.isStrict === true,
    programNames: Object.keys(inputs.program),
    placeOf: ({ name, scope, label, path }) =>
      settingsSources
        .find((it) => it.scope === scope && it.label === label && it.path === path)
        ?.locate(['serverSettings', name]),
  });
  return {
    ...inputs,
    settings,
    merged,
    policy,
    faults: [
      ...sources.flatMap((it) => it.faults),
      ...inputs.sourceFaults,
      ...policyFaults,
      ...settingsFaults,
      ...merged.faults,
      ...(approvalsFault === undefined
        ? []
        : [{ level: 'error', scope: 'user', label: 'choices', message: approvalsFault } as const]),
    ],
    unused,
  };
}
