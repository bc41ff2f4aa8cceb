import { expect, test } from 'vitest';
import { UsageTotals } from '../../../src/agent/models/usage-totals.ts';
import { EarlierTotals, totalsOf } from '../../../src/agent/transcript/earlier-totals.ts';
import type { EntryBody, EntryNotes } from '../../../src/agent/transcript/transcript-entry.ts';
import { linked } from './sessions.ts';

/** A model whose long requests have another price. */
const MODEL = 'claude-sonnet-4-5';

function reply(input_tokens: number, notes: EntryNotes = {}): EntryBody & EntryNotes {
  const usage = { input_tokens, output_tokens: 10 };
  return { type: 'assistant', content: [{ type: 'text', text: 'ok' }], model: MODEL, usage, ...notes };
}

/** What a session that resumes these entries reports. */
function reported(entries: Parameters<typeof totalsOf>[0]) {
  const totals = new UsageTotals();
  for (const { model, usage, costUsd } of totalsOf(entries).replies) totals.add(model, usage, costUsd);
  return { usage: totals.report({ toolName: 1, contextTokens: 1, outputTokens: 1 }), cost: totals.costUsd };
}

test('the totals of a compaction stand for the entries before it, with their cost', () => {
  const other = { otherReplies: [{ model: MODEL, usage: { input_tokens: 5, output_tokens: 5 } }] };
  const before = [reply(150_000), reply(120_000, other)];
  const after = [reply(7)];
  const totals = new EarlierTotals();
  for (const entry of before) totals.addEntry(entry);
  const compaction: EntryBody = {
    type: 'compaction',
    trigger: 'auto',
    preTokens: 1,
    summary: '',
    messages: [],
    earlier: totals.sum(),
  };
  const all = reported(linked([...before, ...after]));
  expect(totals.sum().replies).toHaveLength(1);
  const fromCompaction = reported(linked([compaction, ...after]));
  expect(fromCompaction.cost).toBeCloseTo(all.cost as number, 10);
  expect(fromCompaction.usage).toMatchObject({ [MODEL]: { inputTokens: 270_012, outputTokens: 35 } });
  // Entries before the compaction are not counted twice.
  const whole = reported(linked([...before, compaction, ...after]));
  expect(whole).toEqual(fromCompaction);
});

test('messages of channels are unanswered until a reply follows, also across a compaction', () => {
  const pushed = (key: string): EntryBody & EntryNotes => ({
    type: 'user',
    content: [{ type: 'text', text: key }],
    channelMessages: [key],
  });
  const entries = [pushed('a'), reply(1), pushed('b'), pushed('c')];
  const totals = new EarlierTotals();
  for (const entry of entries) totals.addEntry(entry);
  expect(totals.unanswered).toEqual(['b', 'c']);
  expect(totalsOf(linked(entries)).unanswered).toEqual(['b', 'c']);
  const compaction: EntryBody = {
    type: 'compaction',
    trigger: 'auto',
    preTokens: 1,
    summary: '',
    messages: [],
    earlier: totals.sum(),
  };
  expect(totalsOf(linked([compaction, pushed('d')])).unanswered).toEqual(['b', 'c', 'd']);
  const answered = totalsOf(linked([compaction, pushed('d'), reply(1)]));
  expect(answered).toMatchObject({ unanswered: [], channelMessages: ['a', 'b', 'c', 'd'] });
});

test('the latest messages of channels are kept', () => {
  const totals = new EarlierTotals();
  for (let n = 0; n < 1_100; n++) totals.add({ channelMessages: [`m${n}`] });
  const { channelMessages } = totals.sum();
  expect(channelMessages).toHaveLength(1_000);
  expect(channelMessages.at(-1)).toBe('m1099');
});
