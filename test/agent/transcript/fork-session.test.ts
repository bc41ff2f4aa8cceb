import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTranscript, readTranscriptTo } from '../../../src/agent/transcript/read-transcript.ts';
import { sessionPath } from '../../../src/agent/transcript/session-files.ts';
import { forkSession, forkSources, Transcript } from '../../../src/agent/transcript/transcript.ts';

import { replied, said } from '../loop/conversations.ts';
import { bodies, CWD, HEADER, OTHER, options, SESSION, temporaryRoot } from './sessions.ts';

describe('forkSession', () => {
  const messages = [said('a'), replied('b'), said('c'), replied('d')];

  async function original(root: string): Promise<string> {
    await using transcript = new Transcript(options(root).given);
    await transcript.append([{ type: 'meta', title: 'Letters' }, ...bodies(messages)]);
    return transcript.path;
  }

  test('copies the conversation under a new id and leaves the source unchanged', async () => {
    const root = await temporaryRoot();
    const path = await original(root);
    const before = await readFile(path, 'utf8');
    const source = readTranscript(before);
    await using copy = forkSession(source, options(root, { sessionId: OTHER }).given);
    await copy.append(bodies([said('e')]));
    const read = readTranscript(await readFile(copy.path, 'utf8'));
    expect(read.messages).toEqual([...messages, said('e')]);
    expect(read.header).toMatchObject({ sessionId: OTHER, forkedFrom: SESSION });
    expect(read.title).toBe('Letters');
    expect(read.entries.slice(0, 4)).toEqual(source.entries.map((entry) => ({ ...entry, sessionId: OTHER })));
    expect(read.diagnostics).toEqual([]);
    expect(await readFile(path, 'utf8')).toBe(before);
  });

  test('can end at an earlier message', async () => {
    const root = await temporaryRoot();
    const text = await readFile(await original(root), 'utf8');
    const at = readTranscript(text).entries[1]?.uuid ?? '';
    const source = readTranscriptTo(text, at);
    await using copy = forkSession(
      source as NonNullable<typeof source>,
      options(root, { sessionId: OTHER }).given,
    );
    await copy.append(bodies([said('x')]));
    expect(readTranscript(await readFile(copy.path, 'utf8')).messages).toEqual([
      ...messages.slice(0, 2),
      said('x'),
    ]);
  });

  test('copies entries of unknown types', async () => {
    const root = await temporaryRoot();
    const first = new Transcript(options(root).given);
    await first.append([...bodies(messages), { type: 'other', raw: { type: 'bookmark', page: 3 } }]);
    await first.append(bodies([said('e')]));
    await first[Symbol.asyncDispose]();
    await using copy = forkSession(
      readTranscript(await readFile(first.path, 'utf8')),
      options(root, { sessionId: OTHER }).given,
    );
    await copy.append([]);
    const read = readTranscript(await readFile(copy.path, 'utf8'));
    expect(read.entries[4]).toMatchObject({ type: 'other', raw: { type: 'bookmark', page: 3 } });
    expect(read.messages).toEqual([...messages, said('e')]);
  });

  test('rejects the session id of the source', async () => {
    const root = await temporaryRoot();
    const source = readTranscript(await readFile(await original(root), 'utf8'));
    expect(() => forkSession(source, options(root).given)).toThrow(RangeError);
  });
});

describe('forkSources', () => {
  const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

  /** Sessions by number, each with the beginning of its file. */
  async function kept(files: Record<number, string>) {
    const root = await temporaryRoot();
    const pathOf = (n: number) => sessionPath({ root, cwd: CWD, sessionId: id(n) });
    mkdirSync(dirname(pathOf(0)), { recursive: true });
    for (const [n, text] of Object.entries(files)) writeFileSync(pathOf(Number(n)), text);
    return { root, pathOf };
  }

  const header = (forkedFrom?: string) => `${JSON.stringify({ ...HEADER, forkedFrom })}\n{"type":"user"}\n`;

  test('lists the chain of forks up to the original session or an unreadable file', async () => {
    const { root, pathOf } = await kept({ 1: header(id(2)), 2: header(), 3: header(id(4)), 4: 'torn {' });
    const sources = (n: number) => forkSources(id(n), { root, cwd: CWD });
    expect(await sources(1)).toEqual([pathOf(1), pathOf(2)]);
    expect(await sources(3)).toEqual([pathOf(3), pathOf(4)]);
    expect(await sources(9)).toEqual([pathOf(9)]);
    expect(await forkSources(undefined, { root, cwd: CWD })).toEqual([]);
  });

  test('ignores a source that is not a session id', async () => {
    const { root, pathOf } = await kept({ 1: header('../../etc') });
    expect(await forkSources('../x', { root, cwd: CWD })).toEqual([]);
    expect(await forkSources(id(1), { root, cwd: CWD })).toEqual([pathOf(1)]);
  });

  test('stops at a cycle and after 20 forks', async () => {
    const row = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [n + 10, header(id(n + 11))]));
    const { root, pathOf } = await kept({ 1: header(id(2)), 2: header(id(1)), ...row });
    expect(await forkSources(id(1), { root, cwd: CWD })).toEqual([pathOf(1), pathOf(2)]);
    expect(await forkSources(id(10), { root, cwd: CWD })).toHaveLength(20);
  });
});
