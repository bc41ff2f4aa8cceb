import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, watch } from 'node:fs';
import { expect, test } from 'vitest';
import { BASH } from '../../../../src/agent/builtins/shell/bash.ts';
import { lifeline, startHost } from '../../../support/lifeline.ts';
import { call, directoryWith, done, failed, worldIn } from '../built-in-world.ts';

test.each<[string, string, string]>([
  ['what it prints', 'echo hello; echo there', 'hello\nthere'],
  [
    'both streams in their order',
    'for i in 1 2 3; do echo out $i; echo err $i >&2; done',
    [1, 2, 3].map((i) => `out ${i}\nerr ${i}`).join('\n'),
  ],
  ['nothing', 'true', '(no output)'],
  [
    'what is written to the streams by their names',
    'echo a > /dev/stdout; echo b | tee /dev/stderr',
    'a\nb\nb',
  ],
  ['bash itself', '[[ x == ? ]] && echo "$0"', 'bash'],
  ['an end of input at once', 'cat; echo over', 'over'],
  ['quotes and signs as they are', `printf '%s' "\\$1 'x' \`echo y\`"`, "$1 'x' y"],
  ['characters of several bytes', "printf 'gr\\xc3\\xbc\\xc3\\x9fe'", 'grüße'],
])('gives %s', async (_, command, expected) => {
  expect(await call(BASH, { command }, worldIn(directoryWith()))).toMatchObject(done(expected));
});

test('runs in the working directory, with the environment of the session and nothing else', async () => {
  const cwd = directoryWith();
  const world = worldIn(cwd, { env: { PATH: process.env.PATH, ONLY: 'this' } });
  expect(await call(BASH, { command: 'pwd; echo "$ONLY" "[$HOME]"' }, world)).toMatchObject(
    done(`${cwd}\nthis []`),
  );
});

test.each<[string, string, string]>([
  ['exit code', 'echo said; exit 3', 'said\nExit code 3'],
  ['a command that is not there', 'no-such-program', expect.stringMatching(/not found\nExit code 127$/)],
  ['a command that was killed', 'kill -9 $$', expect.stringMatching(/Exit code 137$/)],
  ['a command that kills all of its group', 'kill -9 0', 'Terminated by SIGKILL'],
  ['a command that asks all of its group to end', 'echo said; kill 0', 'said\nTerminated by a signal'],
  ['a command that asks itself to end', 'kill $$; echo not said', expect.stringMatching(/Exit code 143$/)],
  [
    'a command too long',
    `: ${'x'.repeat(3_000_000)}`,
    'The command is too long: write it to a file and run the file',
  ],
  ['an invalid character', 'echo \0', 'A path or command contains an invalid character'],
])('a failure is told: %s', async (_, command, expected) => {
  expect(await call(BASH, { command }, worldIn(directoryWith()))).toEqual(failed(expected));
});

test('a shell that cannot be started is told', async () => {
  const world = worldIn(`${directoryWith()}/nowhere`);
  expect(await call(BASH, { command: 'true' }, world)).toEqual(
    failed(`The shell could not be started: spawn /bin/sh ENOENT in ${world.workspace.cwd}`),
  );
});

test('long output keeps its beginning and its end', async () => {
  const command = 'head -c 20000 /dev/zero | tr "\\0" a; head -c 20001 /dev/zero | tr "\\0" b';
  const { content } = await call(BASH, { command }, worldIn(directoryWith()));
  const note = '\n\n[10001 characters omitted]\n\n';
  expect(content).toBe(`${'a'.repeat(15_000)}${note}${'b'.repeat(15_000)}`);
});

/** A process that ignores being asked to end, below a shell of its own, both in the group. */
const STUBBORN = `bash -c 'trap "" TERM; echo $BASHPID > child; while :; do sleep 0.05; done' & wait`;

test('a time-out ends the command and all it started, however stubborn', async () => {
  const cwd = directoryWith();
  const command = `echo started; ${STUBBORN}`;
  expect(await call(BASH, { command, timeout: 2000 }, worldIn(cwd))).toEqual(
    failed('started\nTimed out after 2000 ms; the command and its processes were terminated'),
  );
  expect(isRunning(pidIn(cwd))).toBe(false);
});

