import type { RegisteredHook } from '../../hooks/match-hooks.ts';
import type { Rule } from '../../permissions/rule.ts';
import type { RuleSet } from '../../permissions/rule-store.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { Approvals } from '../approval/approvals.ts';
import { isRestriction } from '../approval/approved-content.ts';
import { diagnosticAt, limitDiagnostics } from '../files/diagnostics.ts';
import type { ConfigDiagnostic, ServerOverride } from '../model.ts';
import type { SettingsSource } from '../sources/source-types.ts';
import {
  type FileSettings,
  RULE_SOURCES,
  readSettings,
  TIMEOUTS,
  type TimeoutName,
} from './read-settings.ts';
import type { SettingDiagnostic } from './setting-keys.ts';

/** What all settings together say; of single values the highest counts. */
export type Settings = {
  readonly rules: readonly Rule[];
  readonly defaultMode?: PermissionMode;
  readonly forbidsBypass?: boolean;
  readonly directories: readonly string[];
  /** Rules, modes and directories with the place each was written in, as a rule store begins with them. */
  readonly permissions: RuleSet;
  readonly hooks: readonly RegisteredHook[];
  readonly env: Readonly<Record<string, string>>;
  readonly model?: string;
  /** `timeouts` of settings, each with the file that says so. */
  readonly timeouts: { readonly [name in TimeoutName]?: Sourced<number> };
  /** `serverSettings` of settings: what they say of servers beside their entries. */
  readonly overrides: readonly ServerOverride[];
  /** Settings files in the project of which only what forbids counts, since nobody approved them. */
  readonly pending: readonly {
    readonly label: string;
    readonly path: string;
    readonly choice: 'new' | 'changed';
  }[];
};

/** A value and where it stands. */
export type Sourced<T> = { readonly value: T; readonly label: string };

/** One file or flag, read, and as far as it counts. */
type Part = {
  readonly source: SettingsSource;
  readonly settings: FileSettings;
  /** What it forbids of servers although managed settings that stand above it may say otherwise. */
  readonly added: FileSettings['servers'];
  readonly pending?: 'new' | 'changed';
  readonly faults: readonly ConfigDiagnostic[];
  readonly elsewhere: readonly string[];
};

/**
 * Puts all settings together; the sources are the lowest first, and so are managed ones: what the system's own say beats
 * what a variable or a flag adds, which can forbid more and say what those leave open, and allows nothing.
 */
export function mergeSettings(
  sources: readonly SettingsSource[],
  choices: Pick<Approvals, 'ofSettings'>,
): {
  readonly settings: Settings;
  readonly faults: readonly ConfigDiagnostic[];
  readonly notes: readonly string[];
} {
  const ruling = sources.findLast(({ scope }) => scope === 'managed');
  const parts = sources.map((source) => readPart(source, choices, ruling));
  const all = parts.map(({ settings }) => settings);
  const defaultMode = last(all.map((it) => it.defaultMode));
  const model = last(all.map((it) => it.model));
  const rules = all.flatMap((it) => it.rules);
  const settings: Settings = {
    rules,
    ...(defaultMode !== undefined && { defaultMode }),
    ...(all.some((it) => it.forbidsBypass) && { forbidsBypass: true }),
    directories: [...new Set(all.flatMap((it) => it.directories))],
    permissions: { rules, modes: modesOf(parts), directories: parts.flatMap(placedDirectories) },
    hooks: all.flatMap((it) => it.hooks),
    env: Object.fromEntries(all.flatMap((it) => Object.entries(it.env))),
    ...(model !== undefined && { model }),
    timeouts: timeoutsOf(parts),
    overrides: [
      ...parts.flatMap(({ source, settings: { servers } }) => overridesOf(source, servers)),
      ...parts.flatMap(({ source, added }) => overridesOf(source, added, { isAdded: true })),
    ],
    pending: parts.flatMap(({ source: { label, path }, pending }) =>
      pending && path !== undefined ? [{ label, path, choice: pending }] : [],
    ),
  };
  return {
    settings,
    faults: parts.flatMap((it) => it.faults),
    notes: parts.flatMap(({ source, elsewhere }) =>
      elsewhere.map((key) => `${source.label}: "${key}" is not used`),
    ),
  };
}

/** Whether also what allows, runs or sets something counts: a file of the project has to be approved for that. */
export function isFullyActive(
  { pending }: Pick<Settings, 'pending'>,
  { path }: Pick<SettingsSource, 'path'>,
): boolean {
  return path === undefined || !pending.some((it) => it.path === path);
}

