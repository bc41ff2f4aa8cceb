import { isRecord } from '../../base/json-value.ts';
import type { RegisteredHook } from '../../hooks/match-hooks.ts';
import { urlFault } from '../../mcp/auth/auth-fetch.ts';
import type { RuleSource } from '../../permissions/rule.ts';
import type { ServerOverride } from '../model.ts';
import type { SettingsSource } from '../sources/source-types.ts';
import { type ChannelSettings, readChannelSettings } from './channel-settings.ts';
import { readHookSettings } from './hook-settings.ts';
import { type PermissionSettings, readPermissions } from './permission-settings.ts';
import {
  checkKeys,
  checkMembers,
  isText,
  type SettingDiagnostic,
  SettingDiagnostics,
} from './setting-keys.ts';

/** The settings in one file or flag. */
export type FileSettings = PermissionSettings & {
  readonly hooks: readonly RegisteredHook[];
  /** `disableAllHooks` of a file of the `claude` CLI: the hooks of all such files are off. */
  readonly disablesHooks?: true;
  readonly env: Readonly<Record<string, string>>;
  readonly model?: string;
  /** The name of the output style. */
  readonly outputStyle?: string;
  readonly timeouts: Readonly<Partial<Record<TimeoutName, number>>>;
  readonly servers: readonly Pick<ServerOverride, 'name' | 'members' | 'isForProject'>[];
  readonly xaaIdp?: XaaIdp;
  readonly channels?: ChannelSettings;
  /** `autoMemoryEnabled`: whether there is an auto-memory folder. */
  readonly autoMemory?: boolean;
  /** `claudeMdExcludes`: patterns for memory files that are not read. */
  readonly memoryExcludes?: readonly string[];
};

/** The identity provider of the organization, for servers with `oauth.xaa`. */
export type XaaIdp = { readonly issuer: string; readonly clientId: string; readonly callbackPort?: number };

export type TimeoutName = (typeof TIMEOUTS)[number];
export const TIMEOUTS = ['connectMs', 'callMs', 'idleMs', 'backgroundMs'] as const;

/** The rule source of each scope. */
export const RULE_SOURCES: Readonly<Record<SettingsSource['scope'], RuleSource>> = {
  user: 'userSettings',
  project: 'projectSettings',
  local: 'localSettings',
  program: 'cliArg',
  managed: 'policySettings',
};

/** Reads each member separately: an invalid one does not affect the others. `elsewhere` are keys of other programs. */
export function readSettings(
  raw: Readonly<Record<string, unknown>>,
  scope: SettingsSource['scope'],
  format?: SettingsSource['format'],
): {
  readonly settings: FileSettings;
  readonly faults: readonly SettingDiagnostic[];
  readonly elsewhere: readonly string[];
} {
  const faults = new SettingDiagnostics();
  const { disableAllHooks, disabledMcpjsonServers, ...ours } = raw;
  const elsewhere = checkKeys(format === 'claude' ? ours : raw, scope, faults);
  const permissions = readPermissions(raw.permissions, RULE_SOURCES[scope], faults, format);
  const hooks = readHookSettings(raw.hooks, faults, format);
  const env = readEnv(raw.env, faults);
  const model = faults.check(raw.model, ['model'], isText, 'must be a string');
  const outputStyle = faults.check(raw.outputStyle, ['outputStyle'], isText, 'must be a string');
  const sandbox = faults.check(raw.sandbox, ['sandbox'], isRecord, 'must be an object');
  if (sandbox?.enabled === true)
    faults.error(['sandbox', 'enabled'], format === 'claude' ? NO_CLAUDE_SANDBOX : NO_SANDBOX);
  const timeouts = readTimeouts(raw.timeouts, faults);
  const servers =
    format === 'claude'
      ? readDisabledServers(disabledMcpjsonServers, faults)
      : readServerSettings(raw.serverSettings, faults);
  const isOwn = scope === 'user' || scope === 'managed';
  const xaaIdp = isOwn ? readXaaIdp(raw.xaaIdp, faults) : undefined;
  const channels = format === 'claude' ? undefined : readChannelSettings(raw.channels, faults);
  const autoMemory = faults.check(
    raw.autoMemoryEnabled,
    ['autoMemoryEnabled'],
    isFlag,
    'must be true or false',
  );
  const excludes = raw.claudeMdExcludes;
  const memoryExcludes =
    excludes === undefined ? undefined : faults.texts(excludes, ['claudeMdExcludes']).map(({ text }) => text);
  const settings = {
    ...permissions,
    hooks,
    ...(format === 'claude' && disableAllHooks === true && { disablesHooks: true as const }),
    env,
    ...(model !== undefined && { model }),
    ...(outputStyle !== undefined && { outputStyle }),
    timeouts,
    servers,
    ...(xaaIdp && { xaaIdp }),
    ...(channels !== undefined && { channels }),
    ...(autoMemory !== undefined && { autoMemory }),
    ...(memoryExcludes && { memoryExcludes }),
  };
  return { settings, faults: faults.all, elsewhere };
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

const NO_SANDBOX = '"sandbox.enabled" is not supported: run the agent in a container instead';
const NO_CLAUDE_SANDBOX = `${NO_SANDBOX}, or set it to false in ~/.toolplane/settings.json to run without a sandbox`;

function readEnv(raw: unknown, faults: SettingDiagnostics): Record<string, string> {
  const env = faults.check(raw, ['env'], isRecord, 'must map names to strings') ?? {};
  const pairs = Object.entries(env).flatMap(([name, value]) => {
    const text = faults.check(value ?? null, ['env', name], isText, 'must be a string');
    return text === undefined ? [] : [[name, text] as const];
  });
  return Object.fromEntries(pairs);
}

function readTimeouts(raw: unknown, faults: SettingDiagnostics): Partial<Record<TimeoutName, number>> {
  const given = faults.check(raw, ['timeouts'], isRecord, 'must be an object') ?? {};
  checkMembers(given, TIMEOUTS, ['timeouts'], faults);
  const pairs = TIMEOUTS.flatMap((name) => {
    const [isValid, rule] = name === 'backgroundMs' ? TIME_OR_NEVER : TIME;
    const ms = faults.check(given[name], ['timeouts', name], isValid as typeof isTime, rule);
    return ms === undefined ? [] : [[name, ms] as const];
  });
  return Object.fromEntries(pairs);
}

function readXaaIdp(raw: unknown, faults: SettingDiagnostics): XaaIdp | undefined {
  const given = faults.check(raw, ['xaaIdp'], isRecord, 'must be an object');
  if (!given) return undefined;
  checkMembers(given, ['issuer', 'clientId', 'callbackPort'], ['xaaIdp'], faults);
  const read = <T>(name: string, isValid: (value: unknown) => value is T, message: string) =>
    faults.check(given[name] ?? null, ['xaaIdp', name], isValid, message);
  const issuer = read('issuer', isSecureUrl, SECURE_URL_RULE);
  const clientId = read('clientId', isFilled, 'must be a non-empty string');
  const hasPort = given.callbackPort !== undefined;
  const callbackPort = hasPort ? read('callbackPort', isPort, 'must be a port number') : undefined;
  if (issuer === undefined || clientId === undefined) return undefined;
  return { issuer, clientId, ...(callbackPort !== undefined && { callbackPort }) };
}

export const SECURE_URL_RULE = 'must be an https URL, or an http URL of this machine';

export function isSecureUrl(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value) && urlFault(new URL(value)) === undefined;
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;
}

