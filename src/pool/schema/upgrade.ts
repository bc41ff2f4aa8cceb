import { isRecord } from '../../base/json-value.ts';
import { draftOf, KEYWORDS, type KeywordKind } from './keywords.ts';
import type { Meter } from './meter.ts';
import { withoutNarrowing } from './narrowing.ts';
import {
  type Found,
  FreshNames,
  isSchema,
  placeAfter,
  type References,
  ROOT_BASE,
  readPointer,
  readReferences,
  referenceOf,
  stepInto,
  writePointer,
} from './references.ts';
import { Patterns, repair, tidy } from './repair.ts';

import { mapItems, mapValues, type Schema, withChanges, withNote } from './subschemas.ts';
import { type Survey, withoutOddNumbers } from './survey.ts';

/**
 * The document in draft 2020-12 with every reference a pointer into the document; the same object if nothing had to
 * change. Malformed parts are dropped, so that it accepts more than before. As soon as anything was dropped, keywords
 * that refuse values because a schema accepts them (`not`, `if`, `oneOf` …) are replaced by notes everywhere: otherwise
 * the document could refuse values that it accepted before.
 */
export function upgrade(document: Schema, facts: Survey, meter: Meter): Schema {
  const draft = draftOf(document);
  const references = readReferences(document, draft, facts.hasNames, meter);
  const patterns = new Patterns(meter);
  const moved = new Set<string>();
  let isWidened = false;
  for (let pass = 1; ; pass++) {
    const run = new Upgrade(
      { document, draft, odd: facts.odd, references, patterns, isWidened, meter },
      pass > MAX_PASSES ? 'all' : moved,
    );
    const upgraded = run.document();
    const before = moved.size;
    for (const key of run.lostIn(upgraded)) moved.add(key);
    if (isWidened === run.isWidened && moved.size === before) return upgraded;
    isWidened = run.isWidened;
  }
}

/** A moved definition may refer to more places that have to move; after so many passes all of them are moved. */
const MAX_PASSES = 8;

/** What all passes share. */
type Task = {
  readonly document: Schema;
  readonly draft: number;
  readonly odd: ReadonlySet<unknown>;
  readonly references: References;
  readonly patterns: Patterns;
  /** Whether an earlier pass dropped a part of the document. */
  readonly isWidened: boolean;
  readonly meter: Meter;
};

/** One pass. `moved` are the places that were referred to and are no more: what was there gets a definition of its own. */
class Upgrade {
  readonly #task: Task;
  readonly #moved: ReadonlySet<string> | 'all';
  readonly #places = new Map<string, readonly string[]>();
  readonly #definitions = new Map<string, { name: string; found: Found }>();
  readonly #names: FreshNames;
  /** Whether a part of the document was dropped, in this pass or before. */
  isWidened: boolean;
  /** A reference that is made again finds the same. */
  readonly #pointers = new Map<Found, string>();

  constructor(task: Task, moved: ReadonlySet<string> | 'all') {
    this.#task = task;
    this.#moved = moved;
    this.isWidened = task.isWidened;
    const { $defs, definitions } = task.document;
    const taken = [$defs, definitions].flatMap((it) => (isRecord(it) ? Object.keys(it) : []));
    this.#names = new FreshNames(taken);
  }

