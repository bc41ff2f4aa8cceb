import { isRecord } from '../../base/json-value.ts';
import { truncate, visibleText } from '../../base/text/display-text.ts';
import type { RegisteredHook } from '../../hooks/match-hooks.ts';
import type { Rule } from '../../permissions/rule.ts';
import type { RuleSet } from '../../permissions/rule-store.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { Approvals } from '../approval/approvals.ts';
import { isRestriction } from '../approval/approved-content.ts';
import { diagnosticAt, limitDiagnostics } from '../files/diagnostics.ts';
import type { ConfigDiagnostic, ServerOverride } from '../model.ts';
import type { SettingsSource } from '../sources/source-types.ts';
import { type ChannelSetting, mergeChannels } from './channel-settings.ts';
import {
  type FileSettings,
  RULE_SOURCES,
  readSettings,
  TIMEOUTS,
  type TimeoutName,
  type XaaIdp,
} from './read-settings.ts';
import type { SettingDiagnostic } from './setting-keys.ts';

/** All settings merged; of single values the one with the highest precedence is used. */
export type Settings = {
  readonly rules: readonly Rule[];
  readonly defaultMode?: PermissionMode;
  readonly forbidsBypass?: boolean;
  /** Calls that require approval are denied instead of asking the program. */
  readonly deniesPrompts?: boolean;
  readonly directories: readonly string[];
  /** Rules, modes and directories with their sources, as the initial state of a rule store. */
  readonly permissions: RuleSet;
  readonly hooks: readonly RegisteredHook[];
  readonly env: Readonly<Record<string, string>>;
  readonly model?: string;
  /** The model of a file of the `claude` CLI; environment variables take precedence over it. */
  readonly claudeModel?: string;
  /** The name of the output style. */
  readonly outputStyle?: string;
  /** `timeouts` of settings, each with its file. */
  readonly timeouts: { readonly [name in TimeoutName]?: Sourced<number> };
  readonly xaaIdp?: XaaIdp;
  /** The enabled channels by the name of their server; false if managed settings disable channels. */
  readonly channels: Readonly<Record<string, ChannelSetting>> | false;
  /** Whether there is an auto-memory folder; there is one by default. */
  readonly autoMemory?: boolean;
  /** Patterns for memory files that are not read. */
  readonly memoryExcludes?: readonly string[];
  /** `serverSettings` of settings. */
  readonly overrides: readonly ServerOverride[];
  /** Project settings files that are not approved; only their restrictions are active. */
  readonly pending: readonly {
    readonly label: string;
    readonly path: string;
    readonly choice: 'new' | 'changed';
  }[];
};

/** A value and its source. */
export type Sourced<T> = { readonly value: T; readonly label: string };

/** One file or flag, reduced to its active part. */
type Part = {
  readonly source: SettingsSource;
  readonly settings: FileSettings;
  /** Its restrictions of servers, which apply in addition to managed settings with higher precedence. */
  readonly added: FileSettings['servers'];
  readonly pending?: 'new' | 'changed';
  readonly faults: readonly ConfigDiagnostic[];
  readonly elsewhere: readonly string[];
};

/**
 * Merges all settings, lowest precedence first. Of managed settings the system's own take precedence over those that a
 * variable or a flag adds: added ones can forbid more and set what the system's own leave open, but allow nothing.
 */
