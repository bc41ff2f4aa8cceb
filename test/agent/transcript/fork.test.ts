import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { fork } from '../../../src/agent/transcript/fork.ts';
import { readTranscript, readTranscriptTo } from '../../../src/agent/transcript/read.ts';
import { Transcript } from '../../../src/agent/transcript/transcript.ts';
import { replied, said } from '../loop/conversations.ts';
import { bodies, OTHER, options, SESSION, temporaryRoot } from './sessions.ts';

const messages = [said('a'), replied('b'), said('c'), replied('d')];

async function original(root: string): Promise<string> {
  await using transcript = new Transcript(options(root).given);
  await transcript.append([{ type: 'meta', title: 'Letters' }, ...bodies(messages)]);
  return transcript.path;
}

test('a fork is the conversation under a new id, and its source is not touched', async () => {
  const root = await temporaryRoot();
  const path = await original(root);
  const before = await readFile(path, 'utf8');
  const source = readTranscript(before);
  await using copy = fork(source, options(root, { sessionId: OTHER }).given);
  await copy.append(bodies([said('e')]));
  const read = readTranscript(await readFile(copy.path, 'utf8'));
  expect(read.messages).toEqual([...messages, said('e')]);
  expect(read.header).toMatchObject({ sessionId: OTHER, forkedFrom: SESSION });
  expect(read.title).toBe('Letters');
  expect(read.entries.slice(0, 4)).toEqual(source.entries.map((entry) => ({ ...entry, sessionId: OTHER })));
  expect(read.diagnostics).toEqual([]);
  expect(await readFile(path, 'utf8')).toBe(before);
});

test('a fork may end at a message', async () => {
  const root = await temporaryRoot();
  const text = await readFile(await original(root), 'utf8');
  const at = readTranscript(text).entries[1]?.uuid ?? '';
  const source = readTranscriptTo(text, at);
  await using copy = fork(source as NonNullable<typeof source>, options(root, { sessionId: OTHER }).given);
  await copy.append(bodies([said('x')]));
  expect(readTranscript(await readFile(copy.path, 'utf8')).messages).toEqual([
    ...messages.slice(0, 2),
    said('x'),
  ]);
});

test('what a later version wrote is carried into the fork', async () => {
  const root = await temporaryRoot();
  const first = new Transcript(options(root).given);
  await first.append([...bodies(messages), { type: 'other', raw: { type: 'bookmark', page: 3 } }]);
  await first.append(bodies([said('e')]));
  await first[Symbol.asyncDispose]();
  await using copy = fork(
    readTranscript(await readFile(first.path, 'utf8')),
    options(root, { sessionId: OTHER }).given,
  );
  await copy.append([]);
  const read = readTranscript(await readFile(copy.path, 'utf8'));
  expect(read.entries[4]).toMatchObject({ type: 'other', raw: { type: 'bookmark', page: 3 } });
  expect(read.messages).toEqual([...messages, said('e')]);
});

test('a fork under the same id is refused', async () => {
  const root = await temporaryRoot();
  const source = readTranscript(await readFile(await original(root), 'utf8'));
  expect(() => fork(source, options(root).given)).toThrow(RangeError);
});
