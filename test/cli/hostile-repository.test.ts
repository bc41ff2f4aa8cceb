import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { configPlace } from '../config/config-place.ts';
import { runCli, startCli } from './support/run-cli.ts';

/** An unapproved repository; only the deny rules of its settings are active. */
function repositoryThatDenies(deny: readonly string[]) {
  const made = configPlace();
  made.write(join(made.project, '.toolplane/settings.json'), { permissions: { deny } });
  return { ...made, place: { cwd: made.project, env: made.env } };
}

const call = (tool: string, input: object) => `call ${tool} with ${JSON.stringify(input)}`;

test('deny rules with backtracking patterns do not delay a run', async () => {
  const name = 'a'.repeat(200);
  const words = 'curl'.repeat(2500);
  const { place, project } = repositoryThatDenies([
    'Read(*a*a*a*a*a*a*a*a*a*a*b)',
    'Read(**/*a*a*a*a*a*a*a*a*a*a*/**/b)',
    'Bash(*curl*curl*curl*curl*|*sh*)',
    'mcp__*a*a*a*a*a*a*a*a*a*b',
  ]);
  writeFileSync(join(project, name), 'hello');
  const prompt = [
    call('Read', { file_path: name }),
    call('Grep', { pattern: '(h|e|l|o)+$' }),
    call('Bash', { command: `echo ${words}` }),
  ].join(' then ');
  const args = ['run', '--model', 'rehearsal', '--allowedTools', 'Bash(echo *)', prompt];
  const { code, stdout } = await runCli(args, '', place);
  expect(stdout).toContain('hello');
  expect(stdout).toContain(`said: Found 1 file\n${name}`);
  expect(stdout).toContain(words);
  expect(code).toBe(0);
});

test('reports only the active ones of very many rules', async () => {
  const { place } = repositoryThatDenies([
    'Bash(ls)',
    ...Array.from({ length: 40_000 }, (_, index) => `Read(${index})`),
  ]);
  const args = ['run', '--model', 'rehearsal', '--allowedTools', 'Bash', call('Bash', { command: 'ls' })];
  const { stdout, stderr } = await runCli(args, '', place);
  expect(stdout).toContain('deny rule "Bash(ls)"');
  expect(stderr).toMatch(/permissions\.deny\[2000\]: this rule and those after it are ignored/);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends a run while it compares many files with many rules', async (signal, code) => {
  const { place, project } = repositoryThatDenies(
    Array.from({ length: 2000 }, (_, index) => `Read(**/*a*a*a*a*a*a*a*a*a*a*b${index})`),
  );
  for (let index = 0; index < 3000; index++) writeFileSync(join(project, `${'a'.repeat(100)}${index}`), '');
  const prompt = call('Glob', { pattern: '**/*' });
  const child = startCli(['run', '--model', 'rehearsal', '--verbose', prompt], place);
  child.stdin.end();
  const ended = Promise.all([text(child.stdout), once(child, 'close')]);
  await once(child.stderr.setEncoding('utf8'), 'data');
  await computing(child);
  child.kill(signal);
  expect(await ended).toEqual(['', [code, null]]);
});

/** Waits until the process has used another second of processor time; the search takes several. */
async function computing({ pid, exitCode }: ChildProcess): Promise<void> {
  // `ps` prints [[days-]hours:]minutes:seconds.
  const seconds = () =>
    execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .split(/[-:]/)
      .reduce((total, part) => total * 60 + Number(part), 0);
  const before = seconds();
  while (exitCode === null && seconds() < before + 1) await setTimeout(50);
}
