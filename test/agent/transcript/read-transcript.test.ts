import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { INTERRUPTED } from '../../../src/agent/loop/run-calls.ts';
import type { ModelMessage } from '../../../src/agent/models/model.ts';
import {
  chainTo,
  readClaudeTranscript,
  readTranscript,
  readTranscriptTo,
  repairConversation,
} from '../../../src/agent/transcript/read-transcript.ts';
import type { EntryBody } from '../../../src/agent/transcript/transcript-entry.ts';
import { answered, called, conversations, faultsOf, replied, said } from '../loop/conversations.ts';
import { bodies, fileOf, HEADER, linked } from './sessions.ts';

describe('read', () => {
  const messages = [said('go'), called('a'), answered({ a: 'A' }), replied('done')];
  const whole = fileOf(linked(bodies(messages)));
  const faults = (text: string) => readTranscript(text).diagnostics.map(({ fault }) => fault);
  const compaction = (kept: typeof messages): EntryBody => ({
    type: 'compaction',
    trigger: 'auto',
    preTokens: 9,
    summary: 'short',
    messages: kept,
  });

  test('reads what was written', () => {
    expect(readTranscript(whole)).toEqual({
      header: HEADER,
      title: undefined,
      entries: linked(bodies(messages)),
      messages,
      lastUuid: 'e3',
      diagnostics: [],
    });
  });

  test.each([
    ['a torn last line', `${whole}{"type":"user","uu`, ['truncated-line']],
    ['a last line without its end', whole.slice(0, -1), []],
    ['noise', `${whole.replace('\n', '\nnoise\n[1]\n')}`, ['invalid-line', 'invalid-line']],
    ['an entry without an id', `${whole}{"type":"user","content":[]}\n`, ['invalid-line']],
    ['blank lines', whole.replaceAll('\n', '\n\n'), []],
    ['a later version', whole.replace('"version":1', '"version":2'), ['later-version']],
    ['no header', whole.slice(whole.indexOf('\n') + 1), ['no-header']],
    ['line ends of another system', whole.replaceAll('\n', '\r\n'), []],
  ])('%s does not change the conversation', (_, text, found) => {
    expect(readTranscript(text).messages).toEqual(messages);
    expect(faults(text)).toEqual(found);
  });

  test('the first of two headers wins', () => {
    const text = `${whole}${JSON.stringify({ ...HEADER, version: 9 })}\n`;
    expect(readTranscript(text)).toMatchObject({ header: HEADER, diagnostics: [] });
  });

  test('a diagnostic names its line', () => {
    expect(readTranscript(`${whole}{`).diagnostics).toEqual([
      { fault: 'truncated-line', message: 'Line 6 is truncated; the line is skipped' },
    ]);
  });

  test.each([
    '',
    '\n',
    'null',
    '{}',
    '{"type":"header"}',
    '{"type":"user","uuid":"a","parentUuid":"a","content":[{"type":"text","text":1}]}\n',
    '{"type":"user","uuid":"a","parentUuid":null,"content":[{"type":"constructor"},{"type":"__proto__"}]}\n',
    '{"type":"user","uuid":"a","parentUuid":null,"content":[{"type":"tool_use","id":"a","name":"b"}]}\n',
    '{"type":"assistant","uuid":"a","parentUuid":null,"content":[{"type":"tool_result","tool_use_id":"a"}]}\n',
    '{"type":"compaction","uuid":"a","parentUuid":null,"messages":[{"role":"system","content":[]}]}\n',
  ])('reads %j without throwing', (text) => {
    expect(faultsOf(readTranscript(text).messages)).toEqual([]);
  });

  test('entries of unknown types are kept and are not messages', () => {
    const raw = { type: 'bookmark', page: 3 };
    const entries = linked([
      ...bodies(messages.slice(0, 3)),
      { type: 'other', raw },
      ...bodies([replied('x')]),
    ]);
    const read = readTranscript(fileOf(entries));
    expect(read.entries).toEqual(entries);
    expect(read.messages).toEqual([...messages.slice(0, 3), replied('x')]);
    expect(read.diagnostics).toEqual([]);
  });

  test('the last compaction replaces everything before it', () => {
    const kept = [said('summary'), replied('kept')];
    const given = [
      ...bodies(messages),
      compaction([said('first')]),
      ...bodies([replied('x')]),
      compaction(kept),
      ...bodies([said('next')]),
    ];
    const read = readTranscript(fileOf(linked(given)));
    expect(read.messages).toEqual([...kept, said('next')]);
    expect(read.entries).toHaveLength(given.length);
  });

  test('the last title wins and is not an entry', () => {
    const entries = linked(
      [{ type: 'meta', title: 'One' }, ...bodies(messages), { type: 'meta', title: 'Two' }],
      {
        1: null,
      },
    );
    const read = readTranscript(fileOf(entries));
    expect(read).toMatchObject({ title: 'Two', lastUuid: 'e4', messages, diagnostics: [] });
    expect(read.entries.map(({ type }) => type)).toEqual(['user', 'assistant', 'results', 'assistant']);
  });

  test('of two branches, the one written last is resumed', () => {
    const start = bodies([said('go'), replied('ok')]);
    const side = bodies([said('mine'), said('theirs'), replied('for me'), replied('for them')]);
    const entries = linked([...start, ...side], { 2: 'e1', 3: 'e1', 4: 'e2', 5: 'e3' });
    const read = readTranscript(fileOf(entries));
    expect(read.messages).toEqual([said('go'), replied('ok'), said('theirs'), replied('for them')]);
    expect(read.diagnostics).toEqual([
      { fault: 'other-branch', message: '2 entries belong to another branch' },
    ]);
  });

  test('a call without a result gets the interrupted result', () => {
    const read = readTranscript(fileOf(linked(bodies([said('go'), called('a')]))));
    expect(faultsOf(read.messages)).toEqual([]);
    expect(JSON.stringify(read.messages.at(-1))).toContain('the tool may have run');
    expect(read.diagnostics.map(({ fault }) => fault)).toEqual(['repaired']);
  });

  test('a missing line does not affect the others', () => {
    const lines = whole.split('\n');
    const text = lines.toSpliced(3, 1).join('\n');
    expect(readTranscript(text).messages).toHaveLength(4);
    expect(faults(text)).toEqual(['lost-parent', 'repaired']);
  });

  test('a conversation is read up to one entry', () => {
    expect(readTranscriptTo(whole, 'e0')).toMatchObject({
      messages: [said('go')],
      lastUuid: 'e0',
      diagnostics: [],
    });
    expect(readTranscriptTo(whole, 'e9')).toBeUndefined();
  });

  test('entries after an earlier entry form a branch, which is resumed', () => {
    const entries = linked([...bodies(messages), ...bodies([replied('anew')])], { 4: 'e0' });
    expect(readTranscript(fileOf(entries)).messages).toEqual([said('go'), replied('anew')]);
  });

  test('reads back any conversation', () => {
    fc.assert(
      fc.property(conversations, (given) => {
        const entries = linked(bodies(given));
        const read = readTranscript(fileOf(entries));
        expect(read.messages).toEqual(given);
        expect(read.entries).toEqual(entries);
        expect(read.diagnostics).toEqual([]);
      }),
    );
  });

  test('any prefix of a file is a valid prefix of the conversation', () => {
    fc.assert(
      fc.property(conversations, fc.double({ min: 0, max: 1, noNaN: true }), (given, part) => {
        const bytes = Buffer.from(fileOf(linked(bodies(given))));
        const read = readTranscript(bytes.subarray(0, Math.floor(bytes.length * part)).toString());
        expect(faultsOf(read.messages)).toEqual([]);
        const isRepaired = read.diagnostics.some(({ fault }) => fault === 'repaired');
        const untouched = isRepaired ? read.messages.slice(0, -1) : read.messages;
        expect(untouched).toEqual(given.slice(0, untouched.length));
        expect(read.diagnostics.filter(({ fault }) => fault === 'invalid-line')).toEqual([]);
      }),
    );
  });

  const ids = fc.constantFrom('a', 'b', 'c', 'd');
  const block = fc.oneof(
    fc.record({ type: fc.constant('text'), text: fc.string() }),
    fc.record({ type: fc.constant('tool_use'), id: ids, name: fc.string(), input: fc.jsonValue() }),
    fc.record({ type: fc.constant('tool_result'), tool_use_id: ids, content: fc.jsonValue() }),
    fc.jsonValue(),
  );
  const line = fc.record({
    type: fc.constantFrom('user', 'assistant', 'results', 'compaction', 'meta', 'header', 'x'),
    uuid: ids,
    parentUuid: fc.option(ids),
    content: fc.array(block, { maxLength: 3 }),
    messages: fc.array(
      fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.array(block, { maxLength: 2 }) }),
      { maxLength: 3 },
    ),
  });

  test('any lines give a valid conversation', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 8, arbitrary: line }, fc.jsonValue()), { maxLength: 12 }),
        (lines) => {
          const read = readTranscript(lines.map((it) => `${JSON.stringify(it)}\n`).join(''));
          expect(faultsOf(read.messages)).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('chain', () => {
  const four = bodies([said('0'), said('1'), said('2'), said('3')]);

  test.each([
    ['a line of entries', {}, 'e3', ['e0', 'e1', 'e2', 'e3'], []],
    ['not what comes after', {}, 'e1', ['e0', 'e1'], []],
    ['one branch of two', { 2: 'e0' }, 'e3', ['e0', 'e2', 'e3'], []],
    ['the other branch', { 2: 'e0', 3: 'e1' }, 'e3', ['e0', 'e1', 'e3'], []],
    ['a second start', { 2: null }, 'e3', ['e2', 'e3'], []],
    ['past a lost parent', { 2: 'gone' }, 'e3', ['e0', 'e1', 'e2', 'e3'], ['e2']],
    ['past a parent that comes later', { 1: 'e3' }, 'e3', ['e0', 'e1', 'e2', 'e3'], ['e1']],
    ['past an entry that is its own parent', { 0: 'e0' }, 'e1', ['e0', 'e1'], ['e0']],
  ])('chainTo follows %s', (_, parents, to, ids, orphans) => {
    const chain = chainTo(linked(four, parents), to);
    expect(chain?.entries.map(({ uuid }) => uuid)).toEqual(ids);
    expect(chain?.orphans.map(({ uuid }) => uuid)).toEqual(orphans);
  });

  test('chainTo returns undefined for an unknown entry', () => {
    expect(chainTo(linked(four), 'e9')).toBeUndefined();
  });
});

describe('repairConversation', () => {
  const lost = (id: string) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: INTERRUPTED,
    is_error: true,
  });
  const gap = said('[A message is missing here.]');
  const user = (...content: unknown[]) => ({ role: 'user', content }) as ModelMessage;

  test.each([
    ['a call at the end', [said('go'), called('a')], [said('go'), called('a'), user(lost('a'))]],
    [
      'one call of two',
      [said('go'), called('a', 'b'), answered({ b: 'B' })],
      [said('go'), called('a', 'b'), user(lost('a'), ...answered({ b: 'B' }).content)],
    ],
    [
      'a call before the next prompt',
      [said('go'), called('a'), said('well?')],
      [said('go'), called('a'), user(lost('a'), ...said('well?').content)],
    ],
    [
      'a call before another reply',
      [said('go'), called('a'), replied('done')],
      [said('go'), called('a'), user(lost('a')), replied('done')],
    ],
    [
      'results in two parts',
      [said('go'), called('a', 'b'), answered({ b: 'B' }), answered({ a: 'A' })],
      [said('go'), called('a', 'b'), answered({ a: 'A', b: 'B' })],
    ],
    [
      'a result without a call',
      [said('go'), answered({ x: 'X' }), replied('ok')],
      [said('go'), replied('ok')],
    ],
    ['a lost start', [replied('ok')], [gap, replied('ok')]],
    ['a lost prompt', [said('a'), replied('b'), replied('c')], [said('a'), replied('b'), gap, replied('c')]],
    ['prompts in a row', [said('a'), said('b')], [user(...said('a').content, ...said('b').content)]],
    ['an empty turn', [said('a'), user(), replied('b')], [said('a'), replied('b')]],
    [
      'an empty reply between prompts',
      [said('a'), { role: 'assistant', content: [] }, said('b')],
      [user(...said('a').content, ...said('b').content)],
    ],
    ['nothing', [], []],
  ] as [string, ModelMessage[], ModelMessage[]][])('repairs %s', (_, messages, mended) => {
    expect(repairConversation(messages).messages).toEqual(mended);
    expect(faultsOf(mended)).toEqual([]);
  });

  test('reports the repairs', () => {
    expect(repairConversation([said('go'), called('a'), answered({ x: 'X' })]).faults).toEqual([
      'the call a of Read has no result; it is treated as interrupted',
      'the result for x has no matching call',
    ]);
    expect(repairConversation([replied('ok')]).faults).toEqual(['a user message is missing']);
  });

  test('a valid conversation is unchanged', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        expect(repairConversation(messages)).toEqual({ messages, faults: [] });
      }),
    );
  });

  test('any part of a conversation is repaired to a valid one', () => {
    fc.assert(
      fc.property(conversations, fc.infiniteStream(fc.boolean()), (messages, stays) => {
        const rest = messages.filter(() => stays.next().value);
        const { messages: mended } = repairConversation(rest);
        expect(faultsOf(mended)).toEqual([]);
        const replies = ({ role }: ModelMessage) => role === 'assistant';
        expect(mended.filter(replies)).toEqual(rest.filter(replies));
      }),
    );
  });
});

