import { createContext, Script } from 'node:vm';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { isRecord } from '../../../base/json-value.ts';
import { compilePattern } from '../../../base/text/patterns.ts';
import type { JsonSchema } from '../../../protocol/mcp.ts';
import { sayChoices, sayTypes, shown } from './arguments.ts';

/** More than this is left to the server: a schema is a stranger's, and may be made to take for ever. */
const MOST_PARTS = 20_000;
const LIMIT_MS = 1000;

/** What the whole schema has against an input, a line each; nothing if the schema itself cannot be read, or not in time. */
export async function schemaFaults(args: unknown, schema: JsonSchema): Promise<string[]> {
  const { $schema, ...rest } = schema;
  if (isLarge(schema)) return [];
  const engine = await openEngine($schema);
  const find = () => {
    engine.addSchema(rest, ROOT);
    const check = (part: unknown, step = '') => {
      const pointer = part === schema ? '#' : pointerTo(part, rest);
      return engine.compile({ $ref: `${ROOT}${pointer}${step}` });
    };
    return [...new Set(faultsOf(check(schema), args, '', check))];
  };
  try {
    return inTime(LIMIT_MS, find);
  } catch {
    return [];
  }
}

/**
 * Where a schema breaks the rules of JSON Schema itself, and what it has there; undefined if it is valid, or too large to be
 * judged in time. What only older drafts allow is valid, since servers often do not say which draft they mean.
 */
export async function schemaError(schema: JsonSchema): Promise<string | undefined> {
  const { $schema: _, ...rest } = schema;
  if (isLarge(schema)) return undefined;
  const engine = await openEngine(undefined);
  const find = () => {
    engine.validateSchema(rest);
    const paths = (engine.errors ?? []).map(({ instancePath }) => instancePath);
    // The deepest is the most exact.
    return paths.filter((path) => !isOlderForm(path, rest)).sort((a, b) => b.length - a.length)[0];
  };
  try {
    const path = inTime(LIMIT_MS, find);
    return path === undefined ? undefined : `${dotted(path) || 'its root'} (${shown(valueAt(rest, path))})`;
  } catch {
    return undefined;
  }
}

/** Draft 4 has `exclusiveMinimum: true`, draft 7 lists of `items` and `$id` with a fragment. */
function isOlderForm(path: string, schema: JsonSchema): boolean {
  const value = valueAt(schema, path);
  if (/\/exclusiveM(?:in|ax)imum$/.test(path)) return typeof value === 'boolean';
  return /\/items$/.test(path) ? Array.isArray(value) : /\/\$(?:id|anchor)$/.test(path);
}

function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function valueAt(root: unknown, pointer: string): unknown {
  return stepsOf(pointer).reduce(
    (at, step) => (isRecord(at) || Array.isArray(at) ? (at as JsonSchema)[step] : undefined),
    root,
  );
}

const ROOT = 'input';
/** What checks a part of the schema by itself, or a step below it: references go from the root. */
type Check = (part: unknown, step?: string) => ValidateFunction;

/** Patterns are a stranger's: those of values are left to the server, those of names are matched in linear time. */
async function openEngine(dialect: unknown) {
  const Engine = /draft-0[4-7]/.test(String(dialect))
    ? (await import('ajv')).Ajv
    : (await import('ajv/dist/2020.js')).Ajv2020;
  const options = {
    allErrors: true,
    strict: false,
    logger: false,
    validateFormats: false,
    verbose: true,
    // What is referred to by many is written once.
    inlineRefs: false,
    code: { regExp: linearRegExp },
  } as const;
  return new Engine(options).removeKeyword('pattern');
}

/** A pattern that cannot be used throws, and with it nothing of the schema is checked. */
const linearRegExp = Object.assign(
  (source: string) => {
    const pattern = compilePattern(source);
    if (typeof pattern === 'string') throw new Error(pattern);
    // The engine tells patterns apart by their text.
    return { test: pattern.test, toString: () => source };
  },
  // Only for validators that are written to files.
  { code: 'undefined' },
);

function faultsOf(validate: ValidateFunction, value: unknown, at: string, check: Check): string[] {
  if (validate(value)) return [];
  const errors = [...(validate.errors ?? [])];
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  // What is below a choice is said once the choice is looked at form by form.
  const outer = choices.filter((it) => !choices.some((other) => isBelow(it, other)));
  const plain = errors.filter((it) => !outer.some((choice) => it === choice || isWithin(it, choice)));
  return [
    ...plain.flatMap((it) => sayError(it, at)),
    ...outer.flatMap((it) => choiceFaults(it, placeOf(it, at), check)),
  ];
}