/** `disabledMcpjsonServers` of the `claude` CLI: names of servers in `.mcp.json`. */
function readDisabledServers(raw: unknown, faults: SettingDiagnostics): FileSettings['servers'] {
  const names = faults.texts(raw, ['disabledMcpjsonServers']);
  return names.map(({ text }) => ({ name: text, members: { disabled: true }, isForProject: true }));
}

type Members = ServerOverride['members'];

/** Reads settings for servers by name; an invalid member is ignored. */
function readServerSettings(
  raw: unknown,
  faults: SettingDiagnostics,
): { readonly name: string; readonly members: Members }[] {
  const rule = 'must map server names to objects';
  const servers = faults.check(raw, ['serverSettings'], isRecord, rule) ?? {};
  return Object.entries(servers).flatMap(([name, value]) => {
    const path = ['serverSettings', name];
    if (!isRecord(value)) {
      faults.error(path, 'must be an object');
      return [];
    }
    checkMembers(value, Object.keys(MEMBERS), path, faults);
    const members = Object.entries(MEMBERS).flatMap(([member, [isValid, message]]) => {
      const given = value[member];
      if (given === undefined) return [];
      if (isValid(given)) return [[member, given] as const];
      faults.error([...path, member], message);
      return [];
    });
    return [{ name, members: Object.fromEntries(members) as Members }];
  });
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value);
}

const TIME_RULE = 'must be a number of milliseconds above 0';

type Check = readonly [(value: unknown) => boolean, string];

const FLAG: Check = [(value) => typeof value === 'boolean', 'must be true or false'];
const TIME: Check = [isTime, TIME_RULE];
const TIME_OR_NEVER: Check = [
  (value) => value === 0 || isTime(value),
  'must be a number of milliseconds, or 0 for never',
];
const NAMES: Check = [
  (value) => Array.isArray(value) && value.every((it) => typeof it === 'string' && it !== ''),
  'must be a list of tool names',
];

const MEMBERS: Readonly<Record<keyof Members, Check>> = {
  disabled: FLAG,
  trust: FLAG,
  timeout: TIME,
  connectTimeoutMs: TIME,
  idleTimeoutMs: TIME,
  toolTimeoutsMs: [
    (value) => isRecord(value) && Object.values(value).every(isTime),
    'must map tool names to milliseconds above 0',
  ],
  includeTools: NAMES,
  excludeTools: NAMES,
  alwaysLoad: FLAG,
  start: [(value) => value === 'on-demand', 'must be "on-demand" or left out'],
  required: FLAG,
};
