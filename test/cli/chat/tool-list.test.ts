import { expect, test } from 'vitest';
import { claimsAbout, claimsOf, toolList } from '../../../src/cli/chat/tool-list.ts';
import { text } from './support/text.ts';

const servers = [
  {
    name: 'my docs',
    status: 'connected' as const,
    tools: [
      { name: 'search', description: 'Finds pages', annotations: { readOnly: true } },
      { name: 'drop', annotations: { destructive: true, openWorld: true } },
    ],
  },
  { name: 'down', status: 'failed' as const },
];

test('the names that rules take, by server, with what servers claim', () => {
  expect(text(toolList(servers, ['Read', 'mcp__my_docs__search']))).toEqual([
    'built in',
    '  Read ',
    'my docs',
    '  mcp__my_docs__search (reads only) Finds pages',
    '  mcp__my_docs__drop (destructive) (open world)',
  ]);
  expect(text(toolList([], []))).toEqual(['No tools.']);
});

test('claims are found by the name a model uses, and only true ones count', () => {
  expect(claimsAbout(servers, 'mcp__my_docs__drop')).toEqual(['destructive', 'open world']);
  expect(claimsAbout(servers, 'mcp__other__drop')).toEqual([]);
  expect(claimsOf({ readOnlyHint: true, destructiveHint: false })).toEqual(['reads only']);
});