function isBelow(one: ErrorObject, other: ErrorObject): boolean {
  return one !== other && isWithin(one, other) && one.instancePath !== other.instancePath;
}

function isWithin(one: ErrorObject, choice: ErrorObject): boolean {
  return one.instancePath === choice.instancePath || one.instancePath.startsWith(`${choice.instancePath}/`);
}

/** A value that fits none of several forms is told what the nearest of them lacks. */
function choiceFaults({ schema, data }: ErrorObject, at: string, check: Check): string[] {
  const forms = Array.isArray(schema) ? schema.length : 0;
  const tried = Array.from({ length: forms }, (_, form) => {
    const validate = check(schema, `/${form}`);
    const isFitting = validate(data);
    return { validate, isFitting, own: ownTypes(validate.errors ?? []) };
  });
  if (tried.some(({ isFitting }) => isFitting)) return [`${named(at)}: fits more than one of its forms`];
  const near = tried.filter(({ own }) => own.length === 0);
  if (near.length === 0) {
    const types = new Set(tried.flatMap(({ own }) => own));
    return [`${named(at)}: must be ${sayTypes(types)}, not ${shown(data)}`];
  }
  const said = near
    .map(({ validate }) => faultsOf(validate, data, at, check))
    .sort((a, b) => a.length - b.length);
  if (said.length === 1) return said[0] ?? [];
  return [`${named(at)}: fits none of its forms; of the nearest: ${said[0]?.join('; ')}`];
}

/** The types that a form wants the value itself to have. */
function ownTypes(errors: readonly ErrorObject[]): string[] {
  return errors.flatMap(({ keyword, instancePath, params }) =>
    keyword === 'type' && instancePath === '' ? [params.type as string | string[]].flat() : [],
  );
}

function sayError(error: ErrorObject, base: string): string[] {
  const { keyword, params, data, schema } = error;
  const at = placeOf(error, base);
  switch (keyword) {
    case 'required':
      return [`${at === '' ? '' : `${at}: `}it needs ${params.missingProperty}${typeText(error)}`];
    case 'type':
      return [
        `${named(at)}: must be ${sayTypes(new Set([params.type as string | string[]].flat()))}, not ${shown(data)}`,
      ];
    case 'enum':
      return [`${named(at)}: must be one of ${sayChoices(schema as unknown[])}, not ${shown(data)}`];
    case 'const':
      return [`${named(at)}: must be ${shown(schema)}, not ${shown(data)}`];
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty);
      return [`${at === '' ? '' : `${at}: `}the tool declares no "${name}"`];
    }
    default:
      return [`${named(at)}: ${error.message ?? 'does not fit'}`];
  }
}

/** What a member that is missing is, if its type is plain. */
function typeText({ parentSchema, params }: ErrorObject): string {
  const properties = isRecord(parentSchema?.properties) ? parentSchema.properties : {};
  const name = String(params.missingProperty);
  const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isRecord(member) && typeof member.type === 'string' ? `: ${sayTypes(new Set([member.type]))}` : '';
}

/** `edits[0].newText`, as it would be written. */
function placeOf({ instancePath }: ErrorObject, base: string): string {
  return dotted(instancePath, base);
}

function dotted(pointer: string, base = ''): string {
  return stepsOf(pointer).reduce((at, step) => {
    if (/^\d+$/.test(step)) return `${at}[${step}]`;
    return at === '' ? step : `${at}.${step}`;
  }, base);
}

function named(at: string): string {
  return at === '' ? 'the input' : at;
}

function isLarge(schema: JsonSchema): boolean {
  const left: unknown[] = [schema];
  let parts = 0;
  while (left.length > 0) {
    const value = left.pop();
    if (++parts > MOST_PARTS) return true;
    if (isRecord(value) || Array.isArray(value)) for (const it of Object.values(value)) left.push(it);
  }
  return false;
}

/** Where in a schema this very part of it stands. */
function pointerTo(part: unknown, root: JsonSchema): string {
  const left: [unknown, string][] = [[root, '#']];
  for (let next = left.pop(); next; next = left.pop()) {
    const [value, pointer] = next;
    if (value === part) return pointer;
    if (!isRecord(value) && !Array.isArray(value)) continue;
    for (const [name, member] of Object.entries(value)) {
      left.push([
        member,
        `${pointer}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`,
      ]);
    }
  }
  throw new Error('it is no part of the schema');
}

/** Does work that may take for ever, and throws when the time is up; it cannot be asked to stop otherwise. */
function inTime<T>(limitMs: number, work: () => T): T {
  return RUN.runInContext(createContext({ work }), { timeout: limitMs }) as T;
}

const RUN = new Script('work()');