test('an abort ends the command and all it started, and gives what was printed', async () => {
  const cwd = directoryWith();
  const abort = new AbortController();
  const running = BASH.run({ command: `echo started; ${STUBBORN}` }, worldIn(cwd), abort.signal);
  await appeared(cwd, 'child');
  abort.abort();
  expect(await running).toEqual(
    failed('started\nInterrupted; the command and its processes were terminated'),
  );
  expect(isRunning(pidIn(cwd))).toBe(false);
});

test('a command in the background that holds the output open does not hold up the call', async () => {
  const cwd = directoryWith();
  const { content, isError } = await call(
    BASH,
    { command: 'sleep 600 & echo $! > child; echo over' },
    worldIn(cwd),
  );
  const group = /kill -- -(\d+)/.exec(String(content))?.[1];
  expect({ content, isError }).toMatchObject(
    done(
      `over\n[Processes are still running in the background; stop them with "kill -- -${group}", or they are stopped when this session ends]`,
    ),
  );
  expect(isRunning(pidIn(cwd))).toBe(true);
  process.kill(-Number(group), 'SIGKILL');
});

test('what was left running does not keep the host alive, and ends with it', async () => {
  const cwd = directoryWith();
  const tool = new URL('../../../../src/agent/builtins/shell/bash.ts', import.meta.url).href;
  const script = `
    const { BASH } = await import(${JSON.stringify(tool)});
    const { BackgroundProcesses } = await import(${JSON.stringify(new URL('background-processes.ts', tool).href)});
    const background = new BackgroundProcesses();
    const world = { workspace: { cwd: ${JSON.stringify(cwd)} }, env: process.env, background };
    await BASH.run({ command: 'sleep 600 & echo $! > child' }, world, new AbortController().signal);
  `;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 15_000 });
  expect(status).toBe(0);
  // It was sent its end by a process that did not wait for it.
  await expect.poll(() => isRunning(pidIn(cwd)), { timeout: 5000 }).toBe(false);
});

test.each([
  ['a command that runs', 'sleep 600'],
  ['what a command left running', 'sleep 600 > /dev/null 2>&1 &'],
])('%s ends with a host that is killed', async (_, command) => {
  const { hold, started, ended } = lifeline();
  const host = startHost(`
    const { BASH } = await import('#agent/builtins/shell/bash.ts');
    const { BackgroundProcesses } = await import('#agent/builtins/shell/background-processes.ts');
    const world = { workspace: { cwd: '/' }, env: process.env, background: new BackgroundProcesses() };
    const input = { command: ${JSON.stringify(hold + command)} };
    const running = BASH.run(input, world, new AbortController().signal);
    if (input.command.endsWith('&')) await running;
    console.log('ready');
    setInterval(() => {}, 1000);
  `);
  await Promise.all([started, once(host.stdout as NodeJS.ReadableStream, 'data')]);
  host.kill('SIGKILL');
  await ended;
});

test('what was left running ends with the session, and a stubborn one too', async () => {
  const world = worldIn(directoryWith());
  const [meek, stubborn] = [lifeline(), lifeline()];
  await call(BASH, { command: `${meek.hold} sleep 600 &` }, world);
  await call(
    BASH,
    { command: `${stubborn.hold} (trap "" TERM; while :; do sleep 0.05; done) > /dev/null 2>&1 &` },
    world,
  );
  await world.background[Symbol.asyncDispose]();
  await Promise.all([meek.ended, stubborn.ended]);
});

function pidIn(cwd: string): number {
  return Number(readFileSync(`${cwd}/child`, 'utf8'));
}

/** A process that has ended and was not yet collected by its parent does not run. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^Z]/.test(stdout.trim());
}

/** Resolves when the file is there and has something in it. */
async function appeared(directory: string, name: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const path = `${directory}/${name}`;
  const look = () => existsSync(path) && readFileSync(path, 'utf8') !== '' && resolve();
  const watcher = watch(directory, look);
  look();
  await promise;
  watcher.close();
}
