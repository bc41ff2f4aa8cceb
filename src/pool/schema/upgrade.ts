import { isRecord } from '../../base/json-value.ts';
import {
  describeCondition,
  FURTHER_CONDITIONS,
  isOldDraft,
  KEYWORDS,
  type KeywordKind,
  mapItems,
  mapValues,
  type Schema,
  TooLarge,
  withChanges,
  withNote,
} from './keywords.ts';
import {
  FreshNames,
  isSchema,
  isStablePlace,
  References,
  referenceOf,
  resourceOf,
  type Target,
  valueAt,
} from './references.ts';
import { Patterns, repair, tidy } from './repair.ts';

type UpgradeOptions = {
  /** Whether the document has an `$id` or an anchor anywhere. */
  readonly hasNames: boolean;
  /** Whether references may keep pointing to places outside `$defs`; false if the root will be changed afterwards. */
  readonly keepsPlaces: boolean;
};

/**
 * The document in draft 2020-12 with every reference a pointer into the document; the same object if nothing had to
 * change. Malformed parts are dropped, so that it accepts more than before. As soon as anything was dropped, keywords
 * that refuse values because a schema accepts them (`not`, `if`, `oneOf` …) are replaced by notes everywhere: otherwise
 * the document could refuse values that it accepted before.
 */
export function upgrade(document: Schema, { hasNames, keepsPlaces }: UpgradeOptions): Schema {
  const references = new References(document, hasNames);
  const patterns = new Patterns();
  for (let pass: Pass = { keepsPlaces, isWidened: false }; ; ) {
    const run = new Upgrade(document, references, patterns, pass);
    const upgraded = run.document();
    const next = { keepsPlaces: pass.keepsPlaces && run.hasPlacesIn(upgraded), isWidened: run.isWidened };
    if (next.keepsPlaces === pass.keepsPlaces && next.isWidened === pass.isWidened) return upgraded;
    pass = next;
  }
}

/** What the earlier passes found out. */
type Pass = {
  /** Whether references keep pointing to places outside `$defs`. */
  readonly keepsPlaces: boolean;
  /** Whether a part of the document was dropped. */
  readonly isWidened: boolean;
};

/** Maximum number of schemas that are visited, for references that lead to parts of each other. */
const MAX_SCHEMAS = 100_000;

class Upgrade {
  readonly #document: Schema;
  readonly #references: References;
  readonly #patterns: Patterns;
  readonly #pass: Pass;
  readonly #isOld: boolean;
  readonly #names: FreshNames;
  /** Places that references keep pointing to. */
  readonly #places = new Set<readonly string[]>();
  /** Schemas that became definitions because references cannot point to their places. */
  readonly #definitions = new Map<unknown, { readonly name: string; readonly target: Target }>();
  #visited = 0;
  isWidened: boolean;

  constructor(document: Schema, references: References, patterns: Patterns, pass: Pass) {
    this.#document = document;
    this.#references = references;
    this.#patterns = patterns;
    this.#pass = pass;
    this.#isOld = isOldDraft(document);
    this.#names = new FreshNames(isRecord(document.$defs) ? Object.keys(document.$defs) : []);
    this.isWidened = pass.isWidened;
  }

