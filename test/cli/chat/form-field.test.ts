import { expect, test } from 'vitest';
import { type FormField, formFields, readField } from '../../../src/cli/chat/form-field.ts';

const field = (schema: Record<string, unknown>, required = false) =>
  formFields({ properties: { it: schema }, ...(required && { required: ['it'] }) })[0] as FormField;
const value = (it: unknown) => ({ kind: 'value', value: it });
const fault = { kind: 'fault', text: expect.any(String) };

const ENUM = { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] };
const TITLED = {
  type: 'string',
  oneOf: [
    { const: 'r', title: 'Red' },
    { const: 'g', title: 'Green' },
  ],
};
const SEVERAL = {
  type: 'array',
  items: {
    anyOf: [
      { const: 'r', title: 'Red' },
      { const: 'g', title: 'Green' },
    ],
  },
};

test.each([
  [{ type: 'string' }, ' kept as typed ', value(' kept as typed ')],
  [{ type: 'string', minLength: 3 }, 'ab', fault],
  [{ type: 'string', maxLength: 1 }, '👍', value('👍')],
  [{ type: 'string', maxLength: 1 }, 'ab', fault],
  [{ type: 'number' }, '1.5', value(1.5)],
  [{ type: 'number' }, 'one', fault],
  [{ type: 'integer' }, '1.5', fault],
  [{ type: 'integer', minimum: 1, maximum: 3 }, '3', value(3)],
  [{ type: 'integer', minimum: 1, maximum: 3 }, '4', fault],
  [{ type: 'integer', minimum: 1, maximum: 3 }, '0', fault],
  [{ type: 'boolean' }, 'Yes', value(true)],
  [{ type: 'boolean' }, 'n', value(false)],
  [{ type: 'boolean' }, 'maybe', fault],
  [ENUM, 'g', value('g')],
  [ENUM, 'green', value('g')],
  [ENUM, '1', value('r')],
  [ENUM, '3', fault],
  [TITLED, 'Red', value('r')],
  [SEVERAL, 'red, 2', value(['r', 'g'])],
  [SEVERAL, 'red, blue', fault],
  [{ type: 'string' }, '', { kind: 'left-out' }],
  [{ type: 'number', default: 7 }, '', value(7)],
])('for %j, %j is %j', (schema, typed, read) => {
  expect(readField(field(schema), typed)).toEqual(read);
});

test('a required field needs a value', () => {
  expect(readField(field({ type: 'string' }, true), ' ')).toEqual(fault);
});

test('fields keep their order, and say what they take', () => {
  const fields = formFields({
    properties: {
      name: { type: 'string', title: 'Your name' },
      mail: { type: 'string', format: 'email' },
      colour: ENUM,
      sure: { type: 'boolean', default: true },
    },
    required: ['name'],
  });
  expect(fields.map(({ label, hint }) => `${label}: ${hint}`)).toEqual([
    'Your name: string; required',
    'mail: email; may be empty',
    'colour: one of 1 Red, 2 Green; may be empty',
    'sure: yes or no; Enter: true',
  ]);
});

test('a form that is none has no fields', () => {
  expect(formFields(undefined)).toEqual([]);
  expect(formFields({ properties: [], required: 'x' })).toEqual([]);
});
