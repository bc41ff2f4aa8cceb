import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { isSessionId, projectFolder, sessionIdOf, sessionPath } from '../../../src/agent/transcript/place.ts';
import { CWD, SESSION } from './sessions.ts';

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
])('the file name %s stands for %s', (name, id) => {
  expect(sessionIdOf(name)).toBe(id);
});

test('projects whose paths read the same have folders of their own', () => {
  const folders = ['/a/b-c', '/a/b/c', '/a/b c', '/A/b/c'].map((cwd) => projectFolder('/r', cwd));
  expect(new Set(folders).size).toBe(4);
});

test.each([
  ['/home/ada/engine', /^home-ada-engine-[0-9a-f]{12}$/],
  ['C:\\Users\\ada', /^C-Users-ada-[0-9a-f]{12}$/],
  ['/', /^[0-9a-f]{12}$/],
  [`/${'deep/'.repeat(200)}end`, /^[\w-]{50,120}-end-[0-9a-f]{12}$/],
  ['/проект', /^[0-9a-f]{12}$/],
])('the folder of %s is one legible file name', (cwd, name) => {
  expect(basename(projectFolder('/r', cwd))).toMatch(name);
  expect(projectFolder('/r', cwd)).toBe(join('/r', 'projects', basename(projectFolder('/r', cwd))));
});
