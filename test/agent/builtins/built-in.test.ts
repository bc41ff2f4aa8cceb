import { expect, test } from 'vitest';
import { inputFault, type Members } from '../../../src/agent/builtins/built-in.ts';

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
  ['a required one left out', { path: undefined }, '"path" is missing: a non-empty string'],
  ['an empty path', { path: '' }, '"path" must be a non-empty string, not ""'],
  ['a number for a string', { text: 1 }, '"text" must be a string, not 1'],
  ['null', { all: null }, '"all" must be a boolean, not null'],
  ['a fraction', { limit: 1.5 }, '"limit" must be an integer of at least 1, not 1.5'],
  ['too little', { limit: 0 }, '"limit" must be an integer of at least 1, not 0'],
  ['too much', { seconds: 10 }, '"seconds" must be a number from 0 to 9, not 10'],
  ['no number', { seconds: Number.NaN }, '"seconds" must be a number from 0 to 9, not null'],
  ['another word', { mode: 'c' }, '"mode" must be one of a, b, not "c"'],
  [
    'an unknown parameter',
    { pth: 'x' },
    'unknown parameter "pth": expected path, text, limit, seconds, mode, all',
  ],
  [
    'a name every object has',
    { toString: 'x' },
    'unknown parameter "toString": expected path, text, limit, seconds, mode, all',
  ],
  ['a long value', { all: 'x'.repeat(99) }, `"all" must be a boolean, not "${'x'.repeat(59)}…`],
])('%s', (_, input, fault) => {
  expect(inputFault({ path: 'p', text: '', ...input }, REQUIRED, OPTIONAL)).toBe(fault);
});
