import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeServer } from '../../src/host/config/write/write-servers.ts';
import { addToList } from '../../src/host/config/write/write-settings.ts';
import { type ConfigPlace, configPlace } from '../host/config/config-place.ts';
import { runCli } from './run-cli.ts';
import { hasScript, TerminalProcess } from './terminal-process.ts';

const run = (place: ConfigPlace, ...args: string[]) =>
  runCli(['uninstall', ...args], '', { cwd: place.project, env: place.env });

/** A home with something of every kind, and a project with a file of ours and one of the team's. */
function used(): ConfigPlace & { readonly team: string; readonly local: string } {
  const place = configPlace();
  const { home, project, world, write } = place;
  const team = write(
    join(project, '.mcp.json'),
    '{\n  // ours\n  "mcpServers": {\n    "theirs": { "command": "t" }\n  }\n}\n',
  );
  writeServer(world(), 'user', 'u', { command: 'u' });
  writeServer(world(), 'project', 'kept', { command: 'k' });
  writeServer(world(), 'project', 'changed', { command: 'c' });
  write(team, readFileSync(team, 'utf8').replace('"c"', '"d"'));
  const { path: local } = writeServer(world(), 'local', 'l', { command: 'l' });
  addToList(world(), local, ['permissions', 'allow'], ['Read']);
  write(join(home, 'secrets.json'), { version: 1, secrets: { a: 'sk-hidden' } });
  write(join(home, 'projects', 'p-0123456789ab', 's.jsonl'), '{}\n');
  write(join(home, 'pins', `${'0a'.repeat(16)}.json`), {});
  write(join(home, 'cache', 'eras.json'), {});
  write(join(home, 'settings.json.lock'), '');
  return { ...place, team, local };
}

const AFTER =
  '{\n  // ours\n  "mcpServers": {\n    "theirs": { "command": "t" },\n    "changed": {\n      "command": "d"\n    }\n  }\n}\n';

test('where nothing was ever written there is nothing to remove', async () => {
  const place = configPlace();
  expect(await run(place)).toEqual({
    code: 0,
    stdout: `there is nothing to remove: Toolplane has left nothing of that kind in projects or in ${place.home}\n`,
    stderr: '',
  });
});

test('without a terminal it lists everything by kind, removes nothing, and says what to do', async () => {
  const place = used();
  const { home, team, project } = place;
  const { code, stdout, stderr } = await run(place);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'toolplane: nothing was removed; run "toolplane uninstall --yes" to remove all this\n',
  });
  expect(stdout.replaceAll(/ +\d+ files?, .*/g, '')).toBe(
    [
      `${home}:`,
      '  settings',
      '  secrets',
      '  choices',
      '  conversations',
      '  pins',
      '  cache',
      '  inventory',
      'in projects:',
      `  ${team}: the server "kept"`,
      `  ${join(project, '.toolplane', '.gitignore')}`,
      `  ${place.local}`,
      'stays:',
      `  ${team}: the server "changed" (it was changed since)`,
      '',
    ].join('\n'),
  );
  expect(stdout).not.toContain('sk-hidden');
  expect(existsSync(join(home, 'secrets.json'))).toBe(true);
  expect(existsSync(place.local)).toBe(true);
});

test('--yes removes all that is ours, and nothing else', async () => {
  const place = used();
  expect(await run(place, '--yes')).toMatchObject({
    code: 0,
    stderr: 'toolplane: removed; the program itself goes with "npm uninstall -g toolplane"\n',
  });
  expect(readFileSync(place.team, 'utf8')).toBe(AFTER);
  expect(readdirSync(place.project).sort()).toEqual(['.git', '.mcp.json']);
  expect(readdirSync(place.userHome)).toEqual([]);
  expect(await run(place, '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('nothing to remove'),
  });
});

test('what is not ours in the home stays, and so does the home', async () => {
  const place = used();
  const other = place.write(join(place.home, 'notes.txt'), 'mine');
  const work = place.write(join(place.home, 'projects', 'work', 'thesis.tex'), 'mine');
  const elsewhere = join(place.userHome, 'elsewhere');
  place.write(join(elsewhere, 'x'), 'mine');
  symlinkSync(elsewhere, join(place.home, 'projects', 'p-0123456789ab', 'link'));
  const { code, stdout } = await run(place, '--yes');
  expect(code).toBe(0);
  expect(stdout).toContain(`  ${other} (it is none of ours)\n`);
  expect(stdout).toContain(`  ${join(place.home, 'projects', 'work')} (it is none of ours)\n`);
  expect(readdirSync(place.home)).toEqual(['notes.txt', 'projects']);
  expect(readFileSync(work, 'utf8')).toBe('mine');
  expect(readdirSync(elsewhere)).toEqual(['x']);
});

