import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findSession, latestSession, listSessions } from '../../../src/agent/transcript/find.ts';
import { projectFolder } from '../../../src/agent/transcript/place.ts';
import { Transcript } from '../../../src/agent/transcript/transcript.ts';
import { replied, said } from '../loop/conversations.ts';
import { bodies, CWD, OTHER, options, SESSION, temporaryRoot } from './sessions.ts';

const EMPTY = '11111111-2222-4333-8444-555555555555';

async function keep(root: string, sessionId: string, messages: Parameters<typeof bodies>[0], hour: number) {
  await using transcript = new Transcript(options(root, { sessionId }).given);
  await transcript.append(messages.length > 0 ? bodies(messages) : [{ type: 'meta', title: 'Nothing said' }]);
  const time = new Date(Date.UTC(2026, 0, 2, hour));
  await utimes(transcript.path, time, time);
  return transcript.path;
}

test('a session is found by its id, in its own project', async () => {
  const root = await temporaryRoot();
  const path = await keep(root, SESSION, [said('a')], 9);
  expect(await findSession(root, CWD, SESSION)).toEqual({
    sessionId: SESSION,
    path,
    modifiedAt: new Date(Date.UTC(2026, 0, 2, 9)),
    bytes: expect.any(Number),
  });
  expect(await findSession(root, CWD, OTHER)).toBeUndefined();
  expect(await findSession(root, '/elsewhere', SESSION)).toBeUndefined();
});

test('an id that is a path finds nothing', async () => {
  const root = await temporaryRoot();
  const path = await keep(root, SESSION, [said('a')], 9);
  await writeFile(join(dirname(path), '..', 'secret.jsonl'), '');
  expect(await findSession(root, CWD, '../secret')).toBeUndefined();
});

test('the latest session is the one written to last in which a person said something', async () => {
  const root = await temporaryRoot();
  await keep(root, SESSION, [said('older')], 9);
  await keep(root, OTHER, [said('newer'), replied('yes')], 10);
  await keep(root, EMPTY, [], 11);
  expect((await latestSession(root, CWD))?.sessionId).toBe(OTHER);
  expect((await listSessions(root, CWD)).map(({ sessionId }) => sessionId)).toEqual([EMPTY, OTHER, SESSION]);
});

test('other files in the folder are no sessions', async () => {
  const root = await temporaryRoot();
  await keep(root, SESSION, [said('a')], 9);
  await writeFile(join(projectFolder(root, CWD), 'notes.jsonl'), '');
  await mkdir(join(projectFolder(root, CWD), `${OTHER}.jsonl`));
  expect((await listSessions(root, CWD)).map(({ sessionId }) => sessionId)).toEqual([SESSION]);
});

test('a project without sessions has none', async () => {
  const root = await temporaryRoot();
  expect(await listSessions(root, CWD)).toEqual([]);
  expect(await latestSession(root, CWD)).toBeUndefined();
});

test('a folder that is there and cannot be read is told, not taken for empty', async () => {
  const root = await temporaryRoot();
  await expect(listSessions(`${root}\0`, CWD)).rejects.toThrow();
});
