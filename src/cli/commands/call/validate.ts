import { createContext, Script } from 'node:vm';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { isRecord } from '../../../base/json-value.ts';
import { compilePattern } from '../../../base/text/patterns.ts';
import { stepInto } from '../../../pool/schema/references.ts';
import type { JsonSchema } from '../../../protocol/mcp.ts';
import { formatValue, unknownText } from './convert-arguments.ts';
import { formatChoices, formatTypes, SchemaForms } from './schema-forms.ts';

/** Servers supply schemas: what is larger or takes longer is left to the server to check. */
const MAX_SCHEMA_LENGTH = 500_000;
const TIMEOUT_MS = 1000;
const MAX_LINES = 50;

/** Validates arguments; returns one line per problem, and none if the schema cannot be compiled in time. */
export async function validateArguments(
  args: unknown,
  schema: JsonSchema,
  given: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const { $schema, $defs, definitions, ...rest } = schema;
  const shared = { ...(isRecord($defs) && { $defs }), ...(isRecord(definitions) && { definitions }) };
  const ajv = await createAjv($schema);
  const lines = bounded(schema, () => {
    const compile: Compile = (part) => ajv.compile(isRecord(part) ? { ...shared, ...part } : Boolean(part));
    return formatErrors(compile(rest), args, '', { schema, compile, given });
  });
  const all = [...new Set(lines ?? [])];
  const more = all.length - MAX_LINES;
  return more > 0 ? [...all.slice(0, MAX_LINES), `and ${more} more problems`] : all;
}

/** Where a schema is not valid JSON Schema, and what is there; forms of older drafts are accepted. */
export async function schemaError(schema: JsonSchema): Promise<string | undefined> {
  const { $schema: _, ...rest } = schema;
  const ajv = await createAjv(undefined);
  const paths = bounded(schema, () => {
    ajv.validateSchema(rest);
    return (ajv.errors ?? []).map(({ instancePath }) => instancePath);
  });
  const valueAt = (path: string) => stepsOf(path).reduce<unknown>(stepInto, rest);
  const deepest = paths
    ?.filter((path) => !isOlderForm(path, valueAt(path)))
    .sort((one, other) => other.length - one.length)[0];
  if (deepest === undefined) return undefined;
  return `${formatPath(deepest) || 'its root'} (${formatValue(valueAt(deepest))})`;
}

/** Draft 4 has `exclusiveMinimum: true`, draft 7 has lists in `items` and fragments in `$id`. */
function isOlderForm(path: string, value: unknown): boolean {
  if (/\/exclusiveM(?:in|ax)imum$/.test(path)) return typeof value === 'boolean';
  return /\/items$/.test(path) ? Array.isArray(value) : /\/\$(?:id|anchor)$/.test(path);
}

/** Patterns for values are left to the server; those for names are matched in linear time. */
async function createAjv(dialect: unknown) {
  const Ajv = /draft-0[4-7]/.test(String(dialect))
    ? (await import('ajv')).Ajv
    : (await import('ajv/dist/2020.js')).Ajv2020;
  const options = {
    allErrors: true,
    strict: false,
    logger: false,
    validateFormats: false,
    verbose: true,
    inlineRefs: false,
    code: { regExp: linearRegExp },
  } as const;
  return new Ajv(options).removeKeyword('pattern');
}

const linearRegExp = Object.assign(
  (source: string) => {
    const pattern = compilePattern(source);
    if (typeof pattern === 'string') throw new Error(pattern);
    // Ajv identifies patterns by their text.
    return { test: pattern.test, toString: () => source };
  },
  // Needed only for validators that are generated as source files.
  { code: 'undefined' },
);

/** Runs synchronous work with a time limit; undefined if it throws or takes too long. */
function bounded<T>(schema: JsonSchema, work: () => T): T | undefined {
  try {
    if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH) return undefined;
    return RUN.runInContext(createContext({ work }), { timeout: TIMEOUT_MS }) as T;
  } catch {
    return undefined;
  }
}

const RUN = new Script('work()');

