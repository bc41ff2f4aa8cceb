import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ProcessLock } from '../../../../src/agent/tasks/process-owner.ts';
import { Inbox } from '../../../../src/channels/inbox.ts';
import { historyPath, PromptHistory } from '../../../../src/cli/chat/live/prompt-history.ts';
import { homeContent } from '../../../../src/cli/commands/uninstall/home-content.ts';
import { SETTING_KEYS } from '../../../../src/config/settings/setting-keys.ts';
import { writeServer } from '../../../../src/config/write/write-servers.ts';
import { archiveSession } from '../../../../src/sessions/session-functions.ts';
import { configPlace } from '../../../config/config-place.ts';
import { openFullSession } from './full-session.ts';
import { keepAll } from './keep-all.ts';

const UUID = '6f2d1c1e-0b6a-4c57-9d0e-3a5d8c1b2f40';
const HELD = `12345 some-host ${UUID}`;
const SETTINGS = { version: 1, mcpServers: {} };

const pathsOf = (home: string) =>
  homeContent(home)
    .parts.flatMap(({ paths }) => paths)
    .map((it) => it.slice(home.length + 1));
const othersOf = (home: string) => homeContent(home).others.map((path) => path.slice(home.length + 1));

test('every file that Toolplane writes to its home is recognized', async () => {
  const { home, world } = configPlace();
  writeServer(world(), 'user', 'u', { command: 'u' });
  writeServer(world(), 'project', 'p', { command: 'p' });
  const transcript = await keepAll(home);
  new PromptHistory(historyPath(home), '/project').add('x'.repeat(10_000));
  const { parts, others } = homeContent(home);
  expect(others).toEqual([]);
  const session = transcript.replace(/\.jsonl$/, '');
  expect(parts.map(({ kind, paths, places }) => [kind, paths.length, places])).toEqual([
    ['settings', 1, ['settings.json']],
    ['secrets', 2, ['secrets.enc', 'secrets.key']],
    ['choices', 1, ['choices.json']],
    ['conversations', 2, ['projects/']],
    ['history', 1, ['history.jsonl']],
    ['pins', 1, ['pins/']],
    ['cache', 3, ['cache/']],
    ['locks', 0, ['locks/']],
    ['inventory', 1, ['written.json']],
  ]);
  expect(parts[3]?.directories).toEqual([
    join(session, 'tool-results'),
    session,
    dirname(transcript),
    join(home, 'projects'),
  ]);
  expect(parts.every(({ bytes, kind }) => bytes > 0 || kind === 'locks')).toBe(true);
});

test('every file of a session is recognized, while it runs and after its end', async () => {
  const place = configPlace();
  const { home } = place;
  const session = await openFullSession(place);
  await archiveSession({ toolplane: home }, session.id, true);
  const daemon = new ProcessLock(join(home, 'schedule', 'daemon.lock'));
  expect(daemon.take()).toBe(true);
  const STORED = [
    ['schedule', ['schedule/<hash>.json', 'schedule/daemon.lock']],
    ['memory', ['<project>/memory/MEMORY.md', '<project>/memory/style.md']],
    ['plans', ['plans/<plan>.md']],
    [
      'conversations',
      [
        '<project>/<id>.jsonl',
        '<project>/<id>/archived.json',
        '<project>/<id>/file-history/<hash>',
        '<project>/<id>/file-history/index.jsonl',
        '<project>/<id>/scheduled-tasks.json',
        '<project>/<id>/subagents/agent-<agent>.jsonl',
        '<project>/<id>/tool-results/<hash>.txt',
        '<project>/<id>/tool-results/<task>.output',
      ],
    ],
    ['tasks', ['tasks/<id>/.highwatermark', 'tasks/<id>/1.json']],
  ] as const;
  const MAIL = ['teams/<id>/leads/<id>/read/<message>.json', 'teams/<id>/mail/ada/read/<message>.json'];
  const INBOX = 'channels/inbox.db';
  const content = () => ({ stored: storedIn(home), others: othersOf(home) });
  // The files of locks come and go while the session runs.
  await expect.poll(content, { timeout: 20_000 }).toEqual({
    stored: [
      ...STORED,
      ['teams', [...MAIL, 'teams/<id>/members/ada']],
      ['inbox', [INBOX, `${INBOX}-shm`, `${INBOX}-wal`]],
    ],
    others: [],
  });
  await session.close();
  expect(content()).toEqual({ stored: [...STORED, ['teams', MAIL], ['inbox', [INBOX]]], others: [] });
});

