import { isRecord } from '../../base/json-value.ts';
import { KEYWORDS } from './keywords.ts';
import type { Meter } from './meter.ts';

/** The place in the document that a reference means; `base` is what references inside it are relative to. */
export type Found = { tokens: readonly string[]; target: unknown; base: string };

/** Finds what a reference means in a document, without ever fetching anything. */
export type References = {
  find: (ref: string, base: string) => Found | undefined;
  /** The base of what is inside a schema, given the base around it. */
  baseIn: (schema: unknown, base: string) => string;
};

/** The address of a document that gives itself none. */
export const ROOT_BASE = 'tool:///schema';

/** `hasNames` is false if nothing in the document has an id or an anchor, so nothing needs to be indexed. */
export function readReferences(
  document: unknown,
  draft: number,
  hasNames: boolean,
  meter: Meter,
): References {
  const resources = new Map<string, Found>();
  const anchors = new Map<string, Found | 'many'>();
  const baseIn = (schema: unknown, base: string): string => {
    if (!hasNames || !isRecord(schema)) return base;
    const id = draft < 6 ? (schema.id ?? schema.$id) : schema.$id;
    return typeof id === 'string' && !id.startsWith('#') ? (addressOf(id, base, meter) ?? base) : base;
  };
  const root: Found = { tokens: [], target: document, base: baseIn(document, ROOT_BASE) };
  resources.set(ROOT_BASE, root).set(root.base, root);
  const index = (value: unknown, tokens: readonly string[], outer: string): void => {
    if (typeof value !== 'object' || value === null) return;
    meter.spend(1 + tokens.length / 8);
    const base = baseIn(value, outer);
    const here: Found = { tokens, target: value, base };
    if (base !== outer && !resources.has(base)) resources.set(base, here);
    for (const anchor of anchorsOf(value)) {
      meter.read(base, anchor);
      const key = `${base}#${anchor}`;
      anchors.set(key, anchors.has(key) ? 'many' : here);
    }
    for (const key of Object.keys(value)) {
      if (!VALUES.has(key)) index((value as Record<string, unknown>)[key], [...tokens, key], base);
    }
  };
  if (hasNames) index(document, [], ROOT_BASE);

  const findOnce = remembered((ref: string, base: string): Found | undefined => {
    meter.spend(STEPS_PER_REFERENCE);
    meter.read(ref, base);
    const hash = ref.indexOf('#');
    const fragment = hash === -1 ? '' : ref.slice(hash + 1);
    const address = hash === 0 ? base : addressOf(ref, base, meter);
    const resource = address === undefined ? undefined : resources.get(address);
    if (resource === undefined) return undefined;
    const tokens = readPointer(fragment);
    if (tokens === undefined) {
      const found = anchors.get(`${address}#${fragment}`);
      return found === 'many' ? undefined : found;
    }
    let { target, base: inner } = resource;
    for (const token of tokens) {
      meter.spend(1);
      target = stepInto(target, token);
      inner = baseIn(target, inner);
    }
    return isSchema(target) ? { tokens: [...resource.tokens, ...tokens], target, base: inner } : undefined;
  });
  const find = remembered((ref: string, base: string): Found | undefined => {
    const found = findOnce(ref, base);
    // References that only lead to each other mean nothing, and a validator would follow them for ever.
    const seen = new Set<unknown>();
    for (let at = found; at !== undefined && seen.size < 100; ) {
      const next = referenceOf(at.target);
      if (next === undefined) break;
      if (seen.has(at.target)) return undefined;
      seen.add(at.target);
      meter.spend(STEPS_PER_HOP);
      at = findOnce(next, at.base);
    }
    return found;
  });
  return { find, baseIn };
}

/** What a schema refers to: in a document alone the dynamic and recursive kinds mean what a plain one does. */
export function referenceOf(schema: unknown): string | undefined {
  if (!isRecord(schema)) return undefined;
  if (typeof schema.$ref === 'string') return schema.$ref;
  if (typeof schema.$dynamicRef === 'string') return schema.$dynamicRef;
  return typeof schema.$recursiveRef === 'string' ? schema.$recursiveRef : undefined;
}

const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

