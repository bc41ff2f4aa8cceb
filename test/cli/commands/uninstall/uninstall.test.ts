import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ownerText, ProcessLock } from '../../../../src/agent/tasks/process-owner.ts';
import { projectFolder } from '../../../../src/agent/transcript/session-files.ts';
import { Inbox } from '../../../../src/channels/inbox.ts';
import { trustDirectory } from '../../../../src/config/approval/approval-store.ts';
import { fileRuleStore } from '../../../../src/config/settings/file-rule-store.ts';
import { writeServer } from '../../../../src/config/write/write-servers.ts';
import { EMPTY_RULES } from '../../../../src/permissions/rule-store.ts';
import { type ConfigPlace, configPlace } from '../../../config/config-place.ts';
import { runCli } from '../../support/run-cli.ts';
import { hasScript, TerminalProcess } from '../../support/terminal-process.ts';
import { openFullSession } from './full-session.ts';
import { keepAll } from './keep-all.ts';

const run = (place: ConfigPlace, ...args: string[]) =>
  runCli(['uninstall', ...args], '', { cwd: place.project, env: place.env });

/** A home with every kind of file, and a project with a file of Toolplane and one of the team. */
async function used(): Promise<ConfigPlace & { readonly team: string; readonly local: string }> {
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
  await fileRuleStore({ context: world(), initial: EMPTY_RULES }).apply([
    { type: 'addRules', destination: 'localSettings', behavior: 'allow', rules: [{ toolName: 'Read' }] },
  ]);
  await keepAll(home);
  write(join(home, 'settings.json.lock'), '');
  return { ...place, team, local };
}

const AFTER =
  '{\n  // ours\n  "mcpServers": {\n    "theirs": { "command": "t" },\n    "changed": {\n      "command": "d"\n    }\n  }\n}\n';

test('reports that there is nothing to remove', async () => {
  const place = configPlace();
  expect(await run(place)).toEqual({
    code: 0,
    stdout: `nothing to remove in projects or in ${place.home}\n`,
    stderr: '',
  });
});

test('without a terminal lists everything by kind, removes nothing, and names --yes', async () => {
  const place = await used();
  const { home, team, project } = place;
  const { code, stdout, stderr } = await run(place);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'toolplane: nothing was removed; run "toolplane uninstall --yes" to remove everything listed\n',
  });
  expect(stdout.replaceAll(/ bytes| k?B$/gm, '').replaceAll(/ +(\d+ files?), .*/g, ' $1')).toBe(
    [
      `${home}:`,
      '  settings       settings.json, settings.json.lock 2 files',
      '  secrets        secrets.enc, secrets.key 2 files',
      '  choices        choices.json 1 file',
      '  conversations  projects/ 2 files',
      '  pins           pins/ 1 file',
      '  cache          cache/ 3 files',
      '  locks          locks/                             empty',
      '  inventory      written.json 1 file',
      'in projects:',
      `  ${team}: the server "kept"`,
      `  ${join(project, '.toolplane', '.gitignore')}`,
      `  ${place.local}`,
      'kept:',
      `  ${team}: the server "changed" (changed since Toolplane wrote it)`,
      '',
    ].join('\n'),
  );
  expect(stdout).not.toContain('sk-hidden');
  expect(existsSync(join(home, 'secrets.enc'))).toBe(true);
  expect(existsSync(place.local)).toBe(true);
});

test('--yes removes only what Toolplane wrote', async () => {
  const place = await used();
  expect(await run(place, '--yes')).toMatchObject({
    code: 0,
    stderr: 'toolplane: removed; to remove the program itself, run "npm uninstall -g toolplane"\n',
  });
  expect(readFileSync(place.team, 'utf8')).toBe(AFTER);
  expect(readdirSync(place.project).sort()).toEqual(['.git', '.mcp.json']);
  expect(readdirSync(place.userHome)).toEqual([]);
  expect(await run(place, '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('nothing to remove'),
  });
});

test('keeps other files in the home directory, and the directory itself', async () => {
  const place = await used();
  const other = place.write(join(place.home, 'notes.txt'), 'mine');
  const work = place.write(join(place.home, 'projects', 'work', 'thesis.tex'), 'mine');
  const site = place.write(join(place.home, 'projects', 'site-202401011230', 'index.html'), 'mine');
  const books = place.write(join(place.home, 'cache', 'catalogue', 'books.csv'), 'mine');
  const elsewhere = join(place.userHome, 'elsewhere');
  place.write(join(elsewhere, 'x'), 'mine');
  symlinkSync(elsewhere, join(place.home, 'projects', 'link'));
  const { code, stdout } = await run(place, '--yes');
  expect(code).toBe(0);
  expect(stdout).toContain(`  ${other} (not recognized; remove it yourself if you do not need it)\n`);
  expect(stdout).toContain(
    `  ${join(place.home, 'projects', 'work')} (not recognized; remove it yourself if you do not need it)\n`,
  );
  expect(stdout).toContain(`  ${books} (not recognized; remove it yourself if you do not need it)\n`);
  expect(readdirSync(place.home)).toEqual(['cache', 'notes.txt', 'projects']);
  expect(readdirSync(join(place.home, 'projects')).sort()).toEqual(['link', 'site-202401011230', 'work']);
  expect([work, site, books].map((it) => readFileSync(it, 'utf8'))).toEqual(['mine', 'mine', 'mine']);
  expect(readdirSync(elsewhere)).toEqual(['x']);
});