/** The kinds of stored files with their distinct names. */
function storedIn(home: string): [string, string[]][] {
  const nameOf = (path: string) =>
    path
      .slice(home.length + 1)
      .replace(/^projects\/[^/]+/, '<project>')
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
      .replace(/\d{9}-[0-9a-f]{32}/, '<message>')
      .replace(/[0-9a-f]{64}|[0-9a-f]{32}/, '<hash>')
      .replace(/agent-\w+/, 'agent-<agent>')
      .replace(/\w+\.output/, '<task>.output')
      .replace(/plans\/[a-z-]+/, 'plans/<plan>');
  return homeContent(home).parts.map(({ kind, paths }) => [kind, [...new Set(paths.map(nameOf))].sort()]);
}

test('the inbox of a killed process is recognized by its log', async () => {
  const { home } = configPlace();
  const directory = join(home, 'channels');
  using _inbox = await Inbox.open(directory);
  const copy = join(home, '..', 'copy', 'channels');
  cpSync(directory, copy, { recursive: true });
  // The schema is not in the database yet.
  expect(readFileSync(join(copy, 'inbox.db'), 'utf8')).not.toContain('CREATE TABLE');
  expect(homeContent(dirname(copy))).toMatchObject({ parts: [{ kind: 'inbox' }], others: [] });
});

test.each([...SETTING_KEYS].filter((key) => key !== 'version' && key !== '$schema'))(
  'settings with only "%s" are recognized',
  (key) => {
    const { home, write } = configPlace();
    write(join(home, 'settings.json'), { version: 1, [key]: {} });
    expect(homeContent(home)).toMatchObject({ parts: [{ kind: 'settings' }], others: [] });
  },
);

test('notes are recognized by their index, or by a conversation of the project', async () => {
  const { home, write } = configPlace();
  const project = dirname(await keepAll(home)).slice(home.length + 1);
  const indexed = 'projects/p-0123456789ab/memory';
  const ours = [`${project}/memory/a.md`, `${indexed}/MEMORY.md`, `${indexed}/b.md`];
  for (const name of [...ours, 'projects/q-0123456789ab/memory/c.md']) write(join(home, name), 'text');
  const part = homeContent(home).parts.find(({ kind }) => kind === 'memory');
  expect(part?.paths.map((path) => path.slice(home.length + 1)).sort()).toEqual(ours.sort());
  expect(part?.places).toEqual(['projects/*/memory/']);
  expect(othersOf(home)).toEqual(['projects/q-0123456789ab']);
});

test('locks and files of interrupted writes are recognized', () => {
  const { home, write } = configPlace();
  const HASH = '0a'.repeat(16);
  const ours = [
    'settings.json.lock.taking',
    `tasks/list/.lock`,
    `tasks/list/.lock.taking`,
    `tasks/list/.lock.${UUID}`,
    `tasks/list/.1.json.${UUID}`,
    `tasks/list/..highwatermark.${UUID}`,
    'teams/list/merge.lock',
    `teams/list/merge.lock.${UUID}`,
    'teams/list/mail/ada/.lock',
    `teams/list/leads/${UUID}/.lock.${UUID}`,
    `teams/list/mail/ada/new/.000000001-${HASH}.json.${UUID}`,
    `teams/list/members/.ada.${UUID}`,
    `schedule/.${HASH}.json.${UUID}`,
    'schedule/daemon.lock.guard',
    'schedule/daemon.lock.guard.taking',
    `schedule/.daemon.lock.${UUID}`,
    `plans/.calm-river-path.md.${UUID}`,
    `plans/.${UUID}.tmp`,
    'settings.json.lock',
    `settings.json.lock.${UUID}`,
    `.settings.json.${UUID}`,
    `pins/${'0a'.repeat(16)}.json.lock`,
    `pins/${'0a'.repeat(16)}.json.broken`,
    `cache/eras.json.${UUID}`,
    `cache/catalogue/${'0a'.repeat(32)}.json.${UUID}`,
    `cache/connectors/.${'0a'.repeat(32)}.json.${UUID}`,
    `locks/${'0a'.repeat(16)}.lock`,
  ];
  for (const name of ours) write(join(home, name), name.includes('.lock') ? HELD : '{ "vers');
  expect(pathsOf(home).sort()).toEqual(ours.sort());
  expect(othersOf(home)).toEqual([]);
});

