import { isRecord } from '../../base/json-value.ts';
import {
  ANNOTATIONS,
  FURTHER_CONDITIONS,
  isWritable,
  KEYWORDS,
  type KeywordKind,
  type Schema,
  SINCE_2019,
  TooLarge,
  TYPES,
  withNote,
} from './keywords.ts';
import { isSchema } from './references.ts';

/**
 * One schema in the keywords of 2020-12, without the schemas below it; the same object if nothing had to change.
 * `isOld` is true for drafts up to 7. `widen` is called if the schema may accept more now.
 */
export function repair(schema: Schema, isOld: boolean, patterns: Patterns, widen: () => void): Schema {
  const hasRef = typeof schema.$ref === 'string';
  const isIgnored = (key: string) => isOld && (SINCE_2019.has(key) || (hasRef && isAssertion(key)));
  const needsRepair = Object.keys(schema).some(
    (key) => isIgnored(key) || isWrong(key, schema[key], patterns),
  );
  if (!needsRepair) return schema;
  const out = new Map<string, unknown>();
  const notes: string[] = [];
  for (const key of Object.keys(schema)) {
    if (isIgnored(key)) continue;
    const rule = Object.hasOwn(RULES, key) ? RULES[key] : undefined;
    if (rule !== undefined) rule(schema[key], schema, out, { notes, patterns, widen });
    else if (!out.has(key)) out.set(key, schema[key]);
  }
  const repaired = Object.fromEntries(out);
  return notes.length === 0 ? repaired : withNote(repaired, notes.join(' '));
}

function isAssertion(key: string): boolean {
  if (key === '$ref' || key === '$defs' || ANNOTATIONS.has(key)) return false;
  return KEYWORDS.has(key) || ASSERTIONS.has(key);
}

/** Keywords that decide about values and are not in the table of keywords, those of older drafts included. */
const ASSERTIONS: ReadonlySet<string> = new Set('type additionalItems dependencies nullable'.split(' '));

/** Whether the value of a keyword needs one of the rules below. */
function isWrong(key: string, value: unknown, patterns: Patterns): boolean {
  switch (key) {
    case 'type':
      return repairType(value, undefined).type !== value;
    case 'items':
      return Array.isArray(value);
    case 'pattern':
      return !patterns.has(value);
    case 'patternProperties':
      return hasBadName(value, patterns);
    case 'enum':
    case 'const':
      return !isWritable(value);
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
    case 'required':
      return typeof value === 'boolean';
    default:
      return ASSERTIONS.has(key);
  }
}

type Aids = { readonly notes: string[]; readonly patterns: Patterns; readonly widen: () => void };
type Rule = (value: unknown, schema: Schema, out: Map<string, unknown>, aids: Aids) => void;

const RULES: Readonly<Record<string, Rule>> = {
  type: (value, schema, out, { notes, widen }) => {
    const { type, note } = repairType(value, schema.nullable);
    // Only some validators know `nullable`.
    if (type === undefined || schema.nullable === true) widen();
    if (type !== undefined) out.set('type', type);
    if (note !== undefined) notes.push(note);
  },
  nullable: (value, schema, _out, { notes }) => {
    // With a type, the rule for types adds null.
    if (value === true && repairType(schema.type, true).type === undefined) notes.push('May be null.');
  },
  required: (value, _schema, out, { notes, widen }) => {
    if (value === true) {
      notes.push('Required.');
      widen();
    } else if (value !== false) out.set('required', value);
  },
  pattern: (value, _schema, out, { notes, patterns, widen }) => {
    if (patterns.has(value)) {
      out.set('pattern', value);
      return;
    }
    widen();
    if (typeof value === 'string') notes.push(`Pattern: ${value}`);
  },
  patternProperties: (value, _schema, out, { patterns, widen }) => {
    if (!isRecord(value) || hasBadName(value, patterns)) widen();
    if (!isRecord(value)) return;
    out.set(
      'patternProperties',
      Object.fromEntries(Object.entries(value).filter(([name]) => patterns.has(name))),
    );
  },
  additionalProperties: unlessNamesAreBad('additionalProperties'),
  unevaluatedProperties: unlessNamesAreBad('unevaluatedProperties'),
  minimum: unlessExclusive('minimum', 'exclusiveMinimum'),
  maximum: unlessExclusive('maximum', 'exclusiveMaximum'),
  exclusiveMinimum: exclusive('minimum', 'exclusiveMinimum'),
  exclusiveMaximum: exclusive('maximum', 'exclusiveMaximum'),
  enum: unlessUnwritable('enum'),
  const: unlessUnwritable('const'),
  items: (value, schema, out, { widen }) => {
    if (!Array.isArray(value)) {
      out.set('items', value);
      return;
    }
    if (value.length > 0) out.set('prefixItems', value);
    if (isSchema(schema.additionalItems)) out.set('items', schema.additionalItems);
    else if (schema.additionalItems !== undefined) widen();
  },
  prefixItems: (value, schema, out, { widen }) => {
    if (Array.isArray(schema.items)) widen();
    else out.set('prefixItems', value);
  },
  additionalItems: () => {},
  dependencies: (value, schema, out, { widen }) => {
    if (!isRecord(value)) {
      widen();
      return;
    }
    const entries = Object.entries(value).map(([name, needs]) => [
      name,
      typeof needs === 'string' ? [needs] : needs,
    ]);
    const lists = entries.filter(([, needs]) => Array.isArray(needs));
    const schemas = entries.filter(([, needs]) => isSchema(needs));
    if (lists.length + schemas.length < entries.length) widen();
    const put = (key: string, old: typeof entries) => {
      const own = isRecord(schema[key]) ? schema[key] : {};
      // Of two rules for one name only the newer keyword's is kept.
      if (old.length > 0 && schema[key] !== undefined) widen();
      if (old.length > 0) out.set(key, { ...own, ...Object.fromEntries(old), ...own });
    };
    put('dependentRequired', lists);
    put('dependentSchemas', schemas);
  },
};

