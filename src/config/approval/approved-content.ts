import { createHash } from 'node:crypto';
import { isRecord } from '../../base/json-value.ts';

/**
 * The hash of approved content: equal for equal values, whatever their formatting and order of members. The order of
 * lists matters, as in arguments. Undefined for values that are nested too deeply.
 */
export function hashContent(raw: unknown): string | undefined {
  try {
    return createHash('sha256')
      .update(JSON.stringify(ordered(raw)) ?? 'null')
      .digest('hex');
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isRecord(value)) return value;
  // As pairs: an object would reorder numeric names and drop a member called `__proto__`.
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return { members: names.sort().map((name) => [name, ordered(value[name])]) };
}

type Values = Readonly<Record<string, unknown>>;

/** The part of a project's settings file that needs approval; undefined if there is none. */
export function approvablePart(value: Values): Values | undefined {
  // A sandbox is not supported, so "sandbox" has no effect that could be approved.
  const {
    version: _,
    $schema: __,
    mcpServers: ___,
    sandbox: ____,
    disabledMcpjsonServers: _____,
    // The output style only selects a text.
    outputStyle: ______,
    permissions,
    serverSettings,
    ...rest
  } = value;
  return filled({
    ...rest,
    ...member('permissions', isRecord(permissions) ? widening(permissions) : permissions),
    ...member(
      'serverSettings',
      isRecord(serverSettings) ? mapped(serverSettings, settingPart) : serverSettings,
    ),
  });
}

/** Whether a member of `serverSettings` is a restriction; restrictions need no approval. */
export function isRestriction(name: string, value: unknown): boolean {
  return name === 'excludeTools' || (name === 'disabled' && value === true);
}

function widening(permissions: Values) {
  const rest = Object.entries(permissions).filter(([name]) => !RESTRICTING_PERMISSIONS.has(name));
  return filled(Object.fromEntries(rest));
}

const RESTRICTING_PERMISSIONS: ReadonlySet<string> = new Set([
  'deny',
  'ask',
  'disableBypassPermissionsMode',
  'blockReadsOutsideWorkingDirectories',
  'blockWritesOutsideWorkingDirectories',
  'denyInsteadOfPrompting',
]);

function settingPart(members: unknown): unknown {
  if (!isRecord(members)) return members;
  return filled(
    Object.fromEntries(Object.entries(members).filter(([name, value]) => !isRestriction(name, value))),
  );
}

function mapped(values: Values, part: (value: unknown) => unknown): Values | undefined {
  const pairs = Object.entries(values).map(([name, value]) => [name, part(value)] as const);
  return filled(Object.fromEntries(pairs.filter(([, value]) => value !== undefined)));
}

function filled(values: Values): Values | undefined {
  return Object.keys(values).length > 0 ? values : undefined;
}

function member(name: string, value: unknown): Values {
  return value === undefined ? {} : { [name]: value };
}
