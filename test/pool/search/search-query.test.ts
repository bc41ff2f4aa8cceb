import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseQuery } from '../../../src/pool/search/search-query.ts';

test.each([
  ['select:a,b', { kind: 'select', names: ['a', 'b'] }],
  [' SELECT: mcp__x__y , mcp__x__y,', { kind: 'select', names: ['mcp__x__y'] }],
  ['select:', { kind: 'select', names: [] }],
  ['send a mail', { kind: 'search', text: 'send a mail', required: [] }],
  ['server:github  issues', { kind: 'search', text: 'issues', required: [], server: 'github' }],
  ['readonly:true list', { kind: 'search', text: 'list', required: [], readOnly: true }],
  [
    'ReadOnly:no destructive:false x',
    { kind: 'search', text: 'x', required: [], readOnly: false, destructive: false },
  ],
  ['+slack send', { kind: 'search', text: 'slack send', required: ['slack'] }],
  ['c++ a + b', { kind: 'search', text: 'c++ a + b', required: [] }],
  ['readonly:maybe server:', { kind: 'search', text: 'readonly:maybe server:', required: [] }],
  ['please select:a', { kind: 'search', text: 'please select:a', required: [] }],
  ['', { kind: 'search', text: '', required: [] }],
])('%j', (text, query) => {
  expect(parseQuery(text)).toEqual(query);
});

test('every text is a query', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(['select', 'search']).toContain(parseQuery(text).kind);
    }),
  );
});
