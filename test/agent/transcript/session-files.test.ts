import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  findSession,
  isSessionId,
  latestSession,
  listSessions,
  projectFolder,
  sessionIdOf,
  sessionPath,
} from '../../../src/agent/transcript/session-files.ts';
import { Transcript } from '../../../src/agent/transcript/transcript.ts';
import { replied, said } from '../loop/conversations.ts';
import { bodies, CWD, OTHER, options, SESSION, temporaryRoot } from './sessions.ts';

describe('find', () => {
  const EMPTY = '11111111-2222-4333-8444-555555555555';

  async function keep(root: string, sessionId: string, messages: Parameters<typeof bodies>[0], hour: number) {
    await using transcript = new Transcript(options(root, { sessionId }).given);
    await transcript.append(
      messages.length > 0 ? bodies(messages) : [{ type: 'meta', title: 'Nothing said' }],
    );
    const time = new Date(Date.UTC(2026, 0, 2, hour));
    await utimes(transcript.path, time, time);
    return transcript.path;
  }

  test('finds a session by its id in its project', async () => {
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

  test('an id that is a path is rejected', async () => {
    const root = await temporaryRoot();
    const path = await keep(root, SESSION, [said('a')], 9);
    await writeFile(join(dirname(path), '..', 'secret.jsonl'), '');
    expect(await findSession(root, CWD, '../secret')).toBeUndefined();
  });

  test('the latest session is the most recently written one with a user message', async () => {
    const root = await temporaryRoot();
    await keep(root, SESSION, [said('older')], 9);
    await keep(root, OTHER, [said('newer'), replied('yes')], 10);
    await keep(root, EMPTY, [], 11);
    expect((await latestSession(root, CWD))?.sessionId).toBe(OTHER);
    expect((await listSessions(root, CWD)).map(({ sessionId }) => sessionId)).toEqual([
      EMPTY,
      OTHER,
      SESSION,
    ]);
  });

  test('ignores other files in the folder', async () => {
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

  test('an unreadable folder is an error', async () => {
    const root = await temporaryRoot();
    await expect(listSessions(`${root}\0`, CWD)).rejects.toThrow();
  });
});

describe('place', () => {
  test.each([
    ['a UUID', SESSION, true],
    ['one in capitals', SESSION.toUpperCase(), true],
    ['nothing', '', false],
    ['a path', '../../../etc/passwd', false],
    ['a UUID behind a path', `../${SESSION}`, false],
    ['a UUID before a path', `${SESSION}/../x`, false],
    ['a UUID with a line after it', `${SESSION}\n`, false],
    ['a UUID with a zero byte', `${SESSION}\0`, false],
    ['a word', 'latest', false],
  ])('%s as a session id', (_, id, isOne) => {
    expect(isSessionId(id)).toBe(isOne);
    const path = () => sessionPath({ root: '/r', cwd: CWD, sessionId: id });
    if (isOne) expect(path()).toBe(join(projectFolder('/r', CWD), `${SESSION}.jsonl`));
    else expect(path).toThrow(RangeError);
  });

  test.each([
    [`${SESSION}.jsonl`, SESSION],
    [SESSION, undefined],
    ['notes.jsonl', undefined],
    [`${SESSION}.jsonl.bak`, undefined],
  ])('the file name %s has the session id %s', (name, id) => {
    expect(sessionIdOf(name)).toBe(id);
  });

  test('projects with similar paths have different folders', () => {
    const folders = ['/a/b-c', '/a/b/c', '/a/b c', '/A/b/c'].map((cwd) => projectFolder('/r', cwd));
    expect(new Set(folders).size).toBe(4);
  });

  test.each([
    ['/home/ada/engine', /^home-ada-engine-[0-9a-f]{12}$/],
    ['C:\\Users\\ada', /^C-Users-ada-[0-9a-f]{12}$/],
    ['/', /^[0-9a-f]{12}$/],
    [`/${'deep/'.repeat(200)}end`, /^[\w-]{50,120}-end-[0-9a-f]{12}$/],
    ['/проект', /^[0-9a-f]{12}$/],
  ])('the folder of %s is a readable file name', (cwd, name) => {
    expect(basename(projectFolder('/r', cwd))).toMatch(name);
    expect(projectFolder('/r', cwd)).toBe(join('/r', 'projects', basename(projectFolder('/r', cwd))));
  });
});
