import type { Ajv, ValidateFunction } from 'ajv';
import { isRecord } from '../../base/json-value.ts';
import type { JsonSchema } from '../../protocol/mcp.ts';
import { messageOf, SdkError } from '../../protocol/sdk-error.ts';
import {
  type Checked,
  type CompiledSchema,
  isStandardSchema,
  type StandardSchema,
  type ToolSchema,
} from './standard-schema.ts';
import { compileZod, compileZodShape, isZodSchema, isZodShape } from './zod-schema.ts';

/** `direction` matters for schemas that transform values: input for arguments, output for results. */
export function compileSchema(
  schema: ToolSchema,
  where: string,
  direction: 'input' | 'output' = 'input',
): CompiledSchema {
  try {
    if (isZodSchema(schema)) return withObjectRoot(compileZod(schema, direction));
    if (isStandardSchema(schema)) return compileStandard(schema, direction);
    if (isZodShape(schema)) return compileZodShape(schema, direction);
    if (isRecord(schema)) return compileJsonSchema(objectRoot(refuseShape(schema)));
  } catch (cause) {
    throw new SdkError('bad-schema', `${where}: ${messageOf(cause)}`, { cause });
  }
  throw new SdkError(
    'bad-schema',
    `${where}: the schema is ${kindOf(schema)}; pass a zod shape, a Standard Schema or a JSON Schema object`,
  );
}

function compileStandard(schema: StandardSchema, direction: 'input' | 'output'): CompiledSchema {
  const standard = schema['~standard'];
  const toJson = standard.jsonSchema?.[direction];
  if (!toJson) {
    throw new Error(
      `the ${standard.vendor} schema cannot be converted to JSON Schema; use a version or wrapper that implements Standard JSON Schema`,
    );
  }
  return {
    json: objectRoot(toJson({ target: 'draft-07' })),
    check(value) {
      const result = standard.validate(value);
      return result instanceof Promise ? result.then(toChecked) : toChecked(result);
    },
  };
}

function toChecked(result: Awaited<ReturnType<StandardSchema['~standard']['validate']>>): Checked {
  if (!result.issues) return { ok: true, value: result.value };
  const lines = result.issues.map((issue) => {
    const path = (issue.path ?? [])
      .map((step) => String(typeof step === 'object' ? step.key : step))
      .join('.');
    return path ? `${path}: ${issue.message}` : issue.message;
  });
  return { ok: false, message: lines.join('; ') };
}

function withObjectRoot(compiled: CompiledSchema): CompiledSchema {
  return { ...compiled, json: objectRoot(compiled.json) };
}

function kindOf(schema: unknown): string {
  if (schema === null) return 'null';
  return Array.isArray(schema) ? 'an array' : typeof schema;
}

/** Rejects an object whose fields are not schemas: as JSON Schema they would be unknown keywords that validate nothing. */
function refuseShape(schema: JsonSchema): JsonSchema {
  const keys = Object.keys(schema);
  const field = keys.find((key) => isStandardSchema(schema[key]));
  if (field !== undefined) {
    throw new Error(
      `"${field}" is a schema, but not every field is a zod schema; make every field a zod schema, or pass an object schema instead of a plain object of fields`,
    );
  }
  const word = keys.find((key) => typeof schema[key] === 'function');
  if (word === undefined && keys.some((key) => KEYWORDS.has(key))) return schema;
  throw new Error(
    `the schema looks like a zod shape, but "${word ?? keys[0]}" is not a zod schema; write { ${word ?? keys[0]}: z.number() } or { type: "object", properties: … }`,
  );
}

/** Keywords at the root of a JSON Schema, in any draft. */
const KEYWORDS = new Set(
  `type properties required additionalProperties patternProperties propertyNames unevaluatedProperties
  minProperties maxProperties dependencies dependentRequired dependentSchemas anyOf oneOf allOf not if then else
  const enum $ref $dynamicRef $recursiveRef $defs definitions $schema $id id $anchor $dynamicAnchor $vocabulary
  $comment title description default examples deprecated readOnly writeOnly`.split(/\s+/),
);

/** Adds `type: "object"`: agents reject a whole server for one tool schema without it. */
function objectRoot(schema: JsonSchema): JsonSchema {
  if (schema.type === 'object') return schema;
  const { type, ...rest } = schema;
  if (type === undefined) return { type: 'object', ...rest };
  throw new Error(`the root type of the schema is ${JSON.stringify(type)}; it must be "object"`);
}

/** A plain JSON Schema. It is compiled at the first call, so that an invalid one affects only that call. */
export function compileJsonSchema(json: JsonSchema): CompiledSchema {
  const hasDefaults = JSON.stringify(json).includes('"default"');
  let compiled: Validator | undefined;
  const check = (value: unknown, validate: Validator): Checked => {
    if ('fault' in validate)
      return { ok: false, message: `the tool's own schema is invalid: ${validate.fault}` };
    const candidate = hasDefaults ? structuredClone(value) : value;
    if (validate(candidate)) return { ok: true, value: candidate };
    const lines = (validate.errors ?? []).map(
      (error) => `${error.instancePath === '' ? 'arguments' : error.instancePath.slice(1)} ${error.message}`,
    );
    return { ok: false, message: lines.join('; ') };
  };
  return {
    json,
    check(value) {
      if (compiled) return check(value, compiled);
      return compile(json).then((validate) => {
        compiled ??= validate;
        return check(value, compiled);
      });
    },
  };
}

type Validator = ValidateFunction | { fault: string };

async function compile(json: JsonSchema): Promise<Validator> {
  try {
    // ajv rejects a `$schema` other than that of its own dialect.
    const { $schema, ...schema } = json;
    const engine = await dialect(/draft-0[4-7]/.test(String($schema)) ? 'draft-07' : '2020-12');
    const validate = engine.compile(schema);
    engine.removeSchema(schema);
    return validate;
  } catch (cause) {
    return { fault: messageOf(cause) };
  }
}

type Dialect = '2020-12' | 'draft-07';

/** Engines hold no schema after compiling, so one of each serves the whole process. */
const dialects = new Map<Dialect, Promise<Ajv>>();

/** MCP's default dialect is 2020-12; draft 7 and older where `$schema` says so. */
function dialect(name: Dialect): Promise<Ajv> {
  const known = dialects.get(name) ?? createEngine(name);
  dialects.set(name, known);
  return known;
}

async function createEngine(name: Dialect): Promise<Ajv> {
  const [Engine, { default: addFormats }] = await Promise.all([
    name === 'draft-07'
      ? import('ajv').then(({ Ajv }) => Ajv)
      : import('ajv/dist/2020.js').then(({ Ajv2020 }) => Ajv2020),
    import('ajv-formats'),
  ]);
  const engine = new Engine({
    useDefaults: true,
    allErrors: true,
    strict: false,
    addUsedSchema: false,
    logger: false,
  });
  addFormats.default(engine);
  return engine;
}
