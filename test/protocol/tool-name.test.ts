import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  guessToolName,
  hasServerWildcard,
  mcpToolName,
  normalizeName,
} from '../../src/protocol/tool-name.ts';

test.each([
  ['calc', 'add', 'mcp__calc__add'],
  ['my server!', 'do it!', 'mcp__my_server___do_it_'],
  ['数据', 'ok', 'mcp______ok'],
  ['a.b/c', 'd:e', 'mcp__a_b_c__d_e'],
  ['with-dash_and_underscore', 'A1', 'mcp__with-dash_and_underscore__A1'],
  ['', '', 'mcp____'],
])('R142 R163 %s and %s make %s', (server, tool, name) => {
  expect(mcpToolName(server, tool)).toBe(name);
});

const anyText = fc.string({ unit: 'binary' });

test('R142 a name holds only allowed characters, one for each it had', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const name = normalizeName(text);
      expect(name).toMatch(/^[a-zA-Z0-9_-]*$/);
      expect(name).toHaveLength(text.length);
      expect(normalizeName(name)).toBe(name);
    }),
  );
});

test('R163 a full name is built of the two normalised parts', () => {
  fc.assert(
    fc.property(anyText, anyText, (server, tool) => {
      expect(mcpToolName(server, tool)).toBe(`mcp__${normalizeName(server)}__${normalizeName(tool)}`);
    }),
  );
});

test.each([
  ['mcp__docs__search', { server: 'docs', tool: 'search' }],
  ['mcp__a__b__c', { server: 'a', tool: 'b__c' }],
  ['mcp__docs', { server: 'docs', tool: undefined }],
  ['mcp__docs__', { server: 'docs', tool: undefined }],
  ['Bash', undefined],
])('%s most likely means %o', (name, parts) => {
  expect(guessToolName(name)).toEqual(parts);
});

test.each([
  ['mcp__*', true],
  ['mcp__do*', true],
  ['mcp__docs__*', false],
  ['Bash*', false],
])('%s has a wildcard for the server: %s', (rule, isWide) => {
  expect(hasServerWildcard(rule)).toBe(isWide);
});
