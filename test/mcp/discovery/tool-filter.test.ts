import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  filterTools,
  isIncluded,
  toolFilterError,
  toolFilterOf,
  unmatchedPatterns,
} from '../../../src/mcp/discovery/tool-filter.ts';

test.each<[string, string[] | undefined, string[] | undefined, boolean]>([
  ['read_file', undefined, undefined, true],
  ['read_file', ['read_file'], undefined, true],
  ['read_file', ['read_*'], undefined, true],
  ['read_file', ['*_file'], undefined, true],
  ['read_file', ['r*_*e'], undefined, true],
  ['read_file', ['*'], undefined, true],
  ['read_file', ['read'], undefined, false],
  ['read_file', ['READ_FILE'], undefined, false],
  ['read_file', ['read_file*file'], undefined, false],
  ['read_file', [], undefined, false],
  ['read_file', undefined, ['write_*'], true],
  ['read_file', undefined, ['read_*'], false],
  ['read_file', ['read_file'], ['read_*'], false],
  ['a.b', ['a?b'], undefined, false],
  ['a.b', ['a.b'], undefined, true],
  ['axb', ['a.b'], undefined, false],
  ['constructor', ['constructor'], undefined, true],
])('%s with %j and without %j: %s', (name, includeTools, excludeTools, chosen) => {
  const choice = { ...(includeTools && { includeTools }), ...(excludeTools && { excludeTools }) };
  expect(isIncluded(name, choice)).toBe(chosen);
});

test('patterns are literal except for *', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '.', '$') });
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), part, (parts, name) => {
      const text = parts.map((it) => it.replaceAll(/[.$]/g, '\\$&')).join('.*');
      const isMatch = new RegExp(`^${text}$`, 's').test(name);
      expect(isIncluded(name, { includeTools: [parts.join('*')] })).toBe(isMatch);
    }),
  );
});

test('a pattern with many wildcards is matched in linear time', () => {
  const started = performance.now();
  isIncluded('a'.repeat(50_000), { includeTools: [`${'*a'.repeat(5_000)}b`] });
  expect(performance.now() - started).toBeLessThan(1_000);
});

const tools = [{ name: 'a' }, { name: 'b' }];

test('a filter that includes all returns the same list', () => {
  expect(filterTools(tools, {})).toBe(tools);
  expect(filterTools(tools, { includeTools: ['*'] })).toBe(tools);
  expect(filterTools(tools, { excludeTools: ['a'] })).toEqual([{ name: 'b' }]);
});

test('a pattern that matches no tool is reported', () => {
  expect(unmatchedPatterns(['a', 'b'], { includeTools: ['a', 'c*'], excludeTools: ['d'] })).toEqual([
    '"includeTools" names "c*", which matches no tool of the server',
    '"excludeTools" names "d", which matches no tool of the server',
  ]);
});

test('an invalid filter is an error', () => {
  expect(toolFilterOf({ includeTools: ['a'], excludeTools: [7] })).toEqual({ includeTools: ['a'] });
  expect(toolFilterOf(null)).toEqual({});
  expect(toolFilterError({ includeTools: 'a' })).toBe('"includeTools" must be a list of tool names');
  expect(toolFilterError({ excludeTools: [7] })).toBe('"excludeTools" must be a list of tool names');
  expect(toolFilterError({ includeTools: ['a'] })).toBeUndefined();
});
