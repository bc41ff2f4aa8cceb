import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, watch } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BASH, FOREGROUND_BASH, leadingSleep } from '../../../../src/agent/builtins/shell/bash.ts';
import { BackgroundTasks } from '../../../../src/agent/tasks/background-tasks.ts';
import { lifeline, startHost } from '../../../support/lifeline.ts';
import { call, directoryWith, done, failed, worldIn } from '../built-in-world.ts';

test.each<[string, string, string]>([
  ['what it prints', 'echo hello; echo there', 'hello\nthere'],
  [
    'both streams in their order',
    'for i in 1 2 3; do echo out $i; echo err $i >&2; done',
    [1, 2, 3].map((i) => `out ${i}\nerr ${i}`).join('\n'),
  ],
  ['nothing', 'true', '(Bash completed with no output)'],
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
  ['exit code', 'echo said; exit 3', 'Exit code 3\nsaid'],
  ['a command that is not there', 'no-such-program', expect.stringMatching(/^Exit code 127\n.*not found$/)],
  ['a command that was killed', 'kill -9 $$', expect.stringMatching(/^Exit code 137/)],
  ['a command that kills all of its group', 'kill -9 0', 'Terminated by SIGKILL'],
  ['a command that asks all of its group to end', 'echo said; kill 0', 'Terminated by a signal\nsaid'],
  ['a command that asks itself to end', 'kill $$; echo not said', expect.stringMatching(/^Exit code 143/)],
  [
    'a command too long',
    `: ${'x'.repeat(3_000_000)}`,
    'The command is too long: write it to a file and run the file',
  ],
  ['a null character', 'echo \0', 'A path or command contains a null character (U+0000); remove it'],
])('a failure is reported: %s', async (_, command, expected) => {
  expect(await call(BASH, { command }, worldIn(directoryWith()))).toEqual(failed(expected));
});

test('a shell that cannot be started is reported', async () => {
  const world = worldIn(`${directoryWith()}/nowhere`);
  expect(await call(BASH, { command: 'true' }, world)).toEqual(
    failed(`The shell could not be started: spawn /bin/sh ENOENT in ${world.workspace.cwd}`),
  );
});

test('long output is saved to a file; the model gets its beginning', async () => {
  const command = 'head -c 20000 /dev/zero | tr "\\0" a; head -c 20001 /dev/zero | tr "\\0" b';
  const { content, programResult } = await call(BASH, { command }, worldIn(directoryWith()));
  const { persistedOutputPath: path = '', stdout } = programResult as {
    persistedOutputPath?: string;
    stdout: string;
  };
  expect(content).toMatch(
    /^<persisted-output>\nThe output has 40001 characters\. .*\n\na{2000}\n…\n<\/persisted-output>$/,
  );
  expect(content).toContain(path);
  expect(readFileSync(path, 'utf8')).toBe('a'.repeat(20_000) + 'b'.repeat(20_001));
  expect(statSync(path).mode & 0o077).toBe(0);
  expect(stdout).toHaveLength(30_000);
});

test('the directory of a command is reported, so that the next one can start there', async () => {
  const cwd = directoryWith({ 'sub/file': '' });
  const moved: (string | undefined)[] = [];
  const world = worldIn(cwd, { moveShell: (it) => void moved.push(it) });
  for (const command of [
    'cd sub',
    'cd sub && exit 3',
    'exec true',
    '(cd sub); :',
    'trap "echo mine" EXIT; cd /',
  ])
    await call(BASH, { command }, world);
  expect(moved).toEqual([`${cwd}/sub`, `${cwd}/sub`, undefined, cwd, undefined]);
});

test.each([
  ['sleep 30', 30],
  ['sleep 2m; ls', 120],
  ['sleep 7 && ls', 7],
  ['sleep 0.5', 0.5],
  ['ls; sleep 30', 0],
  ['sleep 30 & ls', 0],
  ['sleeper 30', 0],
])('%j begins with a sleep of %d seconds', (command, seconds) => {
  expect(leadingSleep(command)).toBe(seconds);
});

test('a long sleep is refused in the foreground', async () => {
  expect(await call(BASH, { command: 'sleep 30; ls' }, worldIn(directoryWith()))).toEqual(
    failed(expect.stringMatching(/^<tool_use_error>Blocked: standalone sleep 30\./)),
  );
});

