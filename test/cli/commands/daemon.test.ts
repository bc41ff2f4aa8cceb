import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { DurableJobs, type Job } from '../../../src/agent/tasks/schedule-store.ts';
import { runCli, startCli } from '../support/run-cli.ts';

function directory(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'daemon-')));
  onTestFinished(() => rmSync(made, { recursive: true, force: true, maxRetries: 5 }));
  return made;
}

const HOUR = 60 * 60_000;

/** A job that was due at each full hour since yesterday. */
const job = (more: Partial<Job> = {}): Job => ({
  ...{ id: '00000001', cron: '0 * * * *', prompt: 'Look around.', recurring: true },
  ...{ createdAt: Date.now() - 24 * HOUR, ...more },
});

/** A home, and a model with these replies. */
function place(...replies: unknown[]) {
  const home = directory();
  const script = join(home, 'replies.json');
  writeFileSync(script, JSON.stringify(replies));
  const env = { HOME: home, TOOLPLANE_HOME: home, TOOLPLANE_MODEL: `scripted:${script}` };
  const add = (project: string, one: Job) => new DurableJobs(project, join(home, 'schedule')).add(one, {});
  return { home, env, add };
}

/** A daemon whose output lines are read one by one. */
function start(env: Readonly<Record<string, string>>, ...flags: string[]) {
  const child = startCli(['daemon', ...flags], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = async () => {
    const { value } = await lines.next();
    if (value === undefined) throw new Error('the daemon has ended');
    return value as string;
  };
  const event = async () => JSON.parse(await line()) as unknown;
  return { child, line, event };
}

async function endedBy(child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): Promise<unknown> {
  child.kill(signal);
  const [code] = await once(child, 'close');
  return code;
}

test('runs due prompts in sessions that nobody is asked in, also of jobs that are created later', async () => {
  const { home, env, add } = place({ tool: 'Bash', input: { command: 'touch made' } }, 'I looked around.');
  const [gone, project, later] = [directory(), directory(), directory()];
  add(gone, job());
  rmSync(gone, { recursive: true });
  const { child, event } = start(env, '--json');
  expect(await event()).toMatchObject({ type: 'ready', pid: child.pid, jobs: 0 });
  expect(await event()).toMatchObject({
    type: 'skipped',
    project: gone,
    reason: 'the directory does not exist',
  });
  add(project, job({ prompt: '-Look\naround.' }));
  const fields = { project, job: '00000001', at: expect.stringMatching(/^\d{4}-.*Z$/) };
  expect(await event()).toMatchObject({ type: 'missed', ...fields, count: expect.any(Number) });
  expect(await event()).toMatchObject({ type: 'started', ...fields, prompt: '-Look\naround.' });
  expect(await event()).toMatchObject({
    ...{ type: 'finished', ...fields, result: 'I looked around.', denied: ['Bash'] },
    ...{ session: expect.stringMatching(/^[0-9a-f-]{36}$/), durationMs: expect.any(Number) },
  });
  expect(existsSync(join(project, 'made'))).toBe(false);
  add(later, job({ recurring: false }));
  expect(await event()).toMatchObject({ type: 'missed', project: later, count: 1 });
  expect(await event()).toMatchObject({ type: 'started', project: later });
  expect(await event()).toMatchObject({ type: 'finished', project: later });
  expect(await endedBy(child, 'SIGTERM')).toBe(0);
  expect(existsSync(join(home, 'schedule/daemon.lock'))).toBe(false);
  expect(existsSync(join(project, '.claude/scheduled_tasks.lock'))).toBe(false);
});

test('a signal ends the running sessions, and their runs are not repeated', async () => {
  const { home, env, add } = place();
  const silent = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close().closeAllConnections());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const project = directory();
  add(project, job({ recurring: false }));
  const model = {
    TOOLPLANE_MODEL: 'openai:slow',
    OPENAI_API_KEY: 'k',
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
  };
  const { child, line } = start({ ...env, ...model });
  expect(await line()).toMatch(/ ready: 1 scheduled prompt; Ctrl\+C ends the daemon$/);
  expect(await line()).toMatch(/ missed 00000001 in \S+: the prompt was due since \S+ and runs once now$/);
  expect(await line()).toMatch(/ started 00000001 in \S+: Every hour: Look around\.$/);
  const [request] = await once(silent, 'request');
  const gone = once(request.socket, 'close');
  const ended = endedBy(child, 'SIGINT');
  expect(await line()).toMatch(/ failed 00000001 in \S+: the daemon was ended$/);
  await gone;
  expect(await ended).toBe(0);
  expect(new DurableJobs(project, join(home, 'schedule')).list()).toEqual([]);
});

test('a session that fails is reported with its reason', async () => {
  const { env, add } = place();
  const project = directory();
  add(project, job({ recurring: false }));
  const { child, event } = start({ ...env, TOOLPLANE_MODEL: '' }, '--json');
  const events = [await event(), await event(), await event(), await event()];
  expect(events.at(-1)).toMatchObject({
    type: 'failed',
    project,
    error: expect.stringMatching(/^No model is available: /),
  });
  expect(await endedBy(child, 'SIGHUP')).toBe(0);
});

test('one daemon runs at a time, and none if scheduled prompts are turned off', async () => {
  const { env } = place();
  const { child, line } = start(env);
  await line();
  const second = await runCli(['daemon', '--json'], '', { env });
  expect(second).toMatchObject({ code: 1 });
  expect(second.stderr).toBe(
    `toolplane: a daemon of this user is already running (process ${child.pid}); end it first\n`,
  );
  expect(JSON.parse(second.stdout)).toMatchObject({ error: { message: expect.any(String) } });
  const disabled = await runCli(['daemon'], '', { env: { ...env, CLAUDE_CODE_DISABLE_CRON: '1' } });
  expect(disabled).toMatchObject({ code: 1, stderr: expect.stringContaining('CLAUDE_CODE_DISABLE_CRON') });
  // A daemon that was killed does not prevent the next one.
  expect(await endedBy(child, 'SIGKILL')).toBeNull();
  const next = start(env);
  expect(await next.line()).toContain(' ready: 0 scheduled prompts');
  expect(await endedBy(next.child, 'SIGTERM')).toBe(0);
});
