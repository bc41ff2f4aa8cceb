import { isRecord } from '../../base/json-value.ts';
import { isCredentialName } from '../../base/text/redact.ts';
import type { ExpandedEntry, ServerEntry } from '../../mcp/connection/connect-context.ts';
import { isNamedCredential } from '../../mcp/connection/secrets.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { validateEntry } from '../../mcp/servers/server-entry.ts';
import { isInherited } from '../../mcp/transports/stdio/server-environment.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { type ExternalServerEntry, findEntryError } from '../../protocol/server-entry.ts';
import type { Configuration } from '../configuration.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { type Part, parseTemplate } from './parse-template.ts';

/** Who knows what a name stands for. */
export type Lookup = {
  variable(name: string): string | undefined;
  /** Throws one sentence if the store cannot be read. */
  secret(name: string): string | undefined;
};

/** One place where something was put in; the value itself is not kept. */
export type Reference = {
  /** Such as `env.TOKEN` or `args[2]`. */
  readonly where: string;
  readonly kind: 'variable' | 'secret';
  readonly name: string;
  /** `default`: the variable is unset or empty, so what stands after `:-` counts. `missing`: there is nothing to put in. */
  readonly from: 'value' | 'default' | 'missing';
};

type Expanded =
  | {
      readonly kind: 'expanded';
      readonly entry: ExternalServerEntry;
      readonly uses: readonly Reference[];
      /** Values that nobody may see. */
      readonly secrets: readonly string[];
      /** Those of them that come from the secret store or from a variable named as a credential. */
      readonly credentials: readonly string[];
    }
  /** Each a sentence that names the variable or secret, its place and what to do; never a value. */
  | { readonly kind: 'faulty'; readonly faults: readonly string[]; readonly uses: readonly Reference[] };

/**
 * `${VAR}`, `${VAR:-default}` and `${secret:name}` in command, args, env, cwd, url, headers, headersHelper, tls, authToken
 * and ideName. What was put in is never expanded again, so nothing can go round in circles. Never throws.
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
    const when = uses.length === 0 ? '' : ', after its variables are substituted';
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

/** The store itself cannot be read, which is told once. */
const UNREADABLE = Symbol('unreadable');

function secretOf(name: string, { lookup, faults }: Work): string | undefined | typeof UNREADABLE {
  try {
    return lookup.secret(name);
  } catch (cause) {
    faults.add(messageOf(cause));
    return UNREADABLE;
  }
}

/** One sentence for each name, with all places that need it. */
function missingFaults(uses: readonly Reference[]): string[] {
  const missing = Map.groupBy(
    uses.filter(({ from }) => from === 'missing'),
    ({ kind, name }) => `${kind}:${name}`,
  );
  return [...missing.values()].map((all) => {
    const { kind, name } = all[0] as Reference;
    const places = [...new Set(all.map(({ where }) => where))];
    const who = `which ${places.join(', ')} ${places.length === 1 ? 'refers' : 'refer'} to`;
    return kind === 'secret'
      ? `secret ${name}, ${who}, does not exist; run "toolplane secret set ${name}"`
      : `the variable ${name}, ${who}, is not set; set it, or write \${${name}:-default}`;
  });
}

/** Where what is put in comes from. */
type ExpanderOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asked only if an entry refers to a secret, and each time anew. */
  readonly secrets: SecretStore | (() => SecretStore);
  /** Servers whose entry is taken as it is written, such as one that comes from the network. */
  readonly literal?: (server: string) => boolean;
};

/** Puts in what entries refer to, each time they are dialled. Throws one `bad-config` that names all that is wrong. */
export function createExpander({ env, secrets, literal }: ExpanderOptions) {
  const lookup = {
    // Not by `env[name]` alone: `constructor` is no variable.
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

/** One text of an entry in which something may be put in, and its place, such as `env.TOKEN` or `args[2]`. */
type StringMember = {
  readonly where: string;
  readonly text: string;
  /** Whatever is put in there is nobody's business. */
  readonly isPrivate: boolean;
};

/** The entry with each such text as `change` gives it; what is of another type stays, for others to refuse. */
function mapStrings<T extends object>(entry: T, change: (place: StringMember) => string): T {
  const members = Object.entries(entry).map(([member, value]) => [member, changed(member, value, change)]);
  return Object.fromEntries(members) as T;
}

/** All such texts of an entry. */
function stringsOf(entry: object): StringMember[] {
  const found: StringMember[] = [];
  mapStrings(entry, (place) => {
    found.push(place);
    return place.text;
  });
  return found;
}

const TEXTS: ReadonlySet<string> = new Set([
  'command',
  'cwd',
  'url',
  'headersHelper',
  'authToken',
  'ideName',
]);
const MAPS: ReadonlySet<string> = new Set(['env', 'headers', 'tls']);
const PRIVATE = /^(env|headers)\b|^authToken$|^tls\.key$/;

function changed(member: string, value: unknown, change: (place: StringMember) => string): unknown {
  const at = (where: string, text: unknown) =>
    typeof text === 'string' ? change({ where, text, isPrivate: PRIVATE.test(where) }) : text;
  if (TEXTS.has(member)) return at(member, value);
  if (member === 'args' && Array.isArray(value)) return value.map((it, index) => at(`args[${index}]`, it));
  if (!MAPS.has(member) || !isRecord(value) || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, it]) => [name, at(member + keyText(name), it)]),
  );
}

/** A name that is no plain word must not break the line. */
function keyText(name: string): string {
  return /^[\w-]{1,100}$/.test(name) ? `.${name}` : `[${JSON.stringify(name.slice(0, 100))}]`;
}

/** The secrets an entry refers to, also those that only a default does; what is malformed refers to none. */
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
 * An entry of a command as the policy has to see it: with the variables of `env` in settings that its process inherits,
 * such as `PATH`, except what the administrator's own settings say.
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
 * The variables that `${…}` in server entries may name: those of the environment and of settings, and
 * `TOOLPLANE_PROJECT_DIR`, the directory the session works in.
 */
export function entryVariables({
  context,
  settings,
}: Pick<Configuration, 'context' | 'settings'>): Readonly<Record<string, string | undefined>> {
  return { ...context.env, ...settings.env, TOOLPLANE_PROJECT_DIR: context.cwd };
}