  document(): Schema {
    const root = this.#schema(this.#task.document, ROOT_BASE);
    if (this.#definitions.size === 0) return root;
    const added: [string, unknown][] = [];
    // A definition may ask for more of them; a map's iterator sees those too.
    for (const { name, found } of this.#definitions.values()) {
      added.push([name, this.#asSchema(found.target, found.base)]);
    }
    const changes = new Map<string, unknown>();
    for (const { found } of this.#definitions.values()) {
      const [container] = found.tokens;
      if (container !== undefined && isForeign(container)) changes.set(container, undefined);
    }
    const own = isRecord(root.$defs) ? Object.entries(root.$defs) : [];
    changes.set('$defs', Object.fromEntries([...own, ...added]));
    return withChanges(root, changes);
  }

  /** The places that references were made to and that are not there. */
  lostIn(upgraded: Schema): string[] {
    const lost = [...this.#places].filter(
      ([, place]) => !isSchema(place.reduce<unknown>((at, token) => stepInto(at, token), upgraded)),
    );
    return lost.map(([key]) => key);
  }

  #schema(original: Schema, outer: string): Schema {
    const { references, patterns, isWidened, draft, odd, meter } = this.#task;
    meter.spend(STEPS_PER_SCHEMA);
    const base = references.baseIn(original, outer);
    const widen = () => {
      this.isWidened = true;
    };
    const repaired = repair(withoutOddNumbers(original, odd, widen), draft, patterns, widen);
    const schema = isWidened ? withoutNarrowing(repaired, odd, meter) : repaired;
    const ref = referenceOf(schema);
    const found = ref === undefined ? undefined : references.find(ref, base);
    const pointer = ref === undefined || found === undefined ? undefined : this.#pointerTo(ref, found);
    const settled = mapValues(schema, (value, key) => {
      if (REFERENCES.has(key)) {
        if (pointer === undefined || value !== ref) widen();
        return key === '$ref' ? pointer : undefined;
      }
      meter.read(key);
      const kind = KEYWORDS.get(key);
      if (kind === undefined) return value;
      const next = this.#value(kind, value, key, base);
      if (next !== value && isLoss(kind, key, next)) widen();
      return next;
    });
    if (ref === undefined) return settled;
    if (pointer === undefined) {
      return withNote(settled, `Any value: what "${ref}" refers to is not part of this schema.`);
    }
    return Object.hasOwn(schema, '$ref') ? settled : { ...settled, $ref: pointer };
  }

  #value(kind: KeywordKind, value: unknown, key: string, base: string): unknown {
    if (kind === 'schema') {
      if (isRecord(value)) return this.#asSchema(value, base, key);
      return typeof value === 'boolean' ? value : undefined;
    }
    if (kind === 'schemas') {
      if (!Array.isArray(value) || value.length === 0) return undefined;
      return mapItems(value, (item) => this.#asSchema(item, base, key));
    }
    if (kind === 'map') {
      if (!isRecord(value)) return undefined;
      return mapValues(value, (it, name) => {
        this.#task.meter.read(name);
        return this.#asSchema(it, base, key);
      });
    }
    this.#task.meter.spend(stepsOf(value));
    return tidy(kind, value);
  }

  /** A schema that is an object: not all APIs take `true` and `false` for a property. */
  #asSchema(value: unknown, base: string, key?: string): Schema {
    if (isRecord(value)) return this.#schema(value, base);
    if (value === false) return { not: {} };
    if (value !== true && key !== undefined && !UNUSED_UNLESS_REFERENCED.has(key)) this.isWidened = true;
    return typeof value === 'string' && value !== '' ? { description: value } : {};
  }

  #pointerTo(ref: string, found: Found): string {
    let pointer = this.#pointers.get(found);
    if (pointer === undefined) {
      pointer = this.#pointerToFound(ref, found);
      this.#pointers.set(found, pointer);
    }
    return pointer;
  }

  #pointerToFound(ref: string, found: Found): string {
    this.#task.meter.read(ref, ...found.tokens);
    this.#task.meter.spend(STEPS_PER_SCHEMA + STEPS_PER_TOKEN * found.tokens.length);
    const key = JSON.stringify(found.tokens);
    const place =
      this.#moved === 'all' || this.#moved.has(key)
        ? undefined
        : placeAfter(this.#task.document, found.tokens);
    const pointer = place === undefined ? undefined : isPlain(ref, place) ? ref : writePointer(place);
    if (place !== undefined && pointer !== undefined) {
      this.#places.set(key, place);
      return pointer;
    }
    let definition = this.#definitions.get(key);
    if (definition === undefined) {
      definition = { name: this.#names.next(found.tokens.at(-1) ?? 'root'), found };
      this.#definitions.set(key, definition);
    }
    return `#/$defs/${definition.name}`;
  }
}

const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef']);
/** Keywords whose schemas apply to no value unless they are referenced. */
const UNUSED_UNLESS_REFERENCED: ReadonlySet<string> = new Set(['$defs', 'contentSchema']);
/** Kinds of keywords without which a schema accepts what it did. */
const HARMLESS: ReadonlySet<KeywordKind> = new Set(['text', 'examples', 'drop']);

/** Whether a schema may accept more, now that one of its keywords has another value. */
function isLoss(kind: KeywordKind, key: string, next: unknown): boolean {
  if (HARMLESS.has(kind) || UNUSED_UNLESS_REFERENCED.has(key)) return false;
  if (kind === 'flag') return key === 'uniqueItems';
  // What became of the schemas in it they tell themselves.
  return next === undefined || !(kind === 'schema' || kind === 'schemas' || kind === 'map');
}

const STEPS_PER_SCHEMA = 32;
const STEPS_PER_TOKEN = 8;

/** About what it takes to tidy a value that holds no schemas. */
function stepsOf(value: unknown): number {
  if (typeof value === 'string') return value.length / 16;
  if (Array.isArray(value)) return 4 * value.length;
  if (!isRecord(value)) return 0;
  return Object.values(value).reduce<number>((sum, it) => sum + (Array.isArray(it) ? 4 * it.length : 1), 0);
}

/** Whether the reference's own text already is the pointer to that place. */
function isPlain(ref: string, place: readonly string[]): boolean {
  const tokens = ref.startsWith('#') ? readPointer(ref.slice(1)) : undefined;
  return tokens !== undefined && tokens.length === place.length && tokens.every((it, at) => it === place[at]);
}

/** A key that is no keyword, like OpenAPI's `components`: once its schemas are definitions it has no use. */
function isForeign(key: string): boolean {
  return !KEYWORDS.has(key) && !['const', 'default', 'type', '$ref', 'additionalItems'].includes(key);
}
