import { expect, test } from 'vitest';
import { toolTerms, toolText } from '../../../src/pool/search/tool-terms.ts';

import { pooled } from './pooled.ts';

test('what is said about a tool is told apart by where it stands', () => {
  const tool = pooled('github', 'create_issue', {
    title: 'New issue',
    description: 'Opens an issue. Needs a token.',
    _meta: { 'toolplane/searchHint': 'report a bug' },
    inputSchema: {
      type: 'object',
      properties: {
        labels: { type: 'array', items: { properties: { colour: { description: 'hex' } } } },
        state: { enum: ['open', 3, 'closed'], description: 'At first' },
      },
    },
  });
  expect(toolText(tool)).toEqual({
    name: 'create_issue',
    title: 'New issue ',
    hint: ' report a bug',
    lead: 'Opens an issue.',
    rest: ' Needs a token.',
    parameter: 'labels colour state',
    detail: ' hex At first open  closed',
    server: 'github',
  });
});

test('a name counts more than a description, and that more than a parameter', () => {
  const terms = toolTerms(
    toolText(
      pooled('x', 'alpha', {
        description: 'Does beta.',
        inputSchema: { type: 'object', properties: { gamma: { description: 'delta' } } },
      }),
    ),
  );
  const amounts = ['alpha', 'beta', 'gamma', 'delta'].map((term) => terms.get(term)?.amount ?? 0);
  expect(amounts).toEqual(amounts.toSorted((a, b) => b - a));
  expect(new Set(amounts).size).toBe(4);
  expect([terms.get('alpha')?.isName, terms.get('beta')?.isName]).toEqual([true, false]);
});
