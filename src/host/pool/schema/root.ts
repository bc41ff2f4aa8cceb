import { freeRoot, pruneDefinitions } from './free-root.ts';
import { schemaOf } from './shape.ts';
import { shapeOf } from './shape-of.ts';
import { type Schema, withChanges, withNote } from './subschemas.ts';

/** A schema of 2020-12 whose root is a plain object: the same one, or the shape of all that its root applies. */
export function plainRoot(schema: Schema): Schema {
  const isPlain = REFUSED.every((key) => !Object.hasOwn(schema, key));
  if (!isPlain) return merged(schema);
  if (schema.type === 'object') {
    return Object.hasOwn(schema, 'properties') ? schema : withProperties(schema);
  }
  const { type } = schema;
  if (type !== undefined && !(Array.isArray(type) && type.includes('object'))) return merged(schema);
  // Elsewhere a reference to the root may still be met by what is no object.
  const freed = withChanges(freeRoot(schema, 'self'), new Map([['type', 'object']]));
  const { type: object, ...rest } = Object.hasOwn(freed, 'properties') ? freed : withProperties(freed);
  return { type: object, ...rest };
}

/** What the model APIs refuse at the root. */
const REFUSED = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const'];

/** So many schemas are taken together at a root; what is beyond is only said to be there. */
const MOST = 64;

function merged(schema: Schema): Schema {
  const freed = freeRoot(schema, 'parts');
  const shape = shapeOf(freed, { document: freed, left: MOST, path: [] });
  if (shape === undefined) {
    const { description } = schema;
    const root = {
      type: 'object',
      ...(typeof description === 'string' ? { description } : {}),
      properties: {},
    };
    return withNote(root, 'By its own schema this tool takes no arguments at all; the server checks them.');
  }
  return pruneDefinitions({
    ...schemaOf(shape),
    ...(freed.$defs === undefined ? {} : { $defs: freed.$defs }),
  });
}

function withProperties(schema: Schema): Schema {
  return withChanges(schema, new Map([['properties', {}]]));
}
