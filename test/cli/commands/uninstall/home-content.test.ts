import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { homeContent } from '../../../../src/cli/commands/uninstall/home-content.ts';
import { writeServer } from '../../../../src/config/write/write-servers.ts';
import { configPlace } from '../../../config/config-place.ts';
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
  const { parts, others } = homeContent(home);
  expect(others).toEqual([]);
  const session = transcript.replace(/\.jsonl$/, '');
  expect(parts.map(({ kind, paths, places }) => [kind, paths.length, places])).toEqual([
    ['settings', 1, ['settings.json']],
    ['secrets', 1, ['secrets.json']],
    ['choices', 1, ['choices.json']],
    ['conversations', 2, ['projects/']],
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

test('locks and files of interrupted writes are recognized', () => {
  const { home, write } = configPlace();
  const ours = [
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
  ['other choices', 'choices.json', { version: 1, choices: [] }],
  ['another lock', 'settings.json.lock', 'npm'],
  ['a copy', 'settings.json.bak', SETTINGS],
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
  expect(pathsOf(home)).toHaveLength(7);
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