describe('in the background', () => {
  /** The messages about tasks, and the notices for the model. */
  function tasksIn(cwd: string) {
    const messages: Record<string, unknown>[] = [];
    const noticed = Promise.withResolvers<void>();
    const tasks = new BackgroundTasks({ emit: (it) => void messages.push(it), onNotice: noticed.resolve });
    return { messages, tasks, noticed: noticed.promise, world: worldIn(cwd, { tasks }) };
  }

  test('a command returns at once; its output is in a file, and the model is notified of its end', async () => {
    const { messages, tasks, noticed, world } = tasksIn(directoryWith());
    const input = {
      command: 'echo one; echo two >&2; exit 3',
      run_in_background: true,
      description: 'count',
    };
    const { content, programResult } = await call(BASH, input, world);
    const { backgroundTaskId: id = '' } = programResult as { backgroundTaskId?: string };
    expect(programResult).toMatchObject({ stdout: '', stderr: '', interrupted: false });
    const path = /written to: (\S+)\. You/.exec(String(content))?.[1] ?? '';
    expect(content).toMatch(new RegExp(`^Command running in background with ID: ${id}\\. Output`));
    await noticed;
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n\n[exited with code 3]\n');
    expect(messages.map(({ subtype }) => subtype)).toEqual([
      'background_tasks_changed',
      'task_started',
      'task_updated',
      'task_notification',
      'background_tasks_changed',
    ]);
    expect(messages[1]).toMatchObject({
      task_id: id,
      tool_use_id: 'toolu_1',
      task_type: 'local_bash',
      is_backgrounded: true,
      description: 'count',
    });
    expect(messages[2]).toMatchObject({ patch: { status: 'failed', end_time: expect.any(Number) } });
    expect(messages[3]).toMatchObject({
      status: 'failed',
      output_file: path,
      summary: 'Background command "count" failed with exit code 3',
    });
    const [notice] = tasks.take('idle')?.notices ?? [];
    expect(notice?.origin).toMatchObject({ kind: 'task-notification' });
    expect(notice?.text).toMatch(
      /not a message from the user[\s\S]*<task-notification>\n<task-id>b\w{8}<\/task-id>\n<tool-use-id>toolu_1<\/tool-use-id>/,
    );
  });

  test('a command that exceeds its time limit is moved to the background', async () => {
    const { messages, noticed, world } = tasksIn(directoryWith());
    const { content, programResult, isError } = await call(
      BASH,
      { command: 'echo begun; cat fifo || sleep 1; echo over', timeout: 200 },
      world,
    );
    expect(isError).toBe(false);
    expect(content).toMatch(/^begun\n.*was moved to the background \(ID: b\w{8}\)/s);
    expect(programResult).toMatchObject({ timedOutAfterMs: 200, backgroundTaskId: expect.any(String) });
    await noticed;
    expect(messages.at(-2)).toMatchObject({ status: 'completed' });
    expect(readFileSync(String(messages.at(-2)?.output_file), 'utf8')).toMatch(
      /^begun\n[\s\S]*over\n\n\[exited with code 0\]\n$/,
    );
  });

  test('a task is stopped with all processes it started; the model that stopped it is not notified', async () => {
    const cwd = directoryWith();
    const { messages, tasks, world } = tasksIn(cwd);
    await call(BASH, { command: STUBBORN, run_in_background: true }, world);
    await appeared(cwd, 'child');
    const [{ id } = { id: '' }] = tasks.running;
    expect(tasks.summaries).toEqual([
      { id, type: 'shell', status: 'running', description: STUBBORN, command: STUBBORN },
    ]);
    expect(await tasks.stop(id, 'model')).toBe(true);
    await expect
      .poll(() => messages.at(-1))
      .toMatchObject({ subtype: 'background_tasks_changed', tasks: [] });
    expect(messages.at(-2)).toMatchObject({ subtype: 'task_notification', status: 'stopped' });
    expect(isRunning(pidIn(cwd))).toBe(false);
    expect(tasks.take('idle')).toBeUndefined();
    expect(await tasks.stop(id, 'model')).toBe(false);
  });

  test('the model is notified of a task that the user stopped with the next prompt', async () => {
    const { tasks, world, messages } = tasksIn(directoryWith());
    await call(BASH, { command: 'sleep 600 # x', run_in_background: true }, world);
    await tasks.stop(tasks.running[0]?.id ?? '', 'user');
    await expect.poll(() => messages.at(-1)).toMatchObject({ tasks: [] });
    expect(tasks.take('idle')).toBeUndefined();
    expect(tasks.take('prompt')?.notices[0]?.text).toContain('stopped by the user or by the application');
  });
});