describe('transcripts of the claude CLI', () => {
  const read = (records: readonly object[]) =>
    readClaudeTranscript(records.map((record) => JSON.stringify(record)).join('\n'), {
      sessionId: 's',
      cwd: '/w',
    });
  const user = (uuid: string, parentUuid: string | null, content: string) => ({
    type: 'user',
    uuid,
    parentUuid,
    message: { role: 'user', content },
  });
  const each = <T>(create: (at: number) => T) => Array.from({ length: 15_000 }, (_, at) => create(at));

  test('many leaves after a long chain are read in linear time', { timeout: 10_000 }, () => {
    const chain = each((at) => ({
      type: 'progress',
      uuid: `p${at}`,
      parentUuid: at === 0 ? 'r' : `p${at - 1}`,
    }));
    const leaves = each((at) => ({ type: 'progress', uuid: `l${at}`, parentUuid: 'p14999' }));
    expect(read([user('r', null, 'Hi'), ...chain, ...leaves])?.messages).toEqual([said('Hi')]);
  });

  test('the parts of a reply are joined in order', () => {
    const content = each((at) => ({ type: 'text', text: `${at}` }));
    const parts = content.map((block, at) => ({
      type: 'assistant',
      uuid: `a${at}`,
      parentUuid: at === 0 ? 'r' : `a${at - 1}`,
      message: { id: 'm', role: 'assistant', model: 'm', content: [block] },
    }));
    expect(read([user('r', null, 'Hi'), ...parts])?.messages).toEqual([
      said('Hi'),
      { role: 'assistant', content },
    ]);
  });

  test('a message that a compaction lists repeatedly is kept once', () => {
    const preservedMessages = { anchorUuid: 's', uuids: ['k', 'k', 's', 'k'] };
    const boundary = { type: 'system', uuid: 'b', parentUuid: null, compactMetadata: { preservedMessages } };
    const summary = { ...user('s', 'b', 'Summary'), isCompactSummary: true };
    const entries = read([user('k', null, 'Kept'), boundary, summary])?.entries;
    expect(entries?.map(({ uuid }) => uuid)).toEqual(['s', 'k']);
  });
});
