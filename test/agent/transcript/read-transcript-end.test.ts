import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readTranscript } from '../../../src/agent/transcript/read-transcript.ts';
import { readTranscriptEnd } from '../../../src/agent/transcript/read-transcript-end.ts';
import { type EntryBody, entryLine } from '../../../src/agent/transcript/transcript-entry.ts';
import { replied, said } from '../loop/conversations.ts';
import { bodies, fileOf, linked, NOON, SESSION, temporaryRoot } from './sessions.ts';

const COMPACTION: EntryBody = {
  type: 'compaction',
  trigger: 'auto',
  preTokens: 9,
  summary: 'in short',
  messages: [said('in short')],
  earlier: { replies: [], channelMessages: [] },
};
/** Entries that make a file too large to be read as a whole. */
const PAST = bodies([said('x'.repeat(700_000)), replied('long ago')]);

async function stored(text: string): Promise<string> {
  const path = join(await temporaryRoot(), 'session.jsonl');
  await writeFile(path, text);
  return path;
}

function titleLine(title: string): string {
  const link = { uuid: title, parentUuid: null, timestamp: NOON, sessionId: SESSION };
  return `${entryLine({ type: 'meta', title, ...link })}\n`;
}

test('a large file is read from its last compaction on, and gives the same conversation', async () => {
  const entries = linked([
    ...PAST,
    COMPACTION,
    ...PAST,
    COMPACTION,
    ...bodies([said('now'), replied('yes')]),
  ]);
  const text = fileOf(entries);
  const end = await readTranscriptEnd(await stored(text));
  const { messages, lastUuid, header, title } = readTranscript(text);
  expect(end).toMatchObject({ messages, lastUuid, header, diagnostics: [] });
  expect(end?.title).toBe(title);
  expect(end?.entries.map(({ uuid }) => uuid)).toEqual(['e5', 'e6', 'e7']);
});

test('the last title and tag are found wherever they are', async () => {
  const entries = linked([...PAST, ...PAST, COMPACTION, ...bodies([said('now')])]);
  const [header, first, ...others] = fileOf(entries).split(/(?<=\n)/);
  const tag = entryLine({
    type: 'meta',
    tag: 'urgent',
    uuid: 't',
    parentUuid: null,
    timestamp: NOON,
    sessionId: SESSION,
  });
  const path = await stored(
    [header, titleLine('first'), `${tag}\n`, first, titleLine('second'), ...others].join(''),
  );
  expect(await readTranscriptEnd(path)).toMatchObject({ title: 'second', tag: 'urgent' });
  await appendFile(path, titleLine('third'));
  expect(await readTranscriptEnd(path)).toMatchObject({ title: 'third', tag: 'urgent' });
});

test('a title is found across the parts that are searched', async () => {
  const past = bodies([said('x'.repeat(9 * 1024 * 1024)), replied('long ago')]);
  const [header = '', ...others] = fileOf(linked([...past, COMPACTION, ...bodies([said('now')])])).split(
    /(?<=\n)/,
  );
  const path = await stored([header, titleLine('first'), ...others].join(''));
  expect(await readTranscriptEnd(path)).toMatchObject({ title: 'first', tag: undefined });
});

// The parts that are searched have a length of 1 MB and begin at the end of the file.
test.each([-30, -14, -13, -1, 0, 1, 14])(
  'a line that begins %i bytes beside the edge of a part',
  async (offset) => {
    const tail = (length: number) => linked([COMPACTION, ...bodies([said('y'.repeat(length))])]);
    const bare = tail(0)
      .map((entry) => `${entryLine(entry)}\n`)
      .join('').length;
    const entries = linked([...PAST, COMPACTION, ...bodies([said('y'.repeat(1024 * 1024 - bare + offset))])]);
    const end = await readTranscriptEnd(await stored(fileOf(entries)));
    expect(end?.entries.map(({ type }) => type)).toEqual(['compaction', 'user']);
  },
);

test.each([
  ['a small file', fileOf(linked([COMPACTION, ...bodies([said('now')])]))],
  ['a file without a compaction', fileOf(linked(PAST))],
  [
    'a compaction of an earlier version, without totals',
    fileOf(linked([...PAST, { ...COMPACTION, earlier: undefined } as never, ...bodies([said('now')])])),
  ],
  [
    'a latest branch that begins before the compaction',
    fileOf(linked([...PAST, COMPACTION, ...bodies([said('other branch')])], { 3: 'e1' })),
  ],
  ['a truncated last line', `${fileOf(linked([...PAST, COMPACTION, ...bodies([said('now')])]))}{"type":"us`],
  [
    'no header',
    fileOf(linked([...PAST, COMPACTION]))
      .split('\n')
      .slice(1)
      .join('\n'),
  ],
  ['a transcript of the claude CLI', `{"type":"user","message":"${'x'.repeat(700_000)}"}\n`],
])('%s has to be read as a whole', async (_, text) => {
  expect(await readTranscriptEnd(await stored(text))).toBeUndefined();
});
