import { isCredentialName } from '../../base/is-credential-name.ts';
import { isNamedCredential } from '../../mcp/connection/secrets.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { checkExternalEntry, type ExternalServerEntry } from '../../protocol/server-entry.ts';
import { mapTexts, type Place } from './members.ts';
import { type Part, parseTemplate } from './template.ts';

/** Who knows what a name stands for. */
export type Lookup = {
  variable(name: string): string | undefined;
  /** Throws one sentence if the store cannot be read. */
  secret(name: string): string | undefined;
};

/** One place where something was put in; the value itself is not kept. */
export type Use = {
  /** Such as `env.TOKEN` or `args[2]`. */
  readonly where: string;
  readonly kind: 'variable' | 'secret';
  readonly name: string;
  /** `default`: the variable is unset or empty, so what stands after `:-` counts. `missing`: there is nothing to put in. */
  readonly from: 'value' | 'default' | 'missing';
};

export type Expanded =
  | {
      readonly kind: 'expanded';
      readonly entry: ExternalServerEntry;
      readonly uses: readonly Use[];
      /** Values that nobody may see. */
      readonly secrets: readonly string[];
      /** Those of them that come from the secret store or from a variable named as a credential. */
      readonly credentials: readonly string[];
    }
  /** Each a sentence that names the variable or secret, its place and what to do; never a value. */
  | { readonly kind: 'faulty'; readonly faults: readonly string[]; readonly uses: readonly Use[] };

/**
 * `${VAR}`, `${VAR:-default}` and `${secret:name}` in command, args, env, cwd, url, headers, headersHelper, tls, authToken
 * and ideName. What was put in is never expanded again, so nothing can go round in circles. Never throws.
 */
export function expandEntry(entry: ExternalServerEntry, lookup: Lookup): Expanded {
  const work: Work = { lookup, uses: [], secrets: new Set(), credentials: new Set(), faults: new Set() };
  const expanded = mapTexts(entry, (place) => expandText(place, work));
  const { uses } = work;
  const faults = [...work.faults, ...missingFaults(uses)];
  if (faults.length > 0) return { kind: 'faulty', faults, uses };
  try {
    // The words of the check name members and never what stands in them.
    const checked = checkExternalEntry('', expanded);
    const [secrets, credentials] = [[...work.secrets], [...work.credentials]];
    return { kind: 'expanded', entry: checked, uses, secrets, credentials };
  } catch (cause) {
    const fault = messageOf(cause).replace('mcpServers[""]: ', '');
    const when = uses.length === 0 ? '' : ', once what it refers to is put in';
    return { kind: 'faulty', faults: [`${fault}${when}`], uses };
  }
}

type Work = {
  readonly lookup: Lookup;
  readonly uses: Use[];
  readonly secrets: Set<string>;
  readonly credentials: Set<string>;
  readonly faults: Set<string>;
};

function expandText(place: Place, work: Work): string {
  const template = parseTemplate(place.text);
  if (template.kind === 'parts') return fill(template.parts, place, work);
  work.faults.add(`${place.where} ${template.fault} (at character ${template.at})`);
  return '';
}

function fill(parts: readonly Part[], place: Place, work: Work): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : putIn(part, place, work))).join('');
}

function putIn(part: Exclude<Part, { kind: 'text' }>, place: Place, work: Work): string {
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
function missingFaults(uses: readonly Use[]): string[] {
  const missing = Map.groupBy(
    uses.filter(({ from }) => from === 'missing'),
    ({ kind, name }) => `${kind}:${name}`,
  );
  return [...missing.values()].map((all) => {
    const { kind, name } = all[0] as Use;
    const places = [...new Set(all.map(({ where }) => where))];
    const who = `which ${places.join(', ')} ${places.length === 1 ? 'refers' : 'refer'} to`;
    return kind === 'secret'
      ? `there is no secret ${name}, ${who}; run "toolplane secret set ${name}"`
      : `the variable ${name}, ${who}, is not set; set it, or write \${${name}:-default}`;
  });
}