/** A process that ignores SIGTERM, started by a shell of its own; both are in the process group of the command. */
const STUBBORN = `bash -c 'trap "" TERM; echo $BASHPID > child; while :; do sleep 0.05; done' & wait`;

test('without background tasks, a time-out ends the command and all processes it started, even if they ignore SIGTERM', async () => {
  const cwd = directoryWith();
  const command = `echo started; ${STUBBORN}`;
  expect(FOREGROUND_BASH.faults({ command, run_in_background: true })).toHaveLength(1);
  expect(await call(FOREGROUND_BASH, { command, timeout: 2000 }, worldIn(cwd))).toEqual(
    failed('Timed out after 2000 ms; the command and its processes were terminated\nstarted'),
  );
  expect(isRunning(pidIn(cwd))).toBe(false);
});

test('an abort ends the command and all processes it started, and returns the output so far', async () => {
  const cwd = directoryWith();
  const abort = new AbortController();
  const running = BASH.run({ command: `echo started; ${STUBBORN}` }, worldIn(cwd), abort.signal);
  await appeared(cwd, 'child');
  abort.abort();
  expect(await running).toEqual(
    failed('Interrupted; the command and its processes were terminated\nstarted'),
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

test('processes that a command left running do not keep the host alive, and end with it', async () => {
  const cwd = directoryWith();
  const tool = new URL('../../../../src/agent/builtins/shell/bash.ts', import.meta.url).href;
  const script = `
    const { FOREGROUND_BASH } = await import(${JSON.stringify(tool)});
    const { BackgroundProcesses } = await import(${JSON.stringify(new URL('background-processes.ts', tool).href)});
    const background = new BackgroundProcesses();
    const REST = { outputFile: () => '/tmp/unused', moveShell() {}, tasks: undefined };
    const world = { workspace: { cwd: ${JSON.stringify(cwd)} }, env: process.env, background, ...REST };
    await FOREGROUND_BASH.run({ command: 'sleep 600 & echo $! > child' }, world, new AbortController().signal);
  `;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 15_000 });
  expect(status).toBe(0);
  // The host sent the signal at its exit, and did not wait until the process ended.
  await expect.poll(() => isRunning(pidIn(cwd)), { timeout: 5000 }).toBe(false);
});

test.each([
  ['a command that runs', 'sleep 600'],
  ['what a command left running', 'sleep 600 > /dev/null 2>&1 &'],
])('%s ends with a host that is killed', async (_, command) => {
  const { hold, started, ended } = lifeline();
  const host = startHost(`
    const { FOREGROUND_BASH } = await import('#agent/builtins/shell/bash.ts');
    const { BackgroundProcesses } = await import('#agent/builtins/shell/background-processes.ts');
    const REST = { outputFile: () => '/tmp/unused', moveShell() {}, tasks: undefined };
    const world = { workspace: { cwd: '/' }, env: process.env, background: new BackgroundProcesses(), ...REST };
    const input = { command: ${JSON.stringify(hold + command)} };
    const running = FOREGROUND_BASH.run(input, world, new AbortController().signal);
    if (input.command.endsWith('&')) await running;
    console.log('ready');
    setInterval(() => {}, 1000);
  `);
  await Promise.all([started, once(host.stdout as NodeJS.ReadableStream, 'data')]);
  host.kill('SIGKILL');
  await ended;
});

test('processes that a command left running end with the session, even if they ignore SIGTERM', async () => {
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

test('a job of `set -m` has left the process group: it is not reported and survives the session', async () => {
  const cwd = directoryWith();
  const world = worldIn(cwd);
  const command = 'set -m; sleep 600 > /dev/null 2>&1 & echo $! > child; echo over';
  expect(await call(BASH, { command }, world)).toMatchObject(done('over'));
  onTestFinished(() => void process.kill(pidIn(cwd), 'SIGKILL'));
  await world.background[Symbol.asyncDispose]();
  expect(isRunning(pidIn(cwd))).toBe(true);
});

function pidIn(cwd: string): number {
  return Number(readFileSync(`${cwd}/child`, 'utf8'));
}

/** A process that has ended and was not yet collected by its parent does not run. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^Z]/.test(stdout.trim());
}

/** Resolves when the file exists and is not empty. */
async function appeared(directory: string, name: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const path = `${directory}/${name}`;
  const look = () => existsSync(path) && readFileSync(path, 'utf8') !== '' && resolve();
  const watcher = watch(directory, look);
  look();
  await promise;
  watcher.close();
}
