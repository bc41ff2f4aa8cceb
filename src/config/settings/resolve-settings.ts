import { isRecord } from '../../base/json-value.ts';
import type { ConfigContext } from '../config-context.ts';
import { readDocument } from '../files/read-document.ts';
import { findConfigPaths } from '../sources/config-paths.ts';

type RawSettings = Readonly<Record<string, unknown>>;

/** Where a value comes from: `path` for a file, `policyOrigin` for settings of an administrator. */
export type SettingOrigin = {
  readonly source: 'user' | 'project' | 'local' | 'managed';
  readonly path?: string;
  readonly policyOrigin?: 'remote' | 'file' | 'parent';
};

/** All settings as their files contain them, and merged. */
export type RawResolvedSettings = {
  readonly effective: RawSettings;
  /** The highest source that has each key. */
  readonly provenance: Readonly<Record<string, SettingOrigin>>;
  /** Lowest precedence first. */
  readonly sources: readonly (SettingOrigin & { readonly settings: RawSettings })[];
  readonly machinePolicy: { readonly didNotLoad: false | readonly 'file'[] };
};

export type ResolveOptions = {
  /** The files to read besides managed ones; all by default. */
  readonly settingSources?: readonly string[] | undefined;
  /** Settings of the program with the rank of managed ones; only restrictions and permission rules count. */
  readonly managedSettings?: RawSettings | undefined;
  /** Managed settings that a server delivered to the program; they replace managed files of the `claude` CLI. */
  readonly serverManagedSettings?: RawSettings | undefined;
};

/**
 * Reads the settings files of the `claude` CLI and of Toolplane and merges them, in the precedence that Toolplane's agent
 * gives them. The result is what the files say, not what is in effect: whether the user approved a project's settings is
 * not considered.
 */
export function resolveSettings(context: ConfigContext, options: ResolveOptions): RawResolvedSettings {
  const { user, shared, local, claude, managedSettings, within } = findConfigPaths(context);
  const isRead = ({ source }: SettingOrigin) => options.settingSources?.includes(source) ?? true;
  const inProject = (source: 'project' | 'local') => (path: string) => ({ source, path });
  const files = [
    { source: 'user' as const, path: claude.user },
    ...claude.shared.map(inProject('project')),
    ...claude.local.map(inProject('local')),
    { source: 'user' as const, path: user },
    ...shared.map(inProject('project')),
    ...local.map(inProject('local')),
  ].filter(isRead);
  // Of Toolplane's own managed files the first takes precedence.
  const managed = [claude.managed, ...managedSettings.toReversed()].map((path) => ({
    source: 'managed' as const,
    path,
    policyOrigin: 'file' as const,
  }));
  const policies = managed.map((file) => ({ file, settings: readSettings(file.path) }));
  const [claudePolicy, ...ownPolicies] = policies;
  const sources = [
    ...files.map((file) => ({
      file,
      settings: readSettings(file.path, file.source === 'user' ? undefined : within),
    })),
    claudePolicyOf(claudePolicy, options),
    ...ownPolicies,
  ].flatMap((it) => (isRecord(it?.settings) ? [{ ...it.file, settings: it.settings }] : []));
  const isUnread = policies.some(({ settings }) => settings === 'unusable');
  return {
    effective: sources.reduce<RawSettings>((merged, { settings }) => mergeValues(merged, settings), {}),
    provenance: Object.fromEntries(
      sources.flatMap(({ settings, ...origin }) =>
        Object.keys(settings).map((key) => [key, origin] as const),
      ),
    ),
    sources,
    machinePolicy: { didNotLoad: isUnread ? ['file'] : false },
  };
}

type FoundSettings = {
  readonly file: SettingOrigin;
  readonly settings: RawSettings | 'unusable' | undefined;
};

/** Only one policy of the `claude` CLI counts: that of a server, of the machine, or of the program, in this order. */
function claudePolicyOf(
  ofMachine: FoundSettings | undefined,
  { serverManagedSettings, managedSettings }: ResolveOptions,
): FoundSettings | undefined {
  if (serverManagedSettings && Object.keys(serverManagedSettings).length > 0)
    return { file: { source: 'managed', policyOrigin: 'remote' }, settings: serverManagedSettings };
  if (ofMachine?.settings !== undefined) return ofMachine;
  const restrictions = restrictionsOf(managedSettings ?? {});
  if (Object.keys(restrictions).length === 0) return undefined;
  return { file: { source: 'managed', policyOrigin: 'parent' }, settings: restrictions };
}

/** Undefined for a file that does not exist; a file with a value of the wrong type is unusable as a whole. */
function readSettings(path: string, within?: string): RawSettings | 'unusable' | undefined {
  const document = readDocument(path, within === undefined ? {} : { within });
  if (document.state === 'absent' || (document.state === 'read' && document.isBlank)) return undefined;
  if (document.state === 'unusable' || !hasValidTypes(document.value)) return 'unusable';
  const { permissions } = document.value;
  if (!isRecord(permissions)) return document.value;
  const lists = RULE_LISTS.flatMap((name) => {
    const rules = permissions[name];
    return Array.isArray(rules) ? [[name, rules.filter(isRule)] as const] : [];
  });
  return { ...document.value, permissions: { ...permissions, ...Object.fromEntries(lists) } };
}

const RULE_LISTS = ['allow', 'deny', 'ask'] as const;

function isRule(rule: unknown): boolean {
  return typeof rule === 'string' && /^[^()]+(?:\(.*\))?$/s.test(rule);
}

function hasValidTypes({ model, env, permissions, hooks }: RawSettings): boolean {
  const isStringMap = (value: unknown) =>
    isRecord(value) && Object.values(value).every((it) => typeof it === 'string');
  const isListOrAbsent = (value: unknown) => value === undefined || Array.isArray(value);
  return (
    (model === undefined || typeof model === 'string') &&
    (env === undefined || isStringMap(env)) &&
    (hooks === undefined || isRecord(hooks)) &&
    (permissions === undefined ||
      (isRecord(permissions) && RULE_LISTS.every((name) => isListOrAbsent(permissions[name]))))
  );
}

/** Keys that can only forbid. */
const RESTRICTIONS: readonly string[] = [
  'allowManagedHooksOnly',
  'allowManagedMcpServersOnly',
  'allowManagedPermissionRulesOnly',
  'deniedMcpServers',
];

function restrictionsOf({ permissions, ...settings }: RawSettings): RawSettings {
  const kept = Object.entries(settings).filter(([key]) => RESTRICTIONS.includes(key));
  const rules = Object.entries(isRecord(permissions) ? permissions : {}).filter(
    ([key]) => RULE_LISTS.some((name) => name === key) || key === 'disableBypassPermissionsMode',
  );
  return { ...Object.fromEntries(kept), ...(rules.length > 0 && { permissions: Object.fromEntries(rules) }) };
}

/** Objects are merged, lists are joined without duplicates, and other values are replaced. */
function mergeValues(low: RawSettings, high: RawSettings): RawSettings {
  const merged = new Map(Object.entries(low));
  for (const [key, value] of Object.entries(high)) {
    const before = merged.get(key);
    if (isRecord(before) && isRecord(value)) merged.set(key, mergeValues(before, value));
    else if (Array.isArray(before) && Array.isArray(value))
      merged.set(key, [...new Set([...before, ...value])]);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}