export function mergeSettings(
  sources: readonly SettingsSource[],
  choices: Pick<Approvals, 'ofSettings'>,
): {
  readonly settings: Settings;
  readonly faults: readonly ConfigDiagnostic[];
  readonly unused: readonly UnusedKeys[];
} {
  const ruling = sources.findLast(({ scope, format }) => scope === 'managed' && format !== 'claude');
  const parts = sources.map((source) => readPart(source, choices, ruling));
  const all = parts.map(({ settings }) => settings);
  const [theirs, ours] = [parts.filter(isOfClaude), parts.filter((it) => !isOfClaude(it))];
  const defaultMode = last(all.map((it) => it.defaultMode));
  const model = last(ours.map((it) => it.settings.model));
  const claudeModel = last(theirs.map((it) => it.settings.model));
  const outputStyle = last(all.map((it) => it.outputStyle));
  const hooksAreOff = theirs.some((it) => it.settings.disablesHooks);
  const xaaIdp = last(all.map((it) => it.xaaIdp));
  const rules = all.flatMap((it) => it.rules);
  const autoMemory = last(all.map((it) => it.autoMemory));
  const memoryExcludes = all.flatMap((it) => it.memoryExcludes ?? []);
  const settings: Settings = {
    rules,
    ...(defaultMode !== undefined && { defaultMode }),
    ...(all.some((it) => it.forbidsBypass) && { forbidsBypass: true }),
    ...(all.some((it) => it.deniesPrompts) && { deniesPrompts: true }),
    directories: [...new Set(all.flatMap((it) => it.directories))],
    permissions: {
      rules,
      modes: modesOf(parts),
      directories: parts.flatMap(placedDirectories),
      ...blockedOutside(all),
    },
    hooks: (hooksAreOff ? ours : parts).flatMap((it) => it.settings.hooks),
    env: Object.fromEntries(all.flatMap((it) => Object.entries(it.env))),
    ...(model !== undefined && { model }),
    ...(claudeModel !== undefined && { claudeModel }),
    ...(outputStyle !== undefined && { outputStyle }),
    timeouts: timeoutsOf(parts),
    ...(xaaIdp && { xaaIdp }),
    ...(autoMemory !== undefined && { autoMemory }),
    ...(memoryExcludes.length > 0 && { memoryExcludes }),
    channels: mergeChannels(
      parts.map(({ source, settings: { channels } }) => ({
        channels,
        isManaged: source.scope === 'managed',
      })),
    ),
    overrides: [
      ...parts.flatMap(({ source, settings: { servers } }) => overridesOf(source, servers)),
      ...parts.flatMap(({ source, added }) => overridesOf(source, added, { isAdded: true })),
    ],
    pending: parts.flatMap(({ source: { label, path }, pending }) =>
      pending && path !== undefined ? [{ label, path, choice: pending }] : [],
    ),
  };
  const waived = ours.some(({ source, pending }) => !pending && disablesSandbox(source));
  return {
    settings,
    faults: parts.flatMap(({ source, faults }) =>
      waived && source.format === 'claude' ? faults.filter(({ key }) => key !== 'sandbox.enabled') : faults,
    ),
    unused: parts.flatMap(({ source, elsewhere }) => unusedKeys(source, elsewhere)),
  };
}

function isOfClaude({ source }: Part): boolean {
  return source.format === 'claude';
}

function disablesSandbox({ value: { sandbox } }: SettingsSource): boolean {
  return isRecord(sandbox) && sandbox.enabled === false;
}

/** Keys that only other programs use, on one line. */
export type UnusedKeys = {
  readonly text: string;
  /** They are also reported at the start of a session. */
  readonly isReported: boolean;
};

/** A file of the `claude` CLI gets one line for all keys, because it was written for another program. */
function unusedKeys(
  { label, scope, format, unused = [] }: SettingsSource,
  keys: readonly string[],
): UnusedKeys[] {
  if (format === undefined) {
    // `--settings` was given for this run.
    return keys.map((key) => ({
      text: `${label}: "${key}" is a setting of the claude CLI that Toolplane does not use`,
      isReported: scope === 'program',
    }));
  }
  if (unused.length === 0) return [];
  const shown = unused.slice(0, MAX_UNUSED_KEYS).map((key) => visibleText(truncate(key, MAX_KEY_LENGTH)));
  const more = unused.length > shown.length ? ` and ${unused.length - shown.length} more` : '';
  return [{ text: `${label}: Toolplane does not use ${shown.join(', ')}${more}`, isReported: true }];
}

const MAX_UNUSED_KEYS = 20;
const MAX_KEY_LENGTH = 80;

