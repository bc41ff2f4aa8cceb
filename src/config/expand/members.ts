import { isRecord } from '../../base/is-record.ts';

/** One text of an entry in which something may be put in, and its place, such as `env.TOKEN` or `args[2]`. */
export type Place = {
  readonly where: string;
  readonly text: string;
  /** Whatever is put in there is nobody's business. */
  readonly isPrivate: boolean;
};

/** The entry with each such text as `change` gives it; what is of another type stays, for others to refuse. */
export function mapTexts<T extends object>(entry: T, change: (place: Place) => string): T {
  const members = Object.entries(entry).map(([member, value]) => [member, changed(member, value, change)]);
  return Object.fromEntries(members) as T;
}

/** All such texts of an entry. */
export function textsOf(entry: object): Place[] {
  const found: Place[] = [];
  mapTexts(entry, (place) => {
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

function changed(member: string, value: unknown, change: (place: Place) => string): unknown {
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
