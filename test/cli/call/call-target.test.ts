import { expect, test } from 'vitest';
import { callTarget, nearestFullName } from '../../../src/cli/call/call-target.ts';

const SERVERS = ['docs', 'a', 'a__b', 'my server', 'mcp__odd__name', 'team/docs'];

test.each([
  ['docs search q=1', { server: 'docs', tool: 'search', words: ['q=1'] }],
  ['docs mcp__docs__search q=1', { server: 'docs', tool: 'mcp__docs__search', words: ['q=1'] }],
  ['mcp__docs__search q=1 r=2', { server: 'docs', tool: 'mcp__docs__search', words: ['q=1', 'r=2'] }],
  ['mcp__docs__search', { server: 'docs', tool: 'mcp__docs__search', words: [] }],
  ['mcp__docs__search -', { server: 'docs', tool: 'mcp__docs__search', words: ['-'] }],
  ['mcp__my_server__x', { server: 'my server', tool: 'mcp__my_server__x', words: [] }],
  ['mcp__a__b__c', { server: 'a__b', tool: 'mcp__a__b__c', words: [] }],
  ['mcp__a__c', { server: 'a', tool: 'mcp__a__c', words: [] }],
  ['mcp__odd__name x', { server: 'mcp__odd__name', tool: 'x', words: [] }],
  ['docs/search q=1', { server: 'docs', tool: 'search', words: ['q=1'] }],
  ['team/docs search', { server: 'team/docs', tool: 'search', words: [] }],
  ['team/docs/search', { server: 'team/docs', tool: 'search', words: [] }],
  ['docs', { server: 'docs', words: [] }],
  ['mcp__none__x q=1', { server: 'mcp__none__x', tool: 'q=1', words: [] }],
])('%s', (line, target) => {
  expect(callTarget(line.split(' '), SERVERS)).toEqual(target);
});

test.each([
  ['mcp__dcs__search', 'mcp__docs__search'],
  ['mcp__zzzzzzzz__search', undefined],
  ['dosc', undefined],
])('%s most likely means %s', (name, meant) => {
  expect(nearestFullName(name, ['docs', 'deploy'])).toBe(meant);
});