test('keeps files of other programs if TOOLPLANE_HOME is a shared directory', async () => {
  const place = configPlace();
  const { userHome, write } = place;
  const theirs = write(join(userHome, 'settings.json'), { 'editor.fontSize': 12 });
  const env = { ...place.env, TOOLPLANE_HOME: userHome };
  const { code, stdout } = await runCli(['uninstall', '--yes'], '', { cwd: place.project, env });
  expect(code).toBe(0);
  expect(stdout).toContain(`  ${theirs} (not recognized; remove it yourself if you do not need it)\n`);
  expect(existsSync(theirs)).toBe(true);
});

test('removes empty directories of servers, and lists and keeps files that a server wrote', async () => {
  const place = configPlace();
  const kept = place.write(join(place.home, 'servers/chatty/data.db'), 'x');
  mkdirSync(join(place.home, 'servers/quiet'), { recursive: true });
  mkdirSync(join(place.home, 'servers/my-docs-0123456789ab'));
  const { code, stdout } = await run(place, '--yes');
  expect(code).toBe(0);
  expect(stdout).toContain('  servers  servers/  empty\n');
  expect(stdout).toContain(
    `  ${join(place.home, 'servers/chatty')} (not recognized; remove it yourself if you do not need it)\n`,
  );
  expect(readdirSync(join(place.home, 'servers'))).toEqual(['chatty']);
  expect(existsSync(kept)).toBe(true);
});

test('removes modes and directories that were added to permissions', async () => {
  const place = configPlace();
  const { project, home, world, write } = place;
  const team = write(join(project, '.toolplane', 'settings.json'), { permissions: { defaultMode: 'plan' } });
  trustDirectory(home, project);
  const store = fileRuleStore({ context: world(), initial: EMPTY_RULES });
  for (const destination of ['localSettings', 'projectSettings'] as const)
    await store.apply([
      { type: 'setMode', mode: 'acceptEdits', destination },
      { type: 'addDirectories', directories: ['/x'], destination },
    ]);
  const { code, stdout } = await run(place, '--yes');
  expect(code).toBe(0);
  expect(stdout).toContain(`  ${team}: permissions.defaultMode: acceptEdits (reset to plan)\n`);
  expect(stdout).toContain(`  ${team}: permissions.additionalDirectories: /x\n`);
  expect(JSON.parse(readFileSync(team, 'utf8'))).toMatchObject({ permissions: { defaultMode: 'plan' } });
  expect(readFileSync(team, 'utf8')).not.toContain('/x');
  expect(readdirSync(join(project, '.toolplane'))).toEqual(['settings.json']);
  expect(stdout).toContain(`  ${join(project, '.git/toolplane-trust')}\n`);
  expect(readdirSync(join(project, '.git'))).toEqual([]);
});

test('leaves a file that was replaced by a symbolic link', async () => {
  const place = await used();
  const { team, userHome, write } = place;
  const elsewhere = write(join(userHome, 'elsewhere.json'), readFileSync(team, 'utf8'));
  rmSync(team);
  symlinkSync(elsewhere, team);
  const before = readFileSync(elsewhere, 'utf8');
  const { stdout } = await run(place, '--yes');
  expect(stdout).toContain(`  ${team}: the file (replaced by a symbolic link`);
  expect([readFileSync(elsewhere, 'utf8'), existsSync(team)]).toEqual([before, true]);
});

test('--keep-settings keeps configured files and removes collected ones', async () => {
  const place = await used();
  expect(await run(place, '--yes', '--keep-settings')).toMatchObject({ code: 0 });
  expect(readdirSync(place.home).sort()).toEqual([
    'choices.json',
    'secrets.enc',
    'secrets.key',
    'settings.json',
    'settings.json.lock',
    'written.json',
  ]);
  expect(readFileSync(place.team, 'utf8')).toContain('"kept"');
  expect(existsSync(place.local)).toBe(true);
});