type Compile = (part: unknown) => ValidateFunction;
type Validation = {
  readonly schema: JsonSchema;
  readonly compile: Compile;
  /** Arguments that were given with values that cannot be converted: they are not missing. */
  readonly given: ReadonlySet<string>;
};

function formatErrors(
  validate: ValidateFunction,
  value: unknown,
  base: string,
  validation: Validation,
): string[] {
  if (validate(value)) return [];
  const errors = [...(validate.errors ?? [])];
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const outer = choices.filter((it) => !choices.some((other) => it !== other && isBelow(it, other)));
  // The errors below a choice are those of every alternative: the alternatives are validated one by one instead.
  const plain = errors.filter((it) => !outer.some((choice) => it === choice || isAtOrBelow(it, choice)));
  return [
    ...plain.flatMap((it) => formatError(it, base, validation)),
    ...outer.flatMap((it) => formatChoiceError(it, formatPath(it.instancePath, base), validation)),
  ];
}

function isAtOrBelow(error: ErrorObject, choice: ErrorObject): boolean {
  return error.instancePath === choice.instancePath || isBelow(error, choice);
}

function isBelow(error: ErrorObject, choice: ErrorObject): boolean {
  return error.instancePath.startsWith(`${choice.instancePath}/`);
}

/** Reports what the closest alternative requires, or the types of all alternatives. */
function formatChoiceError({ schema, data }: ErrorObject, at: string, validation: Validation): string[] {
  const tried = (schema as unknown[]).map((alternative) => {
    const validate = validation.compile(alternative);
    const isValid = validate(data);
    const types = (validate.errors ?? [])
      .filter(({ keyword, instancePath }) => keyword === 'type' && instancePath === '')
      .flatMap(({ params }) => params.type as string | string[]);
    return { validate, isValid, types };
  });
  if (tried.some(({ isValid }) => isValid)) return [`${named(at)}: matches more than one alternative`];
  const close = tried.filter(({ types }) => types.length === 0);
  if (close.length === 0) return [mustBe(at, formatTypes(new Set(tried.flatMap((it) => it.types))), data)];
  const lines = close
    .map(({ validate }) => formatErrors(validate, data, at, validation))
    .sort((one, other) => one.length - other.length);
  if (lines.length === 1) return lines[0] ?? [];
  return [`${named(at)}: matches none of its alternatives; the closest one: ${lines[0]?.join('; ')}`];
}

function formatError(error: ErrorObject, base: string, { schema: root, given }: Validation): string[] {
  const { keyword, params, data, schema, parentSchema, message } = error;
  const at = formatPath(error.instancePath, base);
  const before = at === '' ? '' : `${at}: `;
  switch (keyword) {
    case 'required': {
      const name = String(params.missingProperty);
      if (at === '' && given.has(name)) return [];
      const declared = new SchemaForms(root, [at === '' ? root : parentSchema]).property(name);
      return [`${before}missing argument "${name}" (${declared.describe()})`];
    }
    case 'type':
      return [mustBe(at, formatTypes(new Set([params.type as string | string[]].flat())), data)];
    case 'enum':
      return [mustBe(at, `one of ${formatChoices(schema as unknown[])}`, data)];
    case 'const':
      return [mustBe(at, formatValue(schema), data)];
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return [`${before}${unknownText(String(params.additionalProperty ?? params.unevaluatedProperty))}`];
    default:
      return [`${named(at)}: ${message ?? 'is not valid'}`];
  }
}

function mustBe(at: string, expected: string, value: unknown): string {
  return `${named(at)}: must be ${expected}, not ${formatValue(value)}`;
}

function named(at: string): string {
  return at === '' ? 'the arguments' : at;
}

/** A JSON pointer as `edits[0].newText`. */
function formatPath(pointer: string, base = ''): string {
  return stepsOf(pointer).reduce((at, step) => {
    if (/^\d+$/.test(step)) return `${at}[${step}]`;
    return at === '' ? step : `${at}.${step}`;
  }, base);
}

function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
