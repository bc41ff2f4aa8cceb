import { expect, test } from 'vitest';
import {
  candidatesOf,
  decideImport,
  type ExistingServer,
  existingServers,
} from '../../../../src/cli/mcp/import/import-decision.ts';

import type { FoundFile } from '../../../../src/config/import/find-servers.ts';
import { IMPORT_PROGRAMS } from '../../../../src/config/import/programs.ts';
import { signatureOf } from '../../../../src/config/merge/merge-servers.ts';
import type { ConfiguredServer } from '../../../../src/config/model.ts';
import type { WritableScope } from '../../../../src/config/write/write-servers.ts';

type Entry = { command: string; env?: Record<string, string> };

function file(
  id: string,
  from: 'user' | 'project',
  servers: Record<string, Entry & { isOff?: true }>,
): FoundFile {
  const tool = IMPORT_PROGRAMS.find((it) => it.id === id);
  if (!tool) throw new Error(id);
  return {
    tool,
    place: { path: `/${id}-${from}`, from },
    servers: Object.entries(servers).map(([name, { isOff, ...entry }]) => ({
      name,
      entry,
      from,
      notes: [],
      isOff: isOff === true,
    })),
    faults: [],
  };
}

function here(name: string, entry: Entry, place: 'target' | 'elsewhere' | 'nearer'): ExistingServer {
  return {
    name,
    raw: entry,
    signature: signatureOf(entry),
    where: place,
    isInTarget: place === 'target',
    reachesAsFar: place !== 'nearer',
  };
}

const A = { command: 'a' };
const B = { command: 'b' };

test.each<[string, FoundFile[], ExistingServer[], (string | undefined)[][]]>([
  ['no server is configured', [file('cursor', 'user', { one: A })], [], [['one', 'new', undefined]]],
  [
    'the same server is configured with the same name',
    [file('cursor', 'user', { one: A })],
    [here('one', A, 'target')],
    [['one', 'there', 'target']],
  ],
  [
    'the same server is configured with another name',
    [file('cursor', 'user', { one: A })],
    [here('uno', A, 'elsewhere')],
    [['one', 'there', '"uno" of elsewhere']],
  ],
  [
    'another server has the name in the file',
    [file('cursor', 'user', { one: A })],
    [here('one', B, 'target')],
    [['one', 'differs', 'target']],
  ],
  [
    'another server has the name in another file',
    [file('cursor', 'user', { one: A })],
    [here('one', B, 'elsewhere')],
    [['one', 'new', undefined]],
  ],
  [
    'a broken entry has the name in the file',
    [file('cursor', 'user', { one: A })],
    [{ name: 'one', raw: 5, where: 'target', isInTarget: true, reachesAsFar: true }],
    [['one', 'differs', 'target']],
  ],
  [
    'the same server is configured in a narrower scope',
    [file('cursor', 'user', { one: A, uno: A })],
    [here('uno', A, 'nearer')],
    [
      ['one', 'new', '"uno" of nearer'],
      ['uno', 'twin', '"one" of Cursor'],
    ],
  ],
  [
    'two programs have the same server',
    [file('claude-code', 'user', { one: A }), file('cursor', 'user', { one: A, uno: A })],
    [],
    [
      ['one', 'new', undefined],
      ['one', 'twin', 'Claude Code'],
      ['uno', 'twin', '"one" of Claude Code'],
    ],
  ],
  [
    'two programs have different servers of one name',
    [file('claude-code', 'user', { one: A }), file('cursor', 'user', { one: B })],
    [],
    [
      ['one', 'new', undefined],
      ['one', 'clash', 'Claude Code'],
    ],
  ],
  [
    'a server of a project file does not shadow one of a user file',
    [file('cursor', 'project', { one: A }), file('zed', 'user', { one: B })],
    [],
    [
      ['one', 'new', undefined],
      ['one', 'clash', 'Zed'],
    ],
  ],
  [
    'a disabled server does not shadow others',
    [file('cursor', 'user', { one: { ...A, isOff: true } }), file('zed', 'user', { one: B })],
    [],
    [
      ['one', 'new', undefined],
      ['one', 'new', undefined],
    ],
  ],
])('%s', (_, found, existing, expected) => {
  const candidates = candidatesOf(found, existing);
  expect(
    candidates.map(({ server, comparison }) => [
      server.name,
      comparison.kind,
      'where' in comparison ? comparison.where : comparison.also,
    ]),
  ).toEqual(expected);
});

const NONE = { force: false, projectFiles: false };

test.each<[string, FoundFile, ExistingServer[], typeof NONE, string]>([
  ['a new server', file('cursor', 'user', { one: A }), [], NONE, 'take'],
  ['a disabled server', file('cursor', 'user', { one: { ...A, isOff: true } }), [], NONE, 'leave'],
  ['a server of a project file', file('cursor', 'project', { one: A }), [], NONE, 'leave'],
  [
    'a server of a project file with --project-files',
    file('cursor', 'project', { one: A }),
    [],
    { ...NONE, projectFiles: true },
    'take',
  ],
  [
    'another server of the name',
    file('cursor', 'user', { one: A }),
    [here('one', B, 'target')],
    NONE,
    'leave',
  ],
  [
    'another server of the name with --force',
    file('cursor', 'user', { one: A }),
    [here('one', B, 'target')],
    { ...NONE, force: true },
    'take',
  ],
  [
    'the same server with --force',
    file('cursor', 'user', { one: A }),
    [here('one', A, 'target')],
    { ...NONE, force: true },
    'leave',
  ],
  [
    'the same server with other variables and --force',
    file('cursor', 'user', { one: { ...A, env: { KEY: 'new' } } }),
    [here('one', A, 'target')],
    { ...NONE, force: true },
    'take',
  ],
])('--all and %s', (_, found, existing, options, expected) => {
  expect(candidatesOf([found], existing).map((it) => decideImport(it, options).kind)).toEqual([expected]);
});

test.each<[WritableScope, boolean[]]>([
  ['user', [true, false, false, true]],
  ['project', [true, true, true, true]],
  ['local', [true, true, true, true]],
])('configured servers that are available in scope %s: %j', (scope, expected) => {
  const scopes = ['user', 'project', 'local', 'managed'] as const;
  const servers = scopes.map((it): ConfiguredServer => {
    const written = { name: it, scope: it, label: it, path: `/${it}`, raw: A, entry: A };
    return { name: it, written, verdict: { kind: 'ready' }, settled: [], lost: [] };
  });
  const merged = { servers, lost: [], faults: [] };
  const found = existingServers({ sources: [], merged }, { scope, path: '/none' });
  expect(found.map(({ reachesAsFar }) => reachesAsFar)).toEqual(expected);
});
