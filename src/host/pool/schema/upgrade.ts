import { isRecord } from '../../../base/is-record.ts';
import { draftOf, KEYWORDS, type KeywordKind } from './keywords.ts';
import { isSchema, placeAfter, readPointer, stepInto, writePointer } from './pointer.ts';
import { type Found, type References, ROOT_BASE, readReferences, referenceOf } from './references.ts';
import { repair } from './repair.ts';
import { mapItems, mapValues, type Schema, withChanges, withNote } from './subschemas.ts';
import type { Survey } from './survey.ts';
import { tidy } from './tidy.ts';

/**
 * The document in draft 2020-12 with every reference a pointer into it. It accepts what the document did, where that
 * was well-formed; what was not is left out, so it accepts more. The same object if there was nothing to do.
 */
export function upgrade(document: Schema, facts: Survey): Schema {
  const draft = draftOf(document);
  const references = readReferences(document, draft, facts.hasNames);
  const moved = new Set<string>();
  for (let pass = 1; ; pass++) {
    const run = new Upgrade(document, draft, references, pass > MOST_PASSES ? 'all' : moved);
    const upgraded = run.document();
    const before = moved.size;
    for (const key of run.lostIn(upgraded)) moved.add(key);
    if (moved.size === before) return upgraded;
  }
}

/** What was moved may refer to more that has to be; one who builds on that gets all of it moved. */
const MOST_PASSES = 8;

/** One pass. `moved` are the places that were referred to and are no more: what was there gets a definition of its own. */
class Upgrade {
  readonly #root: Schema;
  readonly #draft: number;
  readonly #references: References;
  readonly #moved: ReadonlySet<string> | 'all';
  readonly #places = new Map<string, readonly string[]>();
  readonly #definitions = new Map<string, { name: string; found: Found }>();
  readonly #names: Set<string>;

  constructor(root: Schema, draft: number, references: References, moved: ReadonlySet<string> | 'all') {
    this.#root = root;
    this.#draft = draft;
    this.#references = references;
    this.#moved = moved;
    const taken = [root.$defs, root.definitions].flatMap((it) => (isRecord(it) ? Object.keys(it) : []));
    this.#names = new Set(taken);
  }

  document(): Schema {
    const root = this.#schema(this.#root, ROOT_BASE);
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
    const base = this.#references.baseIn(original, outer);
    const schema = repair(original, this.#draft);
    const ref = referenceOf(schema);
    const pointer = ref === undefined ? undefined : this.#pointerTo(ref, base);
    const settled = mapValues(schema, (value, key) => {
      if (key === '$ref') return pointer;
      if (key === '$dynamicRef' || key === '$recursiveRef') return undefined;
      const kind = KEYWORDS.get(key);
      return kind === undefined ? value : this.#value(kind, value, base);
    });
    if (ref === undefined) return settled;
    if (pointer === undefined) {
      return withNote(settled, `Any value: what "${ref}" refers to is not part of this schema.`);
    }
    return Object.hasOwn(schema, '$ref') ? settled : { ...settled, $ref: pointer };
  }

  #value(kind: KeywordKind, value: unknown, base: string): unknown {
    if (kind === 'schema') {
      if (isRecord(value)) return this.#schema(value, base);
      return typeof value === 'boolean' ? value : undefined;
    }
    if (kind === 'schemas') {
      if (!Array.isArray(value) || value.length === 0) return undefined;
      return mapItems(value, (item) => this.#asSchema(item, base));
    }
    if (kind === 'map')
      return isRecord(value) ? mapValues(value, (it) => this.#asSchema(it, base)) : undefined;
    return tidy(kind, value);
  }

  /** A schema that is an object: not all APIs take `true` and `false` for a property. */
  #asSchema(value: unknown, base: string): Schema {
    if (isRecord(value)) return this.#schema(value, base);
    if (value === false) return { not: {} };
    return typeof value === 'string' && value !== '' ? { description: value } : {};
  }

  #pointerTo(ref: string, base: string): string | undefined {
    const found = this.#references.find(ref, base);
    if (found === undefined) return undefined;
    const key = JSON.stringify(found.tokens);
    const place =
      this.#moved === 'all' || this.#moved.has(key) ? undefined : placeAfter(this.#root, found.tokens);
    const pointer = place === undefined ? undefined : isPlain(ref, place) ? ref : writePointer(place);
    if (place !== undefined && pointer !== undefined) {
      this.#places.set(key, place);
      return pointer;
    }
    let definition = this.#definitions.get(key);
    if (definition === undefined) {
      definition = { name: this.#freshName(found.tokens.at(-1) ?? 'root'), found };
      this.#definitions.set(key, definition);
    }
    return `#/$defs/${definition.name}`;
  }

  #freshName(wanted: string): string {
    const plain = wanted.replace(/[^a-zA-Z0-9_-]/g, '_').replace(/^(?=\d|$)/, 'schema');
    let name = plain;
    for (let count = 2; this.#names.has(name); count++) name = `${plain}_${count}`;
    this.#names.add(name);
    return name;
  }
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
