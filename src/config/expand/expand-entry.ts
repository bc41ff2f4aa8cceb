import { isRecord } from '../../base/json-value.ts';
import { isCredentialName } from '../../base/text/redact.ts';
import type { ExpandedEntry, ServerEntry } from '../../mcp/connection/connect-context.ts';
import { isNamedCredential } from '../../mcp/connection/secret-mask.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { validateEntry } from '../../mcp/servers/server-entry.ts';
import { isInherited } from '../../mcp/transports/stdio/server-environment.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { type ExternalServerEntry, findEntryError } from '../../protocol/server-entry.ts';
import type { Configuration } from '../configuration.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { type Part, parseTemplate } from './parse-template.ts';

/** Looks up the values of variables and secrets. */
export type Lookup = {
  variable(name: string): string | undefined;
  /** Throws if the store cannot be read. */
  secret(name: string): string | undefined;
};

/** A reference to a variable or secret in an entry, without its value. */
export type Reference = {
  /** The key path, such as `env.TOKEN` or `args[2]`. */
  readonly where: string;
  readonly kind: 'variable' | 'secret';
  readonly name: string;
  /** `default`: the variable is unset or empty, so the text after `:-` is used. `missing`: there is no value. */
  readonly from: 'value' | 'default' | 'missing';
};

type Expanded =
  | {
      readonly kind: 'expanded';
      readonly entry: ExternalServerEntry;
      readonly uses: readonly Reference[];
      /** Values that must not be shown. */
      readonly secrets: readonly string[];
      /** The values among `secrets` that come from the secret store or from a variable named as a credential. */
      readonly credentials: readonly string[];
    }
  /** Each fault names the variable or secret, its key path and the remedy; never a value. */
  | { readonly kind: 'faulty'; readonly faults: readonly string[]; readonly uses: readonly Reference[] };

/**
 * Substitutes `${VAR}`, `${VAR:-default}` and `${secret:name}` in command, args, env, cwd, url, headers, headersHelper,
 * tls, oauth, authToken and ideName. Substituted values are not expanded again. Never throws.
 */
export function expandEntry(entry: ExternalServerEntry, lookup: Lookup): Expanded {
  const work: Work = { lookup, uses: [], secrets: new Set(), credentials: new Set(), faults: new Set() };
  const expanded = mapStrings(entry, (place) => expandText(place, work));
  const { uses } = work;
  const faults = [...work.faults, ...missingFaults(uses)];
  if (faults.length > 0) return { kind: 'faulty', faults, uses };
  // Messages of the validator name members, never their values.
  const invalid = findEntryError(expanded);
  if (invalid) {
    const when = uses.length === 0 ? '' : ' (after variable substitution)';
    return { kind: 'faulty', faults: [`${invalid.message}${when}`], uses };
  }
  const [secrets, credentials] = [[...work.secrets], [...work.credentials]];
  return { kind: 'expanded', entry: expanded as ExternalServerEntry, uses, secrets, credentials };
}

type Work = {
  readonly lookup: Lookup;
  readonly uses: Reference[];
  readonly secrets: Set<string>;
  readonly credentials: Set<string>;
  readonly faults: Set<string>;
};

function expandText(place: StringMember, work: Work): string {
  const template = parseTemplate(place.text);
  if (template.kind === 'parts') return fill(template.parts, place, work);
  work.faults.add(`${place.where} ${template.fault} (at character ${template.at})`);
  return '';
}

function fill(parts: readonly Part[], place: StringMember, work: Work): string {
  return parts
    .map((part) => (part.kind === 'text' ? part.text : resolveReference(part, place, work)))
    .join('');
}

function resolveReference(part: Exclude<Part, { kind: 'text' }>, place: StringMember, work: Work): string {
  const { kind, name } = part;
  const { where, isPrivate } = place;
  const value = kind === 'secret' ? secretOf(name, work) : work.lookup.variable(name);
  const otherwise = kind === 'variable' ? part.otherwise : undefined;
  if (otherwise !== undefined && !value) {
    work.uses.push({ where, kind, name, from: 'default' });
    return fill(otherwise, place, work);
  }
  if (value !== UNREADABLE)
    work.uses.push({ where, kind, name, from: value === undefined ? 'missing' : 'value' });
  if (typeof value !== 'string') return '';
  if (value !== '' && (isPrivate || kind === 'secret' || isCredentialName(name))) work.secrets.add(value);
  if (value !== '' && (kind === 'secret' || isNamedCredential(name, value))) work.credentials.add(value);
  return value;
}

/** The secret store cannot be read; this is reported once. */
const UNREADABLE = Symbol('unreadable');

function secretOf(name: string, { lookup, faults }: Work): string | undefined | typeof UNREADABLE {
  try {
    return lookup.secret(name);
  } catch (cause) {
    faults.add(messageOf(cause));
    return UNREADABLE;
  }
}

/** One message for each missing name, with all key paths that refer to it. */
function missingFaults(uses: readonly Reference[]): string[] {
  const missing = Map.groupBy(
    uses.filter(({ from }) => from === 'missing'),
    ({ kind, name }) => `${kind}:${name}`,
  );
  return [...missing.values()].map((all) => {
    const { kind, name } = all[0] as Reference;
    const places = [...new Set(all.map(({ where }) => where))];
    const uses = `which ${places.join(', ')} ${places.length === 1 ? 'refers' : 'refer'} to`;
    return kind === 'secret'
      ? `secret ${name}, ${uses}, does not exist; run "toolplane secret set ${name}"`
      : `the variable ${name}, ${uses}, is not set; set it, or write \${${name}:-default}`;
  });
}

