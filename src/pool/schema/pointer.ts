import { isRecord } from '../../base/json-value.ts';
import { KEYWORDS } from './keywords.ts';

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
