import { nearest } from '../../base/text/nearest.ts';
import { formatKeyPath } from '../files/diagnostics.ts';
import type { SettingsSource } from '../sources/source-types.ts';

type Scope = SettingsSource['scope'];

/** The known keys; `scopes` limits a key to some scopes. */
const KEYS: Readonly<Record<string, { readonly scopes?: readonly Scope[]; readonly instead?: string }>> = {
  version: {},
  $schema: {},
  permissions: {},
  hooks: {},
  env: {},
  model: {},
  outputStyle: {},
  sandbox: {},
  timeouts: {},
  serverSettings: {},
  channels: {},
  autoMemoryEnabled: {},
  claudeMdExcludes: {},
  mcpServers: {
    scopes: ['user', 'local'],
    instead: 'put servers in .mcp.json, in managed-mcp.json or in a file for --mcp-config',
  },
  plugins: {
    scopes: ['user', 'managed'],
    instead: 'plugins can be listed only in user and managed settings',
  },
  connectors: {
    scopes: ['user', 'managed'],
    instead: 'connectors can be listed only in user and managed settings',
  },
  xaaIdp: {
    scopes: ['user', 'managed'],
    instead: 'the identity provider can be set only in user and managed settings',
  },
  allowedMcpServers: { scopes: ['managed'], instead: 'it is used only in managed settings' },
  deniedMcpServers: {
    scopes: ['managed'],
    instead:
      'it is used only in managed settings; to disable a server here, set "disabled" in "serverSettings"',
  },
};

/** All known keys. */
export const SETTING_KEYS: ReadonlySet<string> = new Set(Object.keys(KEYS));

/** Keys of other programs: valid, but without effect. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'agent',
  'alwaysThinkingEnabled',
  'apiKeyHelper',
  'attribution',
  'autoUpdatesChannel',
  'availableModels',
  'awsAuthRefresh',
  'awsCredentialExport',
  'cleanupPeriodDays',
  'companyAnnouncements',
  'disableAllHooks',
  'disabledMcpjsonServers',
  'effortLevel',
  'enableAllProjectMcpServers',
  'enabledMcpjsonServers',
  'enabledPlugins',
  'extraKnownMarketplaces',
  'fileSuggestion',
  'forceLoginMethod',
  'forceLoginOrgUUID',
  'includeCoAuthoredBy',
  'language',
  'otelHeadersHelper',
  'plansDirectory',
  'prefersReducedMotion',
  'respectGitignore',
  'showTurnDuration',
  'skipWebFetchPreflight',
  'spinnerTipsEnabled',
  'spinnerTipsOverride',
  'spinnerVerbs',
  'statusLine',
  'strictKnownMarketplaces',
  'terminalProgressBarEnabled',
  'theme',
]);

/** Warns about keys without effect; returns the keys of other programs. */
export function checkKeys(
  value: Readonly<Record<string, unknown>>,
  scope: Scope,
  faults: SettingDiagnostics,
): string[] {
  return Object.keys(value).flatMap((key) => {
    if (ELSEWHERE.has(key)) return [key];
    if (!Object.hasOwn(KEYS, key)) warnUnused(key, Object.keys(KEYS), [], faults);
    const { scopes, instead } = KEYS[key] ?? {};
    if (scopes && !scopes.includes(scope)) faults.warning([key], `has no effect here: ${instead}`);
    return [];
  });
}

/** Warns about unknown members of an object. */
export function checkMembers(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  path: readonly string[],
  faults: SettingDiagnostics,
): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) warnUnused(key, known, path, faults);
  }
}

function warnUnused(
  key: string,
  known: readonly string[],
  path: readonly string[],
  faults: SettingDiagnostics,
): void {
  // Each suggestion compares the key with all known ones, so their number is limited.
  const isGuessed = faults.all.length < MAX_GUESSES;
  const guess = isGuessed ? (nearest(key, known) ?? nearest(`${key}Ms`, known)) : undefined;
  const hint = guess === undefined ? '' : `; did you mean "${formatKeyPath([...path, guess])}"?`;
  faults.warning([...path, key], `is not a known key${hint}`);
}

const MAX_GUESSES = 50;

/** A problem in settings; it contains no values, which may be secret. */
export type SettingDiagnostic = {
  /** `error`: the value is ignored. `warning`: the value is used, or would have no effect. */
  readonly level: 'error' | 'warning';
  readonly path: readonly (string | number)[];
  /** The text after the key, without a full stop. */
  readonly message: string;
};

/** Collects the problems found while settings are read. */
export class SettingDiagnostics {
  readonly all: SettingDiagnostic[] = [];

  error(path: SettingDiagnostic['path'], message: string): void {
    this.all.push({ level: 'error', path, message });
  }

  warning(path: SettingDiagnostic['path'], message: string): void {
    this.all.push({ level: 'warning', path, message });
  }

  /** Returns the value if it is valid; reports an invalid one. */
  check<T>(
    value: unknown,
    path: SettingDiagnostic['path'],
    isValid: (value: unknown) => value is T,
    rule: string,
  ): T | undefined {
    if (value === undefined) return undefined;
    if (isValid(value)) return value;
    this.error(path, rule);
    return undefined;
  }

  /** The strings of a list, each with its index; other items are reported. */
  texts(value: unknown, path: SettingDiagnostic['path']): { readonly text: string; readonly at: number }[] {
    const list = this.check(value, path, Array.isArray, 'must be a list of strings') ?? [];
    return list.flatMap((item: unknown, at) => {
      const text = this.check(item ?? null, [...path, at], isText, 'must be a string');
      return text === undefined ? [] : [{ text, at }];
    });
  }
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}
