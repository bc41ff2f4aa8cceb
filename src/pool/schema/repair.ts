import { isRecord } from '../../base/json-value.ts';
import { ANNOTATIONS, KEYWORDS, OTHER_ASSERTIONS, SINCE } from './keywords.ts';
import type { Patterns } from './patterns.ts';
import { isSchema } from './pointer.ts';
import { repairType } from './repair-type.ts';
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
