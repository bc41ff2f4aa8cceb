import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { gitState } from '../../../src/agent/turn/git-state.ts';

function repository() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'git-state-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [home, project] = [join(root, 'home'), join(root, 'project')];
  for (const directory of [home, project]) mkdirSync(directory);
  const env = { PATH: process.env.PATH, HOME: home };
  const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
  const git = (...args: string[]) =>
    execFileSync('git', [...identity, ...args], { cwd: project, env, stdio: 'ignore' });
  git('init', '--initial-branch=main');
  const write = (name: string, text: string) => writeFileSync(join(project, name), text);
  const commit = (name: string, subject: string) => {
    write(name, subject);
    git('add', name);
    git('commit', '-m', subject);
  };
  const state = (more: Record<string, string> = {}) =>
    gitState(project, project, { ...env, ...more }, new AbortController().signal);
  return { project, git, write, commit, state, proof: join(root, 'proof') };
}

test('branch, main branch, changes and the last commits', async () => {
  const { git, write, commit, state } = repository();
  for (const subject of ['one', 'two', 'three', 'four', 'five', 'six']) commit('file', subject);
  git('checkout', '-b', 'feature');
  write('new', 'x');
  const text = (await state()) ?? '';
  expect(text).toContain(
    'Current branch: feature\n\nMain branch: main\n\nStatus:\n?? new\n\nRecent commits:\n',
  );
  expect([...text.matchAll(/^[0-9a-f]{7,} (.*)$/gm)].map(([, subject]) => subject)).toEqual([
    'six',
    'five',
    'four',
    'three',
    'two',
  ]);
});

test('a repository without commits, and a detached HEAD', async () => {
  const { git, commit, state } = repository();
  expect(await state()).toContain('Status:\n(clean)\n\nRecent commits:\n(none)');
  commit('file', 'one');
  git('checkout', '--detach');
  expect(await state()).toContain('Current branch: (none: HEAD is detached)');
});

test('the text is bounded, and shows invisible characters of names and subjects', async () => {
  const { write, commit, state } = repository();
  commit('file', 'subject\u{202E}reversed');
  for (let at = 0; at < 200; at++) write(`${at}-${'x'.repeat(100)}`, '');
  const text = (await state()) ?? '';
  expect(text.length).toBeLessThan(5_000);
  expect(text).toContain('… [cut]');
  expect(text).not.toContain('\u{202E}');
});

test('a directory that is no repository has no state', async () => {
  const { project, state } = repository();
  rmSync(join(project, '.git'), { recursive: true });
  expect(await state()).toBeUndefined();
});

test.each<[what: string, configure: (place: ReturnType<typeof repository>) => void, readsStatus: boolean]>([
  ['monitor', ({ git, proof }) => git('config', 'core.fsmonitor', `touch '${proof}'; false`), true],
  [
    'filter',
    ({ git, proof, write }) => {
      git('config', 'filter.evil.clean', `touch '${proof}'; cat`);
      write('.gitattributes', '* filter=evil');
    },
    false,
  ],
  [
    'filter of an included file',
    ({ git, proof, write, project }) => {
      write('included', `[filter "evil"]\n\tclean = touch '${proof}'; cat\n`);
      git('config', 'include.path', join(project, 'included'));
      write('.gitattributes', '* filter=evil');
    },
    false,
  ],
  [
    'hook',
    ({ git, project, proof }) => {
      const hooks = join(project, 'hooks');
      mkdirSync(hooks);
      for (const name of ['post-index-change', 'reference-transaction'])
        writeFileSync(join(hooks, name), `#!/bin/sh\ntouch '${proof}'\n`, { mode: 0o755 });
      git('config', 'core.hooksPath', hooks);
    },
    true,
  ],
  [
    'program for signatures',
    ({ git, project, proof }) => {
      const program = join(project, 'gpg');
      writeFileSync(program, `#!/bin/sh\ntouch '${proof}'\n`, { mode: 0o755 });
      git('config', 'log.showSignature', 'true');
      git('config', 'gpg.program', program);
    },
    true,
  ],
])('a %s that the repository configures is not run', async (_, configure, readsStatus) => {
  const place = repository();
  place.commit('file', 'one');
  configure(place);
  rmSync(place.proof, { force: true });
  // The same size: git has to compare the content.
  place.write('file', 'two');
  const text = await place.state();
  expect(existsSync(place.proof)).toBe(false);
  expect(text?.includes(' M file')).toBe(readsStatus);
  expect(text?.includes('not read: the configuration')).toBe(!readsStatus);
});

test('git gets no secrets, and none of the variables that change where it looks', async () => {
  const { project, state, proof, git, commit } = repository();
  commit('file', 'one');
  const bin = join(project, '..', 'bin');
  mkdirSync(bin);
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  writeFileSync(join(bin, 'git'), `#!/bin/sh\nenv > '${proof}'\nexec '${real}' "$@"\n`, { mode: 0o755 });
  git('status');
  const variables = { PATH: `${bin}:${process.env.PATH}`, ANTHROPIC_API_KEY: 'key', GIT_DIR: '/elsewhere' };
  expect(await state(variables)).toContain('Current branch: main');
  expect(readFileSync(proof, 'utf8')).not.toMatch(/ANTHROPIC_API_KEY|GIT_DIR/);
});
