import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

/** Accepts patterns that are valid only without the Unicode flag, since servers use such patterns. */
const regExp = Object.assign(
  (pattern: string, flags: string) => {
    try {
      return new RegExp(pattern, flags);
    } catch {
      return new RegExp(pattern);
    }
  },
  { code: 'anyRegExp' },
);

const OPTIONS = {
  strict: false,
  logger: false,
  allowUnionTypes: true,
  validateFormats: false,
  addUsedSchema: false,
  code: { regExp },
} as const;

const DRAFT_7 = new Ajv(OPTIONS);
const META = new Ajv2020(OPTIONS);

type Accepts = (value: unknown) => boolean;

/** A validator for a schema of this draft; throws if the schema is invalid. */
export function acceptor(schema: object, draft: 7 | 2020): Accepts {
  const ajv = draft === 7 ? DRAFT_7 : META;
  const validate = ajv.compile(schema);
  ajv.removeSchema(schema);
  return (value) => validate(value) === true;
}

const REFUSED = [
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'enum',
  'const',
  '$schema',
  '$id',
];

/** Checks that a schema is valid in 2020-12 and that model APIs accept its root. */
export function expectLegal(schema: Record<string, unknown>): void {
  if (META.validateSchema(schema) !== true) expect.fail(`${META.errorsText()}: ${JSON.stringify(schema)}`);
  expect(schema.type).toBe('object');
  expect(typeof schema.properties).toBe('object');
  expect(REFUSED.filter((key) => Object.hasOwn(schema, key))).toEqual([]);
  const names = Object.keys(schema.properties as object);
  expect(names.filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))).toEqual([]);
}