test('--keep-settings keeps auto memory, plans and scheduled prompts; later they can be removed too', async () => {
  const place = configPlace();
  const { home, project } = place;
  const session = await openFullSession(place);
  await session.close();
  const listed = await run(place, '--dry-run');
  expect(listed.stdout.replaceAll(/ {2,}\S+ files?, .*/g, '')).toBe(
    [
      `${home}:`,
      '  schedule       schedule/',
      '  memory         projects/*/memory/',
      '  plans          plans/',
      '  conversations  projects/',
      '  tasks          tasks/',
      '  teams          teams/',
      '  inbox          channels/',
      '',
    ].join('\n'),
  );
  expect(await run(place, '--yes', '--keep-settings')).toMatchObject({ code: 0 });
  expect(readdirSync(home)).toEqual(['plans', 'projects', 'schedule']);
  expect(readdirSync(projectFolder(home, project))).toEqual(['memory']);
  expect(await run(place, '--yes', '--keep-settings')).toMatchObject({
    code: 0,
    stdout: `nothing to remove in projects or in ${home}\n`,
  });
  expect(await run(place, '--yes')).toMatchObject({ code: 0 });
  expect(existsSync(home)).toBe(false);
  expect(existsSync(join(project, '.claude', 'scheduled_tasks.json'))).toBe(true);
});

test('keeps and reports what a running process uses', async () => {
  const place = await used();
  const { home } = place;
  const inbox = await Inbox.open(join(home, 'channels'));
  const daemon = new ProcessLock(join(home, 'schedule', 'daemon.lock'));
  daemon.take();
  const member = place.write(join(home, 'teams', 'list', 'members', 'ada'), ownerText());
  const { code, stderr } = await run(place, '--yes');
  const END = 'end the processes of Toolplane and run the command again';
  expect(code).toBe(1);
  expect(stderr.split('\n').slice(0, 3).sort()).toEqual([
    `toolplane: ${join(home, 'channels', 'inbox.db')} is in use; ${END}`,
    `toolplane: ${join(home, 'schedule', 'daemon.lock')} is in use by process ${process.pid}; ${END}`,
    `toolplane: ${member} is in use by process ${process.pid}; ${END}`,
  ]);
  expect(readdirSync(home)).toEqual(['channels', 'schedule', 'teams']);
  expect(() => inbox.enter({ project: '/p', conversation: 'c' })).not.toThrow();
  expect(daemon.holder).toBe(process.pid);
  inbox[Symbol.dispose]();
  daemon.release();
  // The process of the teammate has crashed.
  place.write(member, '(pid 999999999 start 1)');
  expect(await run(place, '--yes')).toMatchObject({ code: 0 });
  expect(existsSync(home)).toBe(false);
});

test('a damaged inbox is removed', async () => {
  const place = configPlace();
  const path = join(place.home, 'channels', 'inbox.db');
  place.write(path, 'CREATE TRIGGER message_added AFTER INSERT ON message');
  expect(await run(place, '--yes')).toMatchObject({ code: 0 });
  expect(existsSync(path)).toBe(false);
});

test('--json prints one document, and --dry-run removes nothing', async () => {
  const place = await used();
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
    'locks',
    'inventory',
  ]);
  expect(existsSync(place.local)).toBe(true);
  const removed = await run(place, '--yes', '--json');
  expect(removed.code).toBe(0);
  expect(JSON.parse(removed.stdout)).toMatchObject({ removed: true });
  expect(existsSync(place.home)).toBe(false);
});

test('reports and keeps an inventory that cannot be read', async () => {
  const place = await used();
  place.write(join(place.home, 'written.json'), '{"version": 9}');
  const { code, stderr } = await run(place, '--yes');
  expect(code).toBe(1);
  expect(stderr).toContain('cannot determine what Toolplane wrote to projects');
  expect(readdirSync(place.home)).toEqual(['written.json']);
});

test('refuses --yes with --dry-run', async () => {
  expect(await run(configPlace(), '--yes', '--dry-run')).toMatchObject({ code: 2, stdout: '' });
});

describe.runIf(hasScript)('in a terminal', () => {
  const QUESTION =
    'Remove everything listed? Removed secrets, conversations, auto memory and plans cannot be restored. [y/N] ';

  test('asks, and removes after yes', async () => {
    const place = await used();
    const terminal = new TerminalProcess(['uninstall'], place.env);
    await terminal.until(QUESTION);
    terminal.type('y\n');
    await terminal.until('removed; to remove the program');
    expect(await terminal.closed).toEqual([0, null]);
    expect(readFileSync(place.team, 'utf8')).toBe(AFTER);
    expect(existsSync(place.home)).toBe(false);
  });

  test.each([
    ['no', 'n\n'],
    ['Enter alone', '\n'],
    ['the end of the input', '\u0004'],
  ])('%s removes nothing', async (_, keys) => {
    const place = await used();
    const terminal = new TerminalProcess(['uninstall'], place.env);
    await terminal.until(QUESTION);
    terminal.type(keys);
    await terminal.until('nothing was removed');
    expect(await terminal.closed).toEqual([1, null]);
    expect(existsSync(place.local)).toBe(true);
    expect(existsSync(join(place.home, 'secrets.enc'))).toBe(true);
  });

  test('Ctrl-C removes nothing', async () => {
    const place = await used();
    const terminal = new TerminalProcess(['uninstall'], place.env);
    await terminal.until(QUESTION);
    terminal.type('\u0003');
    expect(await terminal.closed).toEqual([130, null]);
    expect(existsSync(join(place.home, 'secrets.enc'))).toBe(true);
  });
});
