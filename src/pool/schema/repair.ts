import { isRecord } from '../../base/json-value.ts';
import { ANNOTATIONS, KEYWORDS, type KeywordKind, OTHER_ASSERTIONS, SINCE, TYPES } from './keywords.ts';
import type { Meter } from './meter.ts';
import { isSchema } from './references.ts';
import { type Schema, withNote } from './subschemas.ts';

/**
 * One schema in the keywords of 2020-12, not those below it; the same object if it is in them already. `widen` is called
 * if something had to be left out, so that it may accept more.
 */
export function repair(schema: Schema, draft: number, patterns: Patterns, widen: () => void): Schema {
  return needsRepair(schema, draft, patterns) ? rewrite(schema, draft, patterns, widen) : schema;
}

const OLD: ReadonlySet<string> = new Set('additionalItems definitions dependencies nullable'.split(' '));

function needsRepair(schema: Schema, draft: number, patterns: Patterns): boolean {
  for (const key of Object.keys(schema)) {
    const value = schema[key];
    if (OLD.has(key) || (draft < 2019 && isIgnored(key, schema, draft))) return true;
    if (key === 'type') {
      if (repairType(value, undefined).type !== value) return true;
    } else if (key === 'items' ? Array.isArray(value) : typeof value === 'boolean' && BOOLEANS.has(key)) {
      return true;
    } else if (
      key === 'pattern' ? !patterns.has(value) : key === 'patternProperties' && hasBadName(value, patterns)
    ) {
      return true;
    }
  }
  return false;
}

const BOOLEANS: ReadonlySet<string> = new Set(['exclusiveMinimum', 'exclusiveMaximum', 'required']);

function rewrite(schema: Schema, draft: number, patterns: Patterns, widen: () => void): Schema {
  const out = new Map<string, unknown>();
  const notes: string[] = [];
  for (const key of Object.keys(schema)) {
    if (isIgnored(key, schema, draft)) continue;
    const rule = Object.hasOwn(RULES, key) ? RULES[key] : undefined;
    if (rule === undefined) {
      if (!out.has(key)) out.set(key, schema[key]);
    } else rule(schema[key], schema, out, { notes, patterns, widen });
  }
  const rewritten = Object.fromEntries(out);
  return notes.length === 0 ? rewritten : withNote(rewritten, notes.join(' '));
}

/** A draft ignores what it does not know yet; up to 7 also what stands beside a reference and decides something. */
function isIgnored(key: string, schema: Schema, draft: number): boolean {
  return (
    (SINCE.get(key) ?? 0) > draft || (draft < 2019 && typeof schema.$ref === 'string' && isAssertion(key))
  );
}

function isAssertion(key: string): boolean {
  if (key === '$ref' || key === '$defs' || key === 'definitions' || ANNOTATIONS.has(key)) return false;
  return KEYWORDS.has(key) || OTHER_ASSERTIONS.has(key) || OLD.has(key);
}

type Aids = { readonly notes: string[]; readonly patterns: Patterns; readonly widen: () => void };
type Rule = (value: unknown, schema: Schema, out: Map<string, unknown>, aids: Aids) => void;

const RULES: Readonly<Record<string, Rule>> = {
  type: (value, schema, out, { notes, widen }) => {
    const { type, note } = repairType(value, schema.nullable);
    // Only to some validators `nullable` says anything.
    if (type === undefined || schema.nullable === true) widen();
    if (type !== undefined) out.set('type', type);
    if (note !== undefined) notes.push(note);
  },
  nullable: (value, schema, _out, { notes }) => {
    // With a type the rule for types has seen to it.
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
  definitions: (value, schema, out) => {
    if (!isRecord(value)) return;
    out.set('$defs', isRecord(schema.$defs) ? { ...schema.$defs, ...value, ...schema.$defs } : value);
  },
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

function unlessNamesAreBad(key: string): Rule {
  // What a pattern nobody can read allowed must not fall under the rule for the rest.
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
 * The value of `type` as it may stand, the same where it is right. A name nobody knows makes it say nothing,
 * since the server may take more than the other names; `nullable` is OpenAPI's way to say null.
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

/** Tells what is a regular expression. It is only compiled, never run: a server's pattern may take for ever. */
export class Patterns {
  readonly #meter: Meter;
  readonly #known = new Map<string, boolean>();

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  has(value: unknown): boolean {
    if (typeof value !== 'string') return false;
    let isPattern = this.#known.get(value);
    if (isPattern === undefined) {
      this.#meter.read(value);
      // Classes by properties of Unicode are looked up in large tables.
      this.#meter.spend(STEPS + STEPS_PER_CLASS * (value.split(/\\p/i).length - 1));
      isPattern = ['u', ''].some((flags) => compiles(value, flags));
      if (!isPattern) this.#meter.spend(STEPS_IF_NONE);
      this.#known.set(value, isPattern);
    }
    return isPattern;
  }
}

const STEPS = 128;
const STEPS_IF_NONE = 256;
const STEPS_PER_CLASS = 1000;

function compiles(pattern: string, flags: string): boolean {
  try {
    new RegExp(pattern, flags);
    return true;
  } catch {
    return false;
  }
}

/** The value of a keyword that holds no schemas: as it is if it has the right form, else mended or nothing. */
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
    case 'examples':
      return Array.isArray(value) ? value : [value];
    case 'drop':
      return undefined;
  }
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
