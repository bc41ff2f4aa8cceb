import { isRecord } from '../../base/is-record.ts';
import { nearest } from '../../base/nearest.ts';
import { PERMISSION_MODES, type PermissionBehavior, type PermissionMode } from '../../protocol/permission.ts';
import type { RegisteredHook } from '../hook/match-hooks.ts';
import { parseRule, type Rule, type RuleSource } from '../permission/rule.ts';
import { readHookSettings } from './hook-settings.ts';
import { misspeltTool } from './misspelt-tool.ts';

/** What of a settings file is used. */
export type LaunchSettings = {
  readonly rules: readonly Rule[];
  readonly defaultMode?: PermissionMode;
  readonly forbidsBypass?: boolean;
  readonly directories: readonly string[];
  readonly hooks: readonly RegisteredHook[];
  readonly env: Readonly<Record<string, string>>;
  readonly model?: string;
};

export type ReadSettings = {
  readonly settings: LaunchSettings;
  readonly faults: readonly string[];
  readonly notes: readonly string[];
};

/** Settings as far as they are used; keys that are not are told. Values never stand in a text. */
export function readSettings(raw: unknown, where: string, source: RuleSource): ReadSettings {
  const faults: string[] = [];
  const notes: string[] = [];
  if (!isRecord(raw)) {
    return { settings: EMPTY_SETTINGS, faults: [`${where} must hold a JSON object`], notes };
  }
  const permissions = raw.permissions ?? {};
  if (!isRecord(permissions)) faults.push(`${where}: "permissions" must be an object`);
  const known = isRecord(permissions) ? permissions : {};
  const texts = (value: unknown, key: string): string[] => {
    if (value === undefined) return [];
    if (Array.isArray(value) && value.every((it) => typeof it === 'string')) return value;
    faults.push(`${where}: "${key}" must be a list of texts`);
    return [];
  };
  const rules = EFFECTS.flatMap((effect) => {
    const read = readRules(texts(known[effect], `permissions.${effect}`), effect, source);
    faults.push(...read.faults.map((fault) => `${where}: ${fault}`));
    notes.push(...read.notes.map((note) => `${where}: ${note}`));
    return read.rules;
  });
  const hooks = readHookSettings(raw.hooks, where);
  faults.push(...hooks.faults);
  if (raw.env !== undefined && !isTextMap(raw.env)) faults.push(`${where}: "env" must map names to texts`);
  if (raw.model !== undefined && typeof raw.model !== 'string')
    faults.push(`${where}: "model" must be a text`);
  const mode = PERMISSION_MODES.find((it) => it === known.defaultMode);
  if (known.defaultMode !== undefined && !mode) {
    faults.push(`${where}: "permissions.defaultMode" is one of ${PERMISSION_MODES.join(', ')}`);
  }
  if (isRecord(raw.sandbox) && raw.sandbox.enabled === true) {
    faults.push(`${where}: there is no sandbox for "sandbox.enabled": run the agent in a container instead`);
  }
  notes.push(
    ...unusedKeys(raw, KEYS, where, ''),
    ...unusedKeys(known, PERMISSION_KEYS, where, 'permissions.'),
  );
  const settings: LaunchSettings = {
    rules,
    directories: texts(known.additionalDirectories, 'permissions.additionalDirectories'),
    hooks: hooks.hooks,
    env: isTextMap(raw.env) ? raw.env : {},
    ...(mode && { defaultMode: mode }),
    ...(known.disableBypassPermissionsMode === 'disable' && { forbidsBypass: true }),
    ...(typeof raw.model === 'string' && { model: raw.model }),
  };
  return { settings, faults, notes };
}

export const EMPTY_SETTINGS: LaunchSettings = { rules: [], directories: [], hooks: [], env: {} };

/**
 * A rule that cannot be read is a fault if it would forbid or ask, and only told if it would have allowed. One about a
 * tool nobody knows is kept and told.
 */
export function readRules(
  texts: readonly string[],
  effect: PermissionBehavior,
  source: RuleSource,
): { readonly rules: Rule[]; readonly faults: string[]; readonly notes: string[] } {
  const parsed = texts.map((text) => parseRule(text, effect, source));
  const rules = parsed.flatMap((it) => (it.ok ? [it.rule] : []));
  const messages = parsed.flatMap((it) => (it.ok ? [] : [it.diagnostic.message]));
  return {
    rules,
    faults: effect === 'allow' ? [] : messages,
    notes: [
      ...(effect === 'allow' ? messages.map((message) => `${message}; it allows nothing`) : []),
      ...rules.flatMap((rule) => misspeltTool(rule) ?? []),
    ],
  };
}

const EFFECTS = ['allow', 'ask', 'deny'] as const;
const KEYS = ['permissions', 'hooks', 'env', 'model', 'sandbox', '$schema'];
const PERMISSION_KEYS = [...EFFECTS, 'defaultMode', 'additionalDirectories', 'disableBypassPermissionsMode'];

function unusedKeys(
  from: Readonly<Record<string, unknown>>,
  known: readonly string[],
  where: string,
  path: string,
) {
  const unknown = Object.keys(from).filter((key) => !known.includes(key));
  return unknown.map((key) => {
    const guess = nearest(key, known);
    return `${where}: "${path}${key}" is not used${guess ? `; did you mean "${path}${guess}"?` : ''}`;
  });
}

function isTextMap(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((it) => typeof it === 'string');
}
