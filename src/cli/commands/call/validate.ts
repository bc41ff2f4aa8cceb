import { createContext, Script } from 'node:vm';
import type { ErrorObject } from 'ajv';
import { jsonText } from '../../../agent/results/tool-result.ts';
import { isRecord } from '../../../base/json-value.ts';
import { pluralize, truncate } from '../../../base/text/display-text.ts';
import { didYouMean } from '../../../base/text/nearest.ts';
import { stepInto } from '../../../pool/schema/references.ts';
import type { JsonSchema } from '../../../protocol/mcp.ts';
import { formatChoices, formatTypes, SchemaForms } from './schema-forms.ts';

/** Servers supply schemas: a schema that is larger, or takes longer, is not used for validation. */
const MAX_SCHEMA_LENGTH = 500_000;
const TIMEOUT_MS = 1000;
const MAX_LINES = 50;

/** Validates arguments; returns one line per problem, and none if the schema cannot be compiled in time. */
export async function validateArguments(args: unknown, schema: JsonSchema): Promise<string[]> {
  const { $schema, ...rest } = schema;
  const ajv = await createAjv($schema);
  const errors = bounded(schema, () => {
    const validate = ajv.compile(rest);
    validate(args);
    return validate.errors ?? [];
  });
  const lines = [...new Set(formatErrors(errors ?? [], schema))];
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `and ${pluralize(more, 'more problem')}`] : lines;
}

/** Where a schema is not valid JSON Schema, and the value there; forms of older drafts are accepted. */
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

/** An argument that the schema does not declare; `isAllowed` if the schema accepts other names. */
export type UnknownArgument = { readonly text: string; readonly isAllowed: boolean };

/** Finds names that the schema does not declare, in nested values too. */
export function unknownArguments(value: unknown, declared: SchemaForms, at = ''): UnknownArgument[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => unknownArguments(item, declared.items, `${at}[${index}]`));
  }
  if (!isRecord(value)) return [];
  const { names, allowsOthers: isAllowed } = declared;
  return Object.entries(value).flatMap(([name, member]) => {
    if (!names || names.includes(name)) {
      return unknownArguments(member, declared.property(name), at === '' ? name : `${at}.${name}`);
    }
    return [{ text: formatUnknown(at, name, names), isAllowed }];
  });
}

function formatUnknown(at: string, name: string, names: readonly string[] = []): string {
  const accepted = names.length === 0 ? 'no arguments' : names.join(', ');
  const hint = didYouMean(name, names) || ` (accepted: ${accepted})`;
  return `${prefix(at)}unknown argument "${name}"${hint}`;
}

/** Draft 4 has `exclusiveMinimum: true`, draft 7 has lists in `items` and fragments in `$id`. */
function isOlderForm(path: string, value: unknown): boolean {
  if (/\/exclusiveM(?:in|ax)imum$/.test(path)) return typeof value === 'boolean';
  return /\/items$/.test(path) ? Array.isArray(value) : /\/\$(?:id|anchor)$/.test(path);
}

/** Patterns and formats of values are left to the server. */
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
  } as const;
  return new Ajv(options).removeKeyword('pattern');
}

/** Runs synchronous work on a schema with a time limit; undefined if the schema is too long, or the work throws or takes too long. */
function bounded<T>(schema: JsonSchema, work: () => T): T | undefined {
  try {
    if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH) return undefined;
    return RUN.runInContext(createContext({ work }), { timeout: TIMEOUT_MS }) as T;
  } catch {
    return undefined;
  }
}

const RUN = new Script('work()');

function formatErrors(errors: readonly ErrorObject[], root: JsonSchema): string[] {
  const lines: string[] = [];
  const pending = [...errors];
  for (let error = pending.pop(); error; error = pending.pop()) {
    if (!isChoice(error)) {
      lines.push(formatError(error, root));
      continue;
    }
    // Ajv reports the errors of all alternatives directly before the error of `anyOf` or `oneOf`.
    const { instancePath } = error;
    const alternatives: ErrorObject[] = [];
    while (isWithin(pending.at(-1), instancePath)) alternatives.unshift(pending.pop() as ErrorObject);
    lines.push(formatChoiceError(error, alternatives, root));
  }
  return lines.reverse();
}

function isChoice({ keyword }: ErrorObject): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf';
}

function isWithin(error: ErrorObject | undefined, path: string): boolean {
  return error?.instancePath === path || error?.instancePath.startsWith(`${path}/`) === true;
}

/** Prefers the errors of nested values: the other alternatives expect another type of value. */
function formatChoiceError(
  choice: ErrorObject,
  alternatives: readonly ErrorObject[],
  root: JsonSchema,
): string {
  const at = formatPath(choice.instancePath);
  if (choice.params.passingSchemas)
    return `${named(at)}: must match exactly one alternative of "oneOf", but matches several`;
  const errors = alternatives.filter((it) => !isChoice(it));
  const nested = errors.filter(({ instancePath }) => instancePath !== choice.instancePath);
  if (nested.length > 0) return [...new Set(nested.map((it) => formatError(it, root)))].join('; or ');
  const types = errors.filter(({ keyword }) => keyword === 'type').flatMap(typesOfError);
  const others = errors.filter(({ keyword }) => keyword !== 'type').map((it) => formatError(it, root));
  return others.length > 0 ? others.join('; or ') : mustBe(at, formatTypes(types), choice.data);
}

function typesOfError({ params }: ErrorObject): string[] {
  return [params.type as string | string[]].flat();
}

function formatError(error: ErrorObject, root: JsonSchema): string {
  const { keyword, params, data, schema, parentSchema, message } = error;
  const at = formatPath(error.instancePath);
  const declared = () => new SchemaForms(root, [at === '' ? root : parentSchema]);
  switch (keyword) {
    case 'required': {
      const name = String(params.missingProperty);
      return `${prefix(at)}missing argument "${name}" (${declared().property(name).describe()})`;
    }
    case 'type':
      return mustBe(at, formatTypes(typesOfError(error)), data);
    case 'enum':
      return mustBe(at, formatChoices(schema as unknown[]), data);
    case 'const':
      return mustBe(at, formatValue(schema), data);
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty);
      return formatUnknown(at, name, declared().names);
    }
    default:
      return `${named(at)}: ${message ?? 'is not valid'}`;
  }
}

function mustBe(at: string, expected: string, value: unknown): string {
  return `${named(at)}: must be ${expected}, not ${formatValue(value)}`;
}

function named(at: string): string {
  return at === '' ? 'the arguments' : at;
}

function prefix(at: string): string {
  return at === '' ? '' : `${at}: `;
}

/** A value as JSON, truncated for a message. */
function formatValue(value: unknown): string {
  return truncate(jsonText(value), 60);
}

/** A JSON pointer as `edits[0].newText`. */
function formatPath(pointer: string): string {
  return stepsOf(pointer).reduce((at, step) => {
    if (/^\d+$/.test(step)) return `${at}[${step}]`;
    return at === '' ? step : `${at}.${step}`;
  }, '');
}

function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
