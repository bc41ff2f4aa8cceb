import { expect, test } from 'vitest';
import { memoryJournal } from '../../../src/mcp/calls/journal.ts';

test('a call is written down before it is sent, and what came of it after', () => {
  let now = 10;
  const journal = memoryJournal(10, () => now);
  const record = journal.begin('docs', 'search');
  expect(journal.records).toEqual([{ id: 1, server: 'docs', tool: 'search', startedAt: 10, attempts: 0 }]);
  journal.sent(record);
  journal.sent(record);
  now = 15;
  journal.end(record, 'lost');
  expect(journal.records).toEqual([
    { id: 1, server: 'docs', tool: 'search', startedAt: 10, attempts: 2, outcome: 'lost', endedAt: 15 },
  ]);
});

test('those that run are all kept, of those that ended only the last', () => {
  const journal = memoryJournal(2);
  const records = ['a', 'b', 'c', 'd'].map((tool) => journal.begin('s', tool));
  const [, b, c, d] = records;
  for (const record of [d, c, b]) journal.end(record as (typeof records)[0], 'answered');
  expect(journal.records.map(({ tool }) => tool)).toEqual(['c', 'b', 'a']);
});
