import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import type { Rule } from '../../../src/permissions/rule.ts';
import { collect } from '../../support/collect.ts';
import { allow, asks, deny, drive, results } from '../../support/drive.ts';
import { temporaryRoot } from '../transcript/sessions.ts';

/**
 * `real/keys/id` with the links `home` → `real`, `work/vault` → `real/keys` and `work/.env` → `work/config/env`;
 * sessions run in `work`, at home in `home`.
 */
async function linkedPlace() {
  const root = await realpath(await temporaryRoot());
  const path = (name: string) => join(root, name);
  for (const name of ['real/keys', 'real/notes', 'work/config']) await mkdir(path(name), { recursive: true });
  await writeFile(path('real/keys/id'), 'needle secret\n');
  await writeFile(path('real/notes/a'), 'needle note\n');
  await writeFile(path('work/config/env'), 'needle secret\n');
  await symlink('real', path('home'));
  await symlink(path('real/keys'), path('work/vault'));
  await symlink('config/env', path('work/.env'));
  const workspace = { cwd: path('work'), home: path('home'), directories: [] };
  return { path, workspace };
}

type Place = Awaited<ReturnType<typeof linkedPlace>>;

/** What each call came to; a question is answered with the text "asked". */
async function outcomes(place: Place, rules: readonly Rule[], calls: readonly ReturnType<typeof toolUse>[]) {
  const { query, model } = drive(
    [together(...calls), text('ok')],
    { canUseTool: async () => ({ behavior: 'deny', message: 'asked' }) },
    { builtIns: ['Read', 'Write', 'Grep', 'Glob'], workspace: place.workspace, rules },
  );
  await collect(query);
  return results(model.requests[1]);
}

const read = (path: string, id = 't1') => toolUse('Read', { file_path: path }, id);

test.each([
  ['in a home directory that is a link', 'Read(~/keys/**)', 'real/keys/id'],
  ['in a home directory that is a link, by its own name', 'Read(~/keys/**)', 'home/keys/id'],
  ['a file in a home directory that is a link', 'Read(~/keys/id)', 'real/keys/id'],
  ['all of a home directory that is a link', 'Read(~/**)', 'real/keys/id'],
  ['with a wildcard below the link', 'Read(~/k*/i?)', 'real/keys/id'],
  ['at any depth below the link', 'Read(~/**/id)', 'real/keys/id'],
  ['below an absolute path that leads through a link', 'Read(//{root}/home/keys/**)', 'real/keys/id'],
  ['below a link in the workspace', 'Read(vault/**)', 'real/keys/id'],
  ['a file by the name of a link, at any depth', 'Read(.env)', 'work/config/env'],
  ['a file by the name of a link', 'Read(./.env)', 'work/config/env'],
  ['a file by the name of a link, through the link', 'Read(./.env)', 'work/.env'],
])('a deny rule for what is %s is about the real path', async (_, rule, file) => {
  const place = await linkedPlace();
  const rules = deny(rule.replace('//{root}', `/${place.path('')}`));
  const { t1 } = await outcomes(place, rules, [read(place.path(file))]);
  expect(t1).toMatch(/^!deny rule/);
});

test('a deny rule through a link holds for files that do not exist yet', async () => {
  const place = await linkedPlace();
  const write = toolUse('Write', { file_path: place.path('real/keys/new/key'), content: 'x' }, 't1');
  const { t1 } = await outcomes(place, deny('Edit(~/keys/new/**)'), [write]);
  expect(t1).toMatch(/^!deny rule/);
});

test('an ask rule through a link is about the real path, whatever allows it', async () => {
  const place = await linkedPlace();
  const rules = [...asks('Read(~/keys/**)'), ...allow('Read')];
  const { t1 } = await outcomes(place, rules, [read(place.path('real/keys/id'))]);
  expect(t1).toBe('!asked');
});

test('searches above the real path do not show what a deny rule through a link is about', async () => {
  const place = await linkedPlace();
  const rules = [...deny('Read(~/keys/**)', 'Read(.env)'), ...allow('Grep', 'Glob')];
  const searched = await outcomes(place, rules, [
    toolUse('Grep', { pattern: 'needle', output_mode: 'content', path: place.path('') }, 'grep'),
    toolUse('Glob', { pattern: '**/*', path: place.path('') }, 'glob'),
    toolUse('Grep', { pattern: 'needle', path: place.path('real/keys') }, 'denied'),
  ]);
  expect(searched).toMatchObject({
    grep: expect.stringContaining('needle note'),
    glob: expect.stringContaining('notes/a'),
  });
  expect(`${searched.grep}${searched.glob}`).not.toMatch(/keys\/id|needle secret|config\/env/);
  expect(searched.denied).not.toContain('id');
});

test('an allow rule for the home directory holds where that is a link', async () => {
  const place = await linkedPlace();
  const { t1, t2 } = await outcomes(place, allow('Read(~/notes/**)'), [
    read('~/notes/a', 't1'),
    read(place.path('real/notes/a'), 't2'),
  ]);
  expect([t1, t2]).toEqual([expect.stringContaining('needle'), expect.stringContaining('needle')]);
});

test('a link in the workspace does not widen an allow rule', async () => {
  const place = await linkedPlace();
  const { t1, t2 } = await outcomes(place, allow('Read(./vault/**)', 'Read(./**)'), [
    read('vault/id', 't1'),
    read(place.path('real/keys/id'), 't2'),
  ]);
  expect([t1, t2]).toEqual(['!asked', '!asked']);
});

test('a deny rule through a link is about nothing else', async () => {
  const place = await linkedPlace();
  const rules = [...deny('Read(~/keys/**)', 'Read(./.env)'), ...allow('Read')];
  const { t1, t2 } = await outcomes(place, rules, [
    read(place.path('real/notes/a'), 't1'),
    read(place.path('home/notes/a'), 't2'),
  ]);
  expect([t1, t2]).toEqual([expect.stringContaining('needle'), expect.stringContaining('needle')]);
});
