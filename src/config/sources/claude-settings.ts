import { isRecord } from '../../base/json-value.ts';
import type { Scope } from '../model.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Splits a settings file of the `claude` CLI into what Toolplane uses and the names of the other keys. Approval depends
 * only on the part that is used, so a change of another key does not require approval again.
 */
export function claudeSettings(
  raw: Values,
  scope: Scope,
): { readonly value: Values; readonly unused: readonly string[] } {
  const keys = scope === 'managed' ? USED_IF_MANAGED : USED;
  const used = Object.entries(raw).filter(([key, value]) => keys.has(key) && !isEmpty(value));
  const unused = Object.keys(raw).filter((key) => !keys.has(key) && key !== '$schema');
  const value = Object.fromEntries(used);
  if (!isRecord(value.permissions)) return { value, unused };
  const { known, others } = permissionMembers(value.permissions, scope);
  return { value: { ...value, permissions: known }, unused: [...unused, ...others] };
}

const USED: ReadonlySet<string> = new Set([
  'permissions',
  'hooks',
  'disableAllHooks',
  'disabledMcpjsonServers',
  'env',
  'model',
  'outputStyle',
  'sandbox',
  'autoMemoryEnabled',
  'claudeMdExcludes',
]);

/** The keys that are used of an administrator's settings for the CLI, which can only add restrictions here. */
const USED_IF_MANAGED: ReadonlySet<string> = new Set(['permissions', 'deniedMcpServers']);

const RESTRICTIONS = [
  'ask',
  'deny',
  'disableBypassPermissionsMode',
  'blockReadsOutsideWorkingDirectories',
  'blockWritesOutsideWorkingDirectories',
  'denyInsteadOfPrompting',
];
const PERMISSIONS = [...RESTRICTIONS, 'allow', 'defaultMode', 'additionalDirectories'];

function permissionMembers(
  permissions: Values,
  scope: Scope,
): { readonly known: Values; readonly others: string[] } {
  const members = scope === 'managed' ? RESTRICTIONS : PERMISSIONS;
  const { defaultMode, ...rest } = permissions;
  // Skipping permissions requires a flag of the program, which a file cannot replace.
  const isBypass = defaultMode === 'bypassPermissions';
  const pairs = Object.entries(isBypass ? rest : permissions).filter(
    ([member, value]) => members.includes(member) && !isEmpty(value),
  );
  const others = Object.keys(permissions).filter((member) => !members.includes(member));
  return {
    known: Object.fromEntries(pairs.map(([member, value]) => [member, translated(member, value)])),
    others: [
      ...(isBypass && scope !== 'managed' ? ['permissions.defaultMode "bypassPermissions"'] : []),
      ...others.map((member) => `permissions.${member}`),
    ],
  };
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}

/** The CLI calls mode `default` also `manual`. */
function translated(member: string, value: unknown): unknown {
  return member === 'defaultMode' && value === 'manual' ? 'default' : value;
}