  document(): Schema {
    const root = this.#schema(this.#document, this.#document);
    const added: [string, unknown][] = [];
    const changes = new Map<string, unknown>();
    // A definition may add further ones; the iteration includes them.
    for (const { name, target } of this.#definitions.values()) {
      const { schema, resource, place: [container] = [] } = target;
      const inner = schema === this.#document ? withoutDefinitions(this.#document) : schema;
      added.push([name, this.#asSchema(inner, resource)]);
      // Keys like OpenAPI's `components` have no use once their schemas are definitions.
      if (container !== undefined && !KEYWORDS.has(container) && !OTHER_KEYWORDS.has(container)) {
        changes.set(container, undefined);
      }
    }
    if (added.length === 0) return root;
    const own = isRecord(root.$defs) ? Object.entries(root.$defs) : [];
    return withChanges(root, changes.set('$defs', Object.fromEntries([...own, ...added])));
  }

  /** Whether all places that references point to have a schema in the upgraded document. */
  hasPlacesIn(upgraded: Schema): boolean {
    return [...this.#places].every((place) => isSchema(valueAt(upgraded, place)));
  }

  #schema(original: Schema, outer: Schema): Schema {
    if (++this.#visited > MAX_SCHEMAS) throw new TooLarge();
    const resource = resourceOf(original, outer);
    const widen = () => {
      this.isWidened = true;
    };
    const repaired = repair(original, this.#isOld, this.#patterns, widen);
    const schema = this.#pass.isWidened ? withoutNarrowing(repaired) : repaired;
    const ref = referenceOf(schema);
    const target = ref === undefined ? undefined : this.#references.targetOf(original, resource);
    const pointer = ref === undefined || target === undefined ? undefined : this.#pointerTo(ref, target);
    const upgraded = mapValues(schema, (value, key) => {
      if (REFERENCES.has(key)) {
        if (pointer === undefined || value !== ref) widen();
        return key === '$ref' ? pointer : undefined;
      }
      const kind = KEYWORDS.get(key);
      if (kind === undefined) return value;
      const next = this.#value(kind, value, key, resource);
      if (next !== value && isLoss(kind, key, next)) widen();
      return next;
    });
    if (ref === undefined) return upgraded;
    if (pointer === undefined) {
      return withNote(upgraded, `Any value: the reference "${ref}" cannot be resolved within this schema.`);
    }
    return Object.hasOwn(schema, '$ref') ? upgraded : { ...upgraded, $ref: pointer };
  }

  #value(kind: KeywordKind, value: unknown, key: string, resource: Schema): unknown {
    switch (kind) {
      case 'schema':
        if (isRecord(value)) return this.#asSchema(value, resource, key);
        return typeof value === 'boolean' ? value : undefined;
      case 'schemas':
        if (!Array.isArray(value) || value.length === 0) return undefined;
        return mapItems(value, (item) => this.#asSchema(item, resource, key));
      case 'map':
        return isRecord(value) ? mapValues(value, (it) => this.#asSchema(it, resource, key)) : undefined;
      default:
        return tidy(kind, value);
    }
  }

  /** A schema that is an object: not all APIs accept `true` and `false` for a property. */
  #asSchema(value: unknown, resource: Schema, key?: string): Schema {
    if (isRecord(value)) return this.#schema(value, resource);
    if (value === false) return { not: {} };
    if (value !== true && key !== undefined && !UNUSED_UNLESS_REFERENCED.has(key)) this.isWidened = true;
    return typeof value === 'string' && value !== '' ? { description: value } : {};
  }

  /** A pointer to a schema: to its place if it stays there, otherwise to a definition. */
  #pointerTo(ref: string, target: Target): string {
    const { schema, place, name } = target;
    const isDefinition = place?.length === 2 && place[0] === '$defs';
    if (place && (isDefinition || this.#pass.keepsPlaces) && isStablePlace(this.#document, place)) {
      this.#places.add(place);
      return ref.includes('#') ? ref.slice(ref.indexOf('#')) : '#';
    }
    let definition = this.#definitions.get(schema);
    if (definition === undefined) {
      definition = { name: this.#names.next(name), target };
      this.#definitions.set(schema, definition);
    }
    return `#/$defs/${definition.name}`;
  }
}

const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef']);
/** Keywords that are in no table because their values need no repair by kind. */
const OTHER_KEYWORDS: ReadonlySet<string> = new Set(['type', '$ref', 'additionalItems']);
/** Keywords whose schemas apply to no value unless they are referenced. */
const UNUSED_UNLESS_REFERENCED: ReadonlySet<string> = new Set(['$defs', 'contentSchema']);
/** Kinds of keywords without which a schema accepts the same values. */
const HARMLESS: ReadonlySet<KeywordKind> = new Set(['text', 'examples', 'drop']);

/** Whether a schema may accept more after the value of one of its keywords changed. */
function isLoss(kind: KeywordKind, key: string, next: unknown): boolean {
  if (HARMLESS.has(kind) || UNUSED_UNLESS_REFERENCED.has(key) || key === 'default') return false;
  if (kind === 'flag') return key === 'uniqueItems';
  // Losses within subschemas are noticed when these are upgraded.
  return next === undefined || !(kind === 'schema' || kind === 'schemas' || kind === 'map');
}

function withoutDefinitions(schema: Schema): Schema {
  const { $defs: _, ...rest } = schema;
  return rest;
}

/**
 * One schema of 2020-12 without the keywords by which it refuses values that a schema in it accepts; notes describe
 * them instead.
 */
function withoutNarrowing(schema: Schema): Schema {
  const changes = new Map<string, unknown>();
  const notes = new Set<string>();
  const drop = (...keys: string[]) => {
    for (const key of keys) changes.set(key, undefined);
  };
  const { not, if: condition, then, else: otherwise, oneOf, anyOf, allOf } = schema;
  if (not !== undefined && !isNothing(not)) {
    drop('not');
    notes.add(describeCondition('Must not be', not));
  }
  if (condition !== undefined) {
    drop('if', 'then', 'else');
    notes.add(describeCondition('Condition:', { if: condition, then, else: otherwise }));
  }
  if (Array.isArray(oneOf) && oneOf.length > 0) {
    drop('oneOf');
    if (anyOf === undefined) changes.set('anyOf', oneOf);
    else changes.set('allOf', [...(Array.isArray(allOf) ? allOf : []), { anyOf: oneOf }]);
    notes.add(ONLY_ONE);
  }
  const dropped = COUNTING.filter((key) => schema[key] !== undefined);
  if (dropped.length > 0) {
    drop(...dropped);
    notes.add(FURTHER_CONDITIONS);
  }
  return changes.size === 0 ? schema : withNote(withChanges(schema, changes), [...notes].join(' '));
}

/** Keywords whose meaning depends on which items and properties other keywords accept. */
const COUNTING = ['maxContains', 'unevaluatedItems', 'unevaluatedProperties'];

const ONLY_ONE = 'Exactly one of the alternatives must match; the server validates this.';

/** `not: {}` is how a schema that accepts nothing is written. */
function isNothing(not: unknown): boolean {
  return typeof not === 'object' && not !== null && Object.keys(not).length === 0;
}