test('--keep-settings removes what was collected, and keeps what was configured', async () => {
  const place = used();
  expect(await run(place, '--yes', '--keep-settings')).toMatchObject({ code: 0 });
  expect(readdirSync(place.home).sort()).toEqual([
    'choices.json',
    'secrets.json',
    'settings.json',
    'settings.json.lock',
    'written.json',
  ]);
  expect(readFileSync(place.team, 'utf8')).toContain('"kept"');
  expect(existsSync(place.local)).toBe(true);
});

test('--dry-run and --json are for programs: one document, nothing asked or removed', async () => {
  const place = used();
  const { code, stdout, stderr } = await run(place, '--dry-run', '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const document = JSON.parse(stdout) as { home: { parts: { kind: string; paths: string[] }[] } };
  expect(document).toMatchObject({
    removed: false,
    home: { path: place.home, others: [] },
    files: [
      { path: place.team, action: 'edit', servers: ['kept'], left: [{ what: 'the server "changed"' }] },
      { path: join(place.project, '.toolplane', '.gitignore'), action: 'remove' },
      { path: place.local, action: 'remove', servers: ['l'], rules: ['permissions.allow: Read'] },
    ],
    faults: [],
  });
  expect(document.home.parts.map(({ kind }) => kind)).toEqual([
    'settings',
    'secrets',
    'choices',
    'conversations',
    'pins',
    'cache',
    'inventory',
  ]);
  expect(existsSync(place.local)).toBe(true);
  const removed = await run(place, '--yes', '--json');
  expect(removed.code).toBe(0);
  expect(JSON.parse(removed.stdout)).toMatchObject({ removed: true });
  expect(existsSync(place.home)).toBe(false);
});

test('an inventory that cannot be read is told, and kept', async () => {
  const place = used();
  place.write(join(place.home, 'written.json'), '{"version": 9}');
  const { code, stderr } = await run(place, '--yes');
  expect(code).toBe(1);
  expect(stderr).toContain('what was written into projects is not known');
  expect(readdirSync(place.home)).toEqual(['written.json']);
});

test('what contradicts itself is not understood', async () => {
  expect(await run(configPlace(), '--yes', '--dry-run')).toMatchObject({ code: 2, stdout: '' });
});

describe.runIf(hasScript)('in a terminal', () => {
  const QUESTION = 'Remove all this? The secrets and conversations go too, and cannot be had back. [y/N] ';

  test('a person is asked, and yes removes it', async () => {
    const place = used();
    const terminal = new TerminalProcess(['uninstall'], place.env);
    await terminal.until(QUESTION);
    terminal.type('y\n');
    await terminal.until('removed; the program itself');
    expect(await terminal.closed).toEqual([0, null]);
    expect(readFileSync(place.team, 'utf8')).toBe(AFTER);
    expect(existsSync(place.home)).toBe(false);
  });

  test.each([
    ['no', 'n\n'],
    ['Enter alone', '\n'],
    ['the end of the input', '\u0004'],
  ])('%s leaves everything', async (_, keys) => {
    const place = used();
    const terminal = new TerminalProcess(['uninstall'], place.env);
    await terminal.until(QUESTION);
    terminal.type(keys);
    await terminal.until('nothing was removed');
    expect(await terminal.closed).toEqual([1, null]);
    expect(existsSync(place.local)).toBe(true);
    expect(existsSync(join(place.home, 'secrets.json'))).toBe(true);
  });

  test('Ctrl-C leaves everything', async () => {
    const place = used();
    const terminal = new TerminalProcess(['uninstall'], place.env);
    await terminal.until(QUESTION);
    terminal.type('\u0003');
    expect(await terminal.closed).toEqual([130, null]);
    expect(existsSync(join(place.home, 'secrets.json'))).toBe(true);
  });
});