/** The sources of values. */
type ExpanderOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Read only if an entry refers to a secret, and again for each reference. */
  readonly secrets: SecretStore | (() => SecretStore);
  /** Servers whose entries are used literally, such as those of a remote catalog. */
  readonly literal?: (server: string) => boolean;
};

/** Creates the function that substitutes values at each start of a server. It throws one `bad-config` with all faults. */
export function createExpander({ env, secrets, literal }: ExpanderOptions) {
  const lookup = {
    // Own properties only: `constructor` is not a variable.
    variable: (name: string) => (Object.hasOwn(env, name) ? env[name] : undefined),
    secret: (name: string) => (typeof secrets === 'function' ? secrets() : secrets).get(name),
  };
  return (server: string, entry: ServerEntry): ExpandedEntry => {
    if (!isRecord(entry) || entry.type === 'sdk' || literal?.(server) === true)
      return { entry: validateEntry(server, entry), secrets: [] };
    const expanded = expandEntry(entry, lookup);
    if (expanded.kind === 'expanded') return expanded;
    throw new HostError('bad-config', server, expanded.faults.join('; '), { hasRun: 'no' });
  };
}

/** A string of an entry that may contain references, and its key path, such as `env.TOKEN` or `args[2]`. */
type StringMember = {
  readonly where: string;
  readonly text: string;
  /** Values that are substituted here must not be shown. */
  readonly isPrivate: boolean;
};

/** The entry with each such string replaced; values of other types stay, and validation refuses them. */
function mapStrings<T extends object>(entry: T, change: (place: StringMember) => string): T {
  const members = Object.entries(entry).map(([member, value]) => [member, changed(member, value, change)]);
  return Object.fromEntries(members) as T;
}

/** All strings of an entry that may contain references. */
function stringsOf(entry: object): StringMember[] {
  const found: StringMember[] = [];
  mapStrings(entry, (place) => {
    found.push(place);
    return place.text;
  });
  return found;
}

const STRING_MEMBERS: ReadonlySet<string> = new Set([
  'command',
  'cwd',
  'url',
  'headersHelper',
  'authToken',
  'ideName',
]);
const MAP_MEMBERS: ReadonlySet<string> = new Set(['env', 'headers', 'tls', 'oauth']);
const PRIVATE = /^(env|headers)\b|^authToken$|^tls\.key$|^oauth\.(clientSecret|privateKey)$/;

function changed(member: string, value: unknown, change: (place: StringMember) => string): unknown {
  const at = (where: string, text: unknown) =>
    typeof text === 'string' ? change({ where, text, isPrivate: PRIVATE.test(where) }) : text;
  if (STRING_MEMBERS.has(member)) return at(member, value);
  if (member === 'args' && Array.isArray(value)) return value.map((it, index) => at(`args[${index}]`, it));
  if (!MAP_MEMBERS.has(member) || !isRecord(value) || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, it]) => [name, at(member + keyText(name), it)]),
  );
}

/** Quotes unusual names, so that they do not break the line. */
function keyText(name: string): string {
  return /^[\w-]{1,100}$/.test(name) ? `.${name}` : `[${JSON.stringify(name.slice(0, 100))}]`;
}

/** The secrets that an entry refers to, including those in defaults; a malformed string refers to none. */
export function referencedSecrets(entry: object): ReadonlySet<string> {
  return new Set(
    stringsOf(entry).flatMap(({ text }) => {
      const template = parseTemplate(text);
      return template.kind === 'parts' ? template.parts.flatMap(secretsOf) : [];
    }),
  );
}

function secretsOf(part: Part): string[] {
  if (part.kind === 'secret') return [part.name];
  return part.kind === 'variable' ? (part.otherwise ?? []).flatMap(secretsOf) : [];
}

/**
 * The entry of a command with the variables of `env` in settings that its process inherits, such as `PATH`, for the check
 * of the policy. Variables of the administrator's own settings are not included.
 */
export function withSettingsEnv(
  entry: ExternalServerEntry,
  { settings, settingsSources, context }: Pick<Configuration, 'settings' | 'settingsSources' | 'context'>,
): ExternalServerEntry {
  if (!('command' in entry) || entry.command === undefined) return entry;
  const managed = settingsSources.flatMap(({ scope, value: { env } }) =>
    scope === 'managed' && isRecord(env) ? Object.entries(env) : [],
  );
  const isManaged = (name: string, value: string) =>
    managed.some(([it, variable]) => it === name && variable === value);
  const inherited = Object.entries(settings.env).filter(
    ([name, value]) => isInherited(name, context.platform) && !isManaged(name, value),
  );
  return { ...entry, env: { ...Object.fromEntries(inherited), ...entry.env } };
}

/**
 * The variables that server entries can refer to: those of the environment and of settings, and `TOOLPLANE_PROJECT_DIR`,
 * the working directory of the session.
 */
export function entryVariables({
  context,
  settings,
}: Pick<Configuration, 'context' | 'settings'>): Readonly<Record<string, string | undefined>> {
  return { ...context.env, ...settings.env, TOOLPLANE_PROJECT_DIR: context.cwd };
}
