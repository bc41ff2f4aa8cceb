import { isRecord } from '../../base/json-value.ts';
import { KEYWORDS, type Schema } from './keywords.ts';

/** The schema that a reference leads to. */
export type Target = {
  readonly schema: unknown;
  /** The document, or the subschema with an `$id`, that pointers inside the schema start from. */
  readonly resource: Schema;
  /** A name for the schema, from the reference to it. */
  readonly name: string;
  /** The tokens of the pointer from the document; undefined if the reference is not such a pointer. */
  readonly place?: readonly string[];
};

/** Resolves references within one document; never fetches anything. */
export class References {
  readonly #document: Schema;
  /** Schemas by `$id`, and by `#` and `$anchor`; undefined for a name that is used more than once. */
  readonly #named = new Map<string, Target | undefined>();
  readonly #resolved = new Map<Schema, Target | undefined>();

  constructor(document: Schema, hasNames: boolean) {
    this.#document = document;
    if (hasNames) this.#index(document, document);
  }

  /** The target of a schema's reference; undefined if it is not in the document or only leads back to itself. */
  targetOf(schema: Schema, resource: Schema): Target | undefined {
    const target = this.#resolve(schema, resource);
    const passed = new Set<unknown>();
    for (let at = target; at && isRecord(at.schema) && referenceOf(at.schema) !== undefined; ) {
      if (passed.has(at.schema)) return undefined;
      passed.add(at.schema);
      if (passed.size > MAX_HOPS) break;
      at = this.#resolve(at.schema, at.resource);
    }
    return target;
  }

  #resolve(schema: Schema, resource: Schema): Target | undefined {
    if (!this.#resolved.has(schema)) {
      this.#resolved.set(schema, this.#find(referenceOf(schema) ?? '', resource));
    }
    return this.#resolved.get(schema);
  }

  #find(ref: string, resource: Schema): Target | undefined {
    const [base = '', fragment = ''] = ref.split(/#(.*)/s);
    const start = base === '' ? resource : this.#named.get(base)?.schema;
    const tokens = readPointer(fragment);
    if (tokens === undefined) return this.#named.get(`#${fragment}`);
    if (!isRecord(start)) return undefined;
    let [schema, inner]: [unknown, Schema] = [start, start];
    for (const token of tokens) {
      schema = stepInto(schema, token);
      inner = resourceOf(schema, inner);
    }
    if (!isSchema(schema)) return undefined;
    const name = tokens.at(-1) ?? (start === this.#document ? 'root' : base);
    return { schema, resource: inner, name, ...(start === this.#document && { place: tokens }) };
  }

  #index(value: unknown, outer: Schema): void {
    if (typeof value !== 'object' || value === null) return;
    const resource = resourceOf(value, outer);
    const { $id, $anchor, $dynamicAnchor } = value as Record<string, unknown>;
    const add = (key: string, name: string) =>
      this.#named.set(key, this.#named.has(key) ? undefined : { schema: value, resource, name });
    if (resource === value && typeof $id === 'string') add($id.replace(/#$/, ''), $id);
    for (const anchor of new Set([$anchor, $dynamicAnchor])) {
      if (typeof anchor === 'string') add(`#${anchor}`, anchor);
    }
    for (const [key, inner] of Object.entries(value)) if (!VALUES.has(key)) this.#index(inner, resource);
  }
}

/** How far references that lead to references are followed. */
const MAX_HOPS = 100;
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

/** The resource of a schema: itself if it has an `$id` of its own, else that of the schema around it. */
export function resourceOf(schema: unknown, outer: Schema): Schema {
  const hasId = isRecord(schema) && typeof schema.$id === 'string' && !schema.$id.startsWith('#');
  return hasId ? schema : outer;
}

/** The reference in a schema; within one document the dynamic and the recursive kind mean the same as a plain one. */
export function referenceOf(schema: Schema): string | undefined {
  return [schema.$ref, schema.$dynamicRef, schema.$recursiveRef].find((it) => typeof it === 'string');
}

/** The tokens of a JSON pointer in a fragment (`/a/b`); undefined if the fragment is not a pointer. */
export function readPointer(fragment: string): string[] | undefined {
  if (fragment === '') return [];
  if (!fragment.startsWith('/')) return undefined;
  try {
    return fragment
      .slice(1)
      .split('/')
      .map((token) => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return undefined;
  }
}

/** One step into a JSON value; inherited properties do not count. */
export function stepInto(value: unknown, token: string): unknown {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(token) ? value[Number(token)] : undefined;
  return isRecord(value) && Object.hasOwn(value, token) ? value[token] : undefined;
}

/** The value at a place of a document. */
export function valueAt(document: unknown, place: readonly string[]): unknown {
  return place.reduce(stepInto, document);
}

/** Whether a value can be used where a schema is expected. */
export function isSchema(value: unknown): value is Record<string, unknown> | boolean {
  return typeof value === 'boolean' || isRecord(value);
}

/** Whether a place is reached through keywords of draft 2020-12 only, so that upgrading the document does not move it. */
export function isStablePlace(document: unknown, place: readonly string[]): boolean {
  let at = document;
  let kind: string | undefined = 'schema';
  for (const token of place) {
    if (kind === 'schema') {
      kind = KEYWORDS.get(token);
      const isTuple = token === 'items' && Array.isArray(stepInto(at, token));
      if ((kind !== 'schema' && kind !== 'schemas' && kind !== 'map') || isTuple) return false;
    } else kind = 'schema';
    at = stepInto(at, token);
  }
  return kind === 'schema';
}

/** Hands out unused names for definitions. */
export class FreshNames {
  readonly #taken: Set<string>;
  /** The last number that was tried for a name. */
  readonly #counts = new Map<string, number>();

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** A name like the wanted one that needs no escaping in a pointer. */
  next(wanted: string): string {
    const safe = wanted.slice(-MAX_NAME_LENGTH).replace(/[^a-zA-Z0-9_-]/g, '_');
    const plain = safe.replace(/^(?=\d|$)/, 'schema');
    let count = this.#counts.get(plain) ?? 1;
    let name = count === 1 ? plain : `${plain}_${count}`;
    while (this.#taken.has(name)) name = `${plain}_${++count}`;
    this.#counts.set(plain, count);
    this.#taken.add(name);
    return name;
  }
}

const MAX_NAME_LENGTH = 64;