function anchorsOf(value: object): string[] {
  const { $anchor, $dynamicAnchor, $id, id } = value as Record<string, unknown>;
  const plain = [$anchor, $dynamicAnchor].filter((name) => typeof name === 'string');
  const old = [$id, id].filter((name) => typeof name === 'string' && /^#[^/]/.test(name)) as string[];
  return [...new Set([...plain, ...old.map((name) => name.slice(1))])];
}

function addressOf(ref: string, base: string, meter: Meter): string | undefined {
  meter.spend(STEPS_PER_REFERENCE);
  meter.read(ref, ref, base, base);
  try {
    const url = new URL(ref, base);
    url.hash = '';
    return url.href;
  } catch {
    return undefined;
  }
}

/** The same reference is often made, and often led through. */
function remembered(find: References['find']): References['find'] {
  const known = new Map<string, Map<string, Found | undefined>>();
  return (ref, base) => {
    let here = known.get(base);
    if (here === undefined) {
      here = new Map();
      known.set(base, here);
    }
    const before = here.get(ref);
    if (before !== undefined || here.has(ref)) return before;
    const found = find(ref, base);
    here.set(ref, found);
    return found;
  };
}

const STEPS_PER_REFERENCE = 16;
const STEPS_PER_HOP = 4;

/** The tokens of a JSON pointer in a fragment (`/a/b`), or nothing if it is not one. */
export function readPointer(fragment: string): string[] | undefined {
  if (fragment === '') return [];
  if (!fragment.startsWith('/')) return undefined;
  try {
    return fragment
      .slice(1)
      .split('/')
      .map((token) => (/[%~]/.test(token) ? plainToken(token) : token));
  } catch {
    return undefined;
  }
}

function plainToken(token: string): string {
  return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The reference to a place of the document, or nothing if a name on the way cannot be written in one. */
export function writePointer(tokens: readonly string[]): string | undefined {
  if (tokens.some((token) => !token.isWellFormed())) return undefined;
  const parts = tokens.map((token) =>
    encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1')).replaceAll('%24', '$'),
  );
  return ['#', ...parts].join('/');
}

/** One step into a JSON value; inherited properties are not there. */
export function stepInto(value: unknown, token: string): unknown {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(token) ? value[Number(token)] : undefined;
  return isRecord(value) && Object.hasOwn(value, token) ? value[token] : undefined;
}

/** Whether a value can stand where a schema is expected. */
export function isSchema(value: unknown): value is Record<string, unknown> | boolean {
  return typeof value === 'boolean' || isRecord(value);
}

/** Where a place of the document is after its keywords have become those of 2020-12, if it still is a schema's. */
export function placeAfter(document: unknown, tokens: readonly string[]): string[] | undefined {
  const place: string[] = [];
  let at = document;
  let within: 'schema' | 'schemas' | 'map' = 'schema';
  for (const [index, token] of tokens.entries()) {
    // Of two definitions under one name the newer keyword's keeps the place.
    const isHidden = token === 'definitions' && stepInto(stepInto(at, '$defs'), tokens[index + 1] ?? '');
    if (within === 'schema' && isHidden !== false && isHidden !== undefined) return undefined;
    if (within !== 'schema') {
      place.push(token);
      within = 'schema';
    } else {
      const keyword = keywordAfter(at, token);
      const kind = KEYWORDS.get(keyword);
      if (kind !== 'schema' && kind !== 'schemas' && kind !== 'map') return undefined;
      place.push(keyword);
      within = kind;
    }
    at = stepInto(at, token);
  }
  return within === 'schema' ? place : undefined;
}

function keywordAfter(schema: unknown, keyword: string): string {
  const isTuple = Array.isArray(stepInto(schema, 'items'));
  if (keyword === 'definitions') return '$defs';
  if (keyword === 'dependencies') return 'dependentSchemas';
  if (keyword === 'items' && isTuple) return 'prefixItems';
  if (keyword === 'additionalItems' && isTuple) return 'items';
  // Where a tuple's form takes the place, what stood there is no longer found.
  return keyword === 'prefixItems' && isTuple ? '' : keyword;
}
/** Names for definitions that nothing else has, each like what is wanted and legal in a pointer as it is. */
export class FreshNames {
  readonly #taken: Set<string>;
  /** Where to go on counting: names are never given back, so none below is free. */
  readonly #counts = new Map<string, number>();

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  next(wanted: string): string {
    const plain = wanted.replace(/[^a-zA-Z0-9_-]/g, '_').replace(/^(?=\d|$)/, 'schema');
    let count = this.#counts.get(plain) ?? 1;
    let name = count === 1 ? plain : `${plain}_${count}`;
    while (this.#taken.has(name)) name = `${plain}_${++count}`;
    this.#counts.set(plain, count);
    this.#taken.add(name);
    return name;
  }
}
