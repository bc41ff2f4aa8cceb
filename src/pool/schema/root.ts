import { isRecord } from '../../base/json-value.ts';
import { readPointer, stepInto } from './references.ts';
import { schemaOf, shapeOf } from './shape.ts';
import { mapSubschemas, openRoot, type Schema, withChanges } from './subschemas.ts';

/** What the model APIs refuse at the root. */
const REFUSED = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const'];

/** Whether the root of a schema of any draft stays as it is, apart from repairs. */
export function isPlainRoot(schema: Schema): boolean {
  return schema.type === 'object' && [...REFUSED, 'nullable'].every((key) => !Object.hasOwn(schema, key));
}

/**
 * A schema of 2020-12 whose root is a plain object: the same one, or the shape of everything its root applies. Unless
 * `isPlainRoot`, references must lead to definitions only.
 */
export function plainRoot(schema: Schema): Schema {
  if (!REFUSED.every((key) => !Object.hasOwn(schema, key))) return merged(schema);
  const { type } = schema;
  const root = Object.hasOwn(schema, 'properties')
    ? schema
    : withChanges(schema, new Map([['properties', {}]]));
  if (type === 'object') return root;
  if (type !== undefined && !(Array.isArray(type) && type.includes('object'))) return merged(schema);
  const { type: _, ...rest } = root;
  return { type: 'object', ...rest };
}

function merged(schema: Schema): Schema {
  const shape = shapeOf(schema, schema);
  if (shape === undefined) {
    return openRoot(
      schema,
      'The input schema of this tool contradicts itself (no arguments can match it) and is omitted; the server validates the arguments.',
    );
  }
  return withUsedDefinitions({ ...schemaOf(shape), $defs: schema.$defs });
}

/** The schema without definitions that nothing in it refers to. */
function withUsedDefinitions(schema: Schema): Schema {
  const { $defs, ...root } = schema;
  if (!isRecord($defs)) return root;
  const used = new Set<string>();
  const pending = [root];
  const visit = (it: Schema): Schema => {
    const [first, name] = typeof it.$ref === 'string' ? (readPointer(it.$ref.slice(1)) ?? []) : [];
    if (first === '$defs' && name !== undefined && !used.has(name)) {
      used.add(name);
      const definition = stepInto($defs, name);
      if (isRecord(definition)) pending.push(definition);
    }
    return mapSubschemas(it, visit);
  };
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) visit(at);
  if (used.size === 0) return root;
  return { ...root, $defs: Object.fromEntries(Object.entries($defs).filter(([name]) => used.has(name))) };
}