test.each<[string, string, unknown]>([
  ['settings of another program', 'settings.json', { 'editor.fontSize': 12 }],
  ['settings of another program that have a version', 'settings.json', { version: 1, theme: 'x' }],
  ['settings without a version', 'settings.json', { mcpServers: {} }],
  ['broken settings', 'settings.json', '{ "version": 1'],
  ['other secrets', 'secrets.json', { apiKey: 'x' }],
  ['other encrypted secrets', 'secrets.enc', { version: 2, data: 'x' }],
  ['another key', 'secrets.key', '-----BEGIN PRIVATE KEY-----'],
  ['other choices', 'choices.json', { version: 1, choices: [] }],
  ['another lock', 'settings.json.lock', 'npm'],
  ['a copy', 'settings.json.bak', SETTINGS],
  ['an empty file with a similar name', '.settings.json', ''],
  ['other tasks', 'tasks/list/1.json', { id: '1', title: 'x' }],
  ['another lock of a task list', 'tasks/list/.lock', 'npm'],
  ['another text among tasks', 'tasks/notes.md', 'mine'],
  ['another team', 'teams/list/members/ada', 'Ada'],
  ['other mail', `teams/list/mail/ada/new/000000001-${'0a'.repeat(16)}.json`, { id: 'x' }],
  ['another plan', 'plans/big-house-plan.md', '# House'],
  ['another schedule', `schedule/${'0a'.repeat(16)}.json`, { cwd: '/' }],
  ['the lock of another daemon', 'schedule/daemon.lock', '4711'],
  ['another inbox', 'channels/inbox.db', 'SQLite format 3'],
  ['checkpoints without a conversation', `projects/p-0123456789ab/${UUID}/file-history/index.jsonl`, '{}'],
  ['notes without a conversation or an index', 'projects/p-0123456789ab/memory/a.md', 'mine'],
  ['a directory with a similar name', 'projects/site-202401011230/index.html', '<html>'],
  [
    'conversations of another program',
    `projects/p-0123456789ab/${UUID}.jsonl`,
    '{"type":"user","uuid":"x"}\n',
  ],
  [
    'results without a conversation',
    `projects/p-0123456789ab/${UUID}/tool-results/${'0a'.repeat(16)}.bin`,
    'x',
  ],
  ['another file among pins', 'pins/map.json', {}],
  ['another file that is named like a pin', `pins/${'0a'.repeat(16)}.json`, { pins: [] }],
  ['another cache', 'cache/catalogue/books.csv', 'a,b'],
  ['another cache of the same name', `cache/connectors/${'0a'.repeat(32)}.json`, { a: 1 }],
  ['another cache beside', 'cache/eras.json', { ice: 1 }],
])('%s is reported as not written by Toolplane', (_, name, content) => {
  const { home, write } = configPlace();
  write(join(home, name), content);
  const [top = ''] = name.split('/');
  expect(homeContent(home)).toMatchObject({ parts: [], others: [join(home, top)] });
});

test('reports the topmost directory that contains no file of Toolplane', async () => {
  const { home, write } = configPlace();
  const transcript = await keepAll(home);
  const project = dirname(transcript).slice(home.length + 1);
  const session = transcript.slice(home.length + 1).replace(/\.jsonl$/, '');
  for (const name of [
    'projects/site-202401011230/deep/index.html',
    `${project}/notes.txt`,
    `${session}/mine/x`,
    'cache/catalogue/books/a.csv',
  ])
    write(join(home, name), 'mine');
  symlinkSync(dirname(home), join(home, session, 'tool-results', 'link'));
  expect(othersOf(home)).toEqual([
    'cache/catalogue/books',
    `${session}/mine`,
    `${session}/tool-results/link`,
    `${project}/notes.txt`,
    'projects/site-202401011230',
  ]);
  expect(pathsOf(home)).toHaveLength(8);
});

test('does not follow symbolic links', () => {
  const { home, userHome, write } = configPlace();
  mkdirSync(home);
  symlinkSync(write(join(userHome, 'dotfiles', 'settings.json'), SETTINGS), join(home, 'settings.json'));
  symlinkSync(
    dirname(write(join(userHome, 'elsewhere', 'eras.json'), { format: 1, eras: {} })),
    join(home, 'cache'),
  );
  expect(pathsOf(home)).toEqual([]);
  expect(othersOf(home)).toEqual(['cache', 'settings.json']);
});

test('a missing home is empty; a home that is not a directory is an error', () => {
  const { home, write } = configPlace();
  expect(homeContent(home)).toEqual({ parts: [], others: [] });
  write(home, 'a file');
  expect(() => homeContent(home)).toThrow('ENOTDIR');
});
