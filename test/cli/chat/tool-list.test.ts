import { expect, test } from 'vitest';
import { annotationLabels, labelsOfTool, toolList } from '../../../src/cli/chat/commands.ts';
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

test('lists full tool names by server, with annotations', () => {
  expect(text(toolList(servers, ['Read', 'mcp__my_docs__search']))).toEqual([
    'built in',
    '  Read ',
    'my docs',
    '  mcp__my_docs__search (read-only) Finds pages',
    '  mcp__my_docs__drop (destructive) (open world)',
  ]);
  expect(text(toolList([], []))).toEqual(['No tools.']);
});

test('finds the true annotations of a tool by its full name', () => {
  expect(labelsOfTool(servers, 'mcp__my_docs__drop')).toEqual(['destructive', 'open world']);
  expect(labelsOfTool(servers, 'mcp__other__drop')).toEqual([]);
  expect(annotationLabels({ readOnlyHint: true, destructiveHint: false })).toEqual(['read-only']);
});
