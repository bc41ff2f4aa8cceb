import { expect, test } from 'vitest';
import { defineBuiltIn, inputFaults, type Members } from '../../../src/agent/builtins/built-in.ts';

const REQUIRED: Members = {
  path: { type: 'string', minLength: 1, description: '' },
  text: { type: 'string', description: '' },
};
const OPTIONAL: Members = {
  limit: { type: 'integer', minimum: 1, description: '' },
  seconds: { type: 'number', minimum: 0, maximum: 9, description: '' },
  mode: { type: 'string', enum: ['a', 'b'], description: '' },
  all: { type: 'boolean', description: '' },
};

test.each<[string, Record<string, unknown>, string | undefined]>([
  ['all members', { limit: 1, seconds: 0.5, mode: 'b', all: false }, undefined],
  ['an optional one left undefined', { limit: undefined }, undefined],
  ['a required one left out', { path: undefined }, 'The required parameter `path` is missing'],
  ['an empty path', { path: '' }, 'The parameter `path` is invalid: must be a non-empty string, not ""'],
  [
    'a number for a string',
    { text: 1 },
    'The parameter `text` type is expected as `string` but provided as `number`',
  ],
  ['null', { all: null }, 'The parameter `all` type is expected as `boolean` but provided as `null`'],
  [
    'a fraction',
    { limit: 1.5 },
    'The parameter `limit` is invalid: must be an integer of at least 1, not 1.5',
  ],
  ['too little', { limit: 0 }, 'The parameter `limit` is invalid: must be an integer of at least 1, not 0'],
  ['too much', { seconds: 10 }, 'The parameter `seconds` is invalid: must be a number from 0 to 9, not 10'],
  [
    'no number',
    { seconds: Number.NaN },
    'The parameter `seconds` is invalid: must be a number from 0 to 9, not null',
  ],
  ['another word', { mode: 'c' }, 'The parameter `mode` is invalid: must be one of a, b, not "c"'],
  ['an unknown parameter', { pth: 'x' }, 'An unexpected parameter `pth` was provided'],
  ['a name every object has', { toString: 'x' }, 'An unexpected parameter `toString` was provided'],
  ['a long value', { mode: 'x'.repeat(99) }, expect.stringMatching(/one of a, b, not "x{59}…$/)],
])('%s', (_, input, fault) => {
  const faults = fault === undefined ? [] : [fault];
  expect(inputFaults({ path: 'p', text: '', ...input }, REQUIRED, OPTIONAL)).toEqual(faults);
});

test.each<[string, unknown, string[]]>([
  ['a valid list', [{ name: 'a' }, { name: 'b', done: true }], []],
  ['too few', [], ['The parameter `items` is invalid: must be a list of 1 to 2 items, not []']],
  [
    'too many',
    [{ name: 'a' }, { name: 'a' }, { name: 'a' }],
    [expect.stringContaining('a list of 1 to 2 items')],
  ],
  ['no list', 'x', ['The parameter `items` type is expected as `array` but provided as `string`']],
  [
    'several errors in members',
    [{ name: 7, extra: 1 }, {}],
    [
      'The parameter `items[0].name` type is expected as `string` but provided as `number`',
      'An unexpected parameter `items[0].extra` was provided',
      'The required parameter `items[1].name` is missing',
    ],
  ],
  [
    'an item that is no object',
    ['x'],
    ['The parameter `items[0]` type is expected as `object` but provided as `string`'],
  ],
])('nested input: %s', (_, items, faults) => {
  const member = {
    items: {
      type: 'array',
      minItems: 1,
      maxItems: 2,
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, done: { type: 'boolean' } },
        required: ['name'],
        additionalProperties: false,
      },
    },
  } satisfies Members;
  expect(inputFaults({ items }, member, {})).toEqual(faults);
});

test('numbers and booleans that the model wrote as texts are converted', () => {
  const tool = defineBuiltIn({
    name: 'Any',
    description: '',
    annotations: {},
    required: REQUIRED,
    optional: OPTIONAL,
    run: async () => ({ content: '', isError: false }),
  });
  const input = { text: '7', limit: '20', seconds: '0.5', all: 'true', mode: 'a', other: '1' };
  expect(tool.converted?.(input)).toEqual({ ...input, limit: 20, seconds: 0.5, all: true });
  expect(tool.converted?.({ limit: 'many', all: 'yes' })).toEqual({ limit: 'many', all: 'yes' });
});