function unlessUnwritable(key: string): Rule {
  return (value, _schema, out, { notes, widen }) => {
    if (isWritable(value)) out.set(key, value);
    else {
      notes.push(FURTHER_CONDITIONS);
      widen();
    }
  };
}

function unlessNamesAreBad(key: string): Rule {
  // Names that only an invalid pattern allowed must not be judged by this keyword.
  return (value, schema, out, { patterns }) => {
    if (!hasBadName(schema.patternProperties, patterns)) out.set(key, value);
  };
}

function unlessExclusive(bound: string, flag: string): Rule {
  return (value, schema, out) => {
    if (schema[flag] !== true || typeof value !== 'number') out.set(bound, value);
  };
}

function exclusive(bound: string, flag: string): Rule {
  return (value, schema, out) => {
    if (typeof value !== 'boolean') out.set(flag, value);
    else if (value && typeof schema[bound] === 'number') out.set(flag, schema[bound]);
  };
}

function hasBadName(named: unknown, patterns: Patterns): boolean {
  return isRecord(named) && !Object.keys(named).every((name) => patterns.has(name));
}

/**
 * A valid value for `type`, the same if it was valid. With an unknown type name there is none, because the server may
 * accept more than the other names; `nullable` is OpenAPI's keyword for null.
 */
function repairType(type: unknown, nullable: unknown): { type?: unknown; note?: string } {
  if (nullable !== true && typeof type === 'string' && TYPES.has(type)) return { type };
  if (typeof type !== 'string' && !Array.isArray(type)) return {};
  const names: unknown[] = Array.isArray(type) ? type : [type];
  const unknown = names.filter((name) => !TYPES.has(name));
  if (unknown.length > 0) {
    const typeNames = unknown.filter((name) => typeof name === 'string' && name !== 'any' && name !== '');
    return typeNames.length === 0 ? {} : { note: `Type: ${typeNames.join(' or ')}.` };
  }
  if (names.length === 0) return {};
  const once = new Set(names);
  if (nullable === true) once.add('null');
  if (once.size === names.length) return { type };
  return { type: [...once] };
}

/** Checks texts for being regular expressions. They are compiled and never run: a server's pattern may not terminate. */
export class Patterns {
  readonly #known = new Map<string, boolean>();
  #left = MAX_PATTERN_CHARACTERS;

  has(value: unknown): boolean {
    if (typeof value !== 'string') return false;
    let isPattern = this.#known.get(value);
    if (isPattern === undefined) {
      this.#left -= value.length;
      if (this.#left < 0) throw new TooLarge();
      isPattern = ['u', ''].some((flags) => compiles(value, flags));
      this.#known.set(value, isPattern);
    }
    return isPattern;
  }
}

/** Maximum number of characters of all patterns of a document together; compiling character classes is slow. */
const MAX_PATTERN_CHARACTERS = 100_000;

function compiles(pattern: string, flags: string): boolean {
  try {
    new RegExp(pattern, flags);
    return true;
  } catch {
    return false;
  }
}

/** The value of a keyword that holds no schemas: the same if it is valid, otherwise a valid one or undefined. */
export function tidy(kind: Exclude<KeywordKind, 'schema' | 'schemas' | 'map'>, value: unknown): unknown {
  switch (kind) {
    case 'count':
      return Number.isInteger(value) && (value as number) >= 0 ? value : undefined;
    case 'number':
      return Number.isFinite(value) ? value : undefined;
    case 'step':
      return Number.isFinite(value) && (value as number) > 0 ? value : undefined;
    case 'flag':
      return typeof value === 'boolean' ? value : undefined;
    case 'text':
      return typeof value === 'string' ? value : value === null ? undefined : JSON.stringify(value);
    case 'names':
      return Array.isArray(value) ? names(value) : undefined;
    case 'name-lists':
      return isRecord(value) ? nameLists(value) : undefined;
    case 'values':
      return Array.isArray(value) && value.length > 0 ? value : undefined;
    case 'value':
      return isWritable(value) ? value : undefined;
    case 'examples':
      return writableItems(Array.isArray(value) ? value : [value]);
    case 'drop':
      return undefined;
  }
}

function writableItems(list: readonly unknown[]): readonly unknown[] {
  return list.every(isWritable) ? list : list.filter(isWritable);
}

function names(list: readonly unknown[]): readonly unknown[] {
  const unique = new Set(list);
  if (unique.size === list.length && list.every((name) => typeof name === 'string')) return list;
  return [...unique].filter((name) => typeof name === 'string');
}

function nameLists(lists: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(lists).filter(([, list]) => Array.isArray(list)) as [string, unknown[]][];
  const tidied = entries.map(([name, list]): [string, unknown] => [name, names(list)]);
  const isSameSchema =
    tidied.length === Object.keys(lists).length && tidied.every(([name, it]) => it === lists[name]);
  return isSameSchema ? lists : Object.fromEntries(tidied);
}