function readPart(
  source: SettingsSource,
  choices: Pick<Approvals, 'ofSettings'>,
  ruling: SettingsSource | undefined,
): Part {
  const { settings, faults, elsewhere } = readSettings(source.value, source.scope);
  const isFromElsewhere = source.scope === 'project' || source.scope === 'local';
  const choice = isFromElsewhere ? choices.ofSettings(source) : 'approved';
  const isBelow = source.scope === 'managed' && source !== ruling;
  const vain = isBelow ? allowingParts(settings) : [];
  const message = `has no effect: beside ${ruling?.label} managed settings can only forbid more`;
  const warnings = vain.map((path): SettingDiagnostic => ({ level: 'warning', path, message }));
  return {
    source,
    settings: partOf(settings, { isBelow, isApproved: choice === 'approved' }),
    added: isBelow ? restrictionsOnly(settings).servers : [],
    ...((choice === 'new' || choice === 'changed') && { pending: choice }),
    faults: limitDiagnostics([...faults, ...warnings].map((fault) => configFault(fault, source))),
    elsewhere,
  };
}

function partOf(settings: FileSettings, { isBelow, isApproved }: { isBelow: boolean; isApproved: boolean }) {
  if (!isApproved) return restrictionsOnly(settings);
  return isBelow ? withoutAllowing(settings) : settings;
}

function overridesOf(
  { scope, label, path }: SettingsSource,
  servers: FileSettings['servers'],
  more: Pick<ServerOverride, 'isAdded'> = {},
): ServerOverride[] {
  return servers.map((it) => ({ ...it, scope, label, ...(path !== undefined && { path }), ...more }));
}

/**
 * What was given for this run, or by those who run the machine, is taken whole or not at all: a guard that cannot be read
 * would not guard. So is a wish for a sandbox of the person's own.
 */
function configFault({ level, path, message }: SettingDiagnostic, source: SettingsSource): ConfigDiagnostic {
  const { scope } = source;
  const isFatal =
    scope === 'program' || scope === 'managed' || (scope === 'user' && path.join() === 'sandbox,enabled');
  return {
    ...diagnosticAt(source, path, message, level),
    ...(level === 'error' && isFatal && { isFatal: true }),
  };
}

function last<T>(values: readonly (T | undefined)[]): T | undefined {
  return values.findLast((it) => it !== undefined);
}

function modesOf(parts: readonly Part[]): RuleSet['modes'] {
  return Object.fromEntries(
    parts.flatMap(({ source: { scope }, settings: { defaultMode } }) =>
      defaultMode === undefined ? [] : [[RULE_SOURCES[scope], defaultMode]],
    ),
  );
}

function placedDirectories({ source: { scope }, settings }: Part): RuleSet['directories'] {
  return settings.directories.map((path) => ({ path, source: RULE_SOURCES[scope] }));
}

function timeoutsOf(parts: readonly Part[]): Settings['timeouts'] {
  const pairs = TIMEOUTS.flatMap((name) => {
    const warnings = parts.findLast(({ settings }) => settings.timeouts[name] !== undefined);
    const value = warnings?.settings.timeouts[name];
    return warnings && value !== undefined ? [[name, { value, label: warnings.source.label }] as const] : [];
  });
  return Object.fromEntries(pairs);
}

/** What counts of settings nobody approved: whatever takes away, and nothing that allows, runs or sets something. */
function restrictionsOnly({ rules, forbidsBypass, servers }: FileSettings): FileSettings {
  return {
    rules: rules.filter(({ effect }) => effect !== 'allow'),
    ...(forbidsBypass && { forbidsBypass }),
    directories: [],
    hooks: [],
    env: {},
    timeouts: {},
    servers: membersThat(isRestriction, servers),
  };
}

/** The rest of settings that may forbid and set something, and allow nothing: what forbids of servers is not in it. */
function withoutAllowing(settings: FileSettings): FileSettings {
  return {
    ...settings,
    rules: settings.rules.filter(({ effect }) => effect !== 'allow'),
    directories: [],
    servers: membersThat((member, value) => !isRestriction(member, value), settings.servers),
  };
}

function membersThat(
  isKept: (member: string, value: unknown) => boolean,
  servers: FileSettings['servers'],
): FileSettings['servers'] {
  return servers.flatMap(({ name, members }) => {
    const kept = Object.entries(members).filter(([member, value]) => isKept(member, value));
    if (kept.length === 0) return [];
    return [{ name, members: Object.fromEntries(kept) as ServerOverride['members'] }];
  });
}

/** Where such settings allow something in vain. */
function allowingParts({ rules, directories }: FileSettings): (readonly string[])[] {
  return [
    ...(rules.some(({ effect }) => effect === 'allow') ? [['permissions', 'allow']] : []),
    ...(directories.length > 0 ? [['permissions', 'additionalDirectories']] : []),
  ];
}

/** The mode a session begins in, if anybody named one: policy beats a flag, and a flag all other settings. */
export function effectiveMode(
  { permissions, defaultMode }: Pick<Settings, 'permissions' | 'defaultMode'>,
  flag: PermissionMode | undefined,
): PermissionMode | undefined {
  return permissions.modes.policySettings ?? flag ?? defaultMode;
}