/** Whether the whole file is active; of a project file that is not approved only the restrictions are. */
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
  const { settings, faults, elsewhere } = readSettings(source.value, source.scope, source.format);
  const isFromElsewhere = source.scope === 'project' || source.scope === 'local';
  const choice = isFromElsewhere ? choices.ofSettings(source) : 'approved';
  const isBelow = source.scope === 'managed' && source !== ruling;
  const ineffective = isBelow ? allowingParts(settings) : [];
  const message = `has no effect: ${ruling?.label} takes precedence, and other managed settings can only add restrictions`;
  const warnings = ineffective.map((path): SettingDiagnostic => ({ level: 'warning', path, message }));
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
 * An error in settings of flags or of the administrator is fatal, because the invalid value may be a guard. So is a
 * sandbox that the user's settings request and that is not supported.
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

/** A mode of the `claude` CLI's files counts only if no other settings have one, whatever their scope. */
function modesOf(parts: readonly Part[]): RuleSet['modes'] {
  const ours = parts.filter((it) => !isOfClaude(it) && it.settings.defaultMode !== undefined);
  return Object.fromEntries(
    (ours.length > 0 ? ours : parts).flatMap(({ source: { scope }, settings: { defaultMode } }) =>
      defaultMode === undefined ? [] : [[RULE_SOURCES[scope], defaultMode]],
    ),
  );
}

function blockedOutside(all: readonly FileSettings[]): Pick<RuleSet, 'blocksOutside'> {
  const [reads, writes] = [all.some((it) => it.blocksReads), all.some((it) => it.blocksWrites)];
  if (!reads && !writes) return {};
  return { blocksOutside: { ...(reads && { reads }), ...(writes && { writes }) } };
}

function placedDirectories({ source: { scope }, settings }: Part): RuleSet['directories'] {
  return settings.directories.map((path) => ({ path, source: RULE_SOURCES[scope] }));
}

function timeoutsOf(parts: readonly Part[]): Settings['timeouts'] {
  const pairs = TIMEOUTS.flatMap((name) => {
    const part = parts.findLast(({ settings }) => settings.timeouts[name] !== undefined);
    const value = part?.settings.timeouts[name];
    return part && value !== undefined ? [[name, { value, label: part.source.label }] as const] : [];
  });
  return Object.fromEntries(pairs);
}

/** The active part of settings that are not approved: restrictions, and nothing that allows, runs or sets something. */
function restrictionsOnly({ rules, servers, ...settings }: FileSettings): FileSettings {
  const { forbidsBypass, blocksReads, blocksWrites, deniesPrompts, outputStyle } = settings;
  return {
    rules: rules.filter(({ effect }) => effect !== 'allow'),
    ...(forbidsBypass && { forbidsBypass }),
    ...(blocksReads && { blocksReads }),
    ...(blocksWrites && { blocksWrites }),
    ...(deniesPrompts && { deniesPrompts }),
    // The output style only selects a text.
    ...(outputStyle !== undefined && { outputStyle }),
    directories: [],
    hooks: [],
    env: {},
    timeouts: {},
    servers: membersThat(isRestriction, servers),
  };
}

/** Settings without what they allow, and without restrictions of servers, which are in `added`. */
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
  return servers.flatMap(({ members, ...rest }) => {
    const kept = Object.entries(members).filter(([member, value]) => isKept(member, value));
    if (kept.length === 0) return [];
    return [{ ...rest, members: Object.fromEntries(kept) as ServerOverride['members'] }];
  });
}

/** The key paths at which such settings allow something without effect. */
function allowingParts({ rules, directories }: FileSettings): (readonly string[])[] {
  return [
    ...(rules.some(({ effect }) => effect === 'allow') ? [['permissions', 'allow']] : []),
    ...(directories.length > 0 ? [['permissions', 'additionalDirectories']] : []),
  ];
}

/** The initial mode of a session, if any is set: policy takes precedence over a flag, a flag over other settings. */
export function effectiveMode(
  { permissions, defaultMode }: Pick<Settings, 'permissions' | 'defaultMode'>,
  flag: PermissionMode | undefined,
): PermissionMode | undefined {
  return permissions.modes.policySettings ?? flag ?? defaultMode;
}
