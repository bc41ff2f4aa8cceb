import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { armKillOnDeath, killOnDeath, killOnExit } from '../../../src/base/process/kill-on-death.ts';
import { lifeline, startHost } from '../../support/lifeline.ts';

describe('kill on death', () => {
  const DEATHS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const;

  /** A host with a child that leads a group; `then` is the code that runs with `child` and `killOnDeath`. */
  function hostOf(command: string, then: string) {
    return startHost(`
    const { spawn } = await import('node:child_process');
    const { killOnDeath } = await import('#base/process/kill-on-death.ts');
    const child = spawn('sh', ['-c', ${JSON.stringify(command)}], { detached: true, stdio: 'ignore' });
    ${then}
    console.log(child.pid);
    setInterval(() => {}, 1000);
  `);
  }

  test.each(DEATHS)('a host killed by %s ends the group', async (signal) => {
    const { hold, started, ended } = lifeline();
    const host = hostOf(`${hold} sleep 600 & wait`, 'killOnDeath(-child.pid);');
    await Promise.all([started, once(host.stdout as NodeJS.ReadableStream, 'data')]);
    host.kill(signal);
    expect(await once(host, 'exit')).toEqual([null, signal]);
    await ended;
  });

  test('a gently held group gets SIGTERM before SIGKILL', async () => {
    const [first, asked] = [lifeline(), lifeline()];
    const onAsked = `trap '${asked.hold} exec 9>&-' TERM; ${first.hold}`;
    const host = hostOf(`${onAsked} while :; do sleep 0.05; done`, "killOnDeath(-child.pid, 'gently');");
    await Promise.all([first.started, once(host.stdout as NodeJS.ReadableStream, 'data')]);
    host.kill('SIGKILL');
    await asked.started;
    await first.ended;
  });

  test('a process that ignores the end of its input and SIGTERM is killed', async () => {
    const { hold, started, ended } = lifeline();
    const host = hostOf(`trap "" TERM; ${hold} while :; do sleep 0.05; done`, 'killOnDeath(child.pid);');
    await Promise.all([started, once(host.stdout as NodeJS.ReadableStream, 'data')]);
    host.kill('SIGKILL');
    await ended;
  });

  test('a released process is not killed', async () => {
    const [kept, other] = [lifeline(), lifeline()];
    const host = hostOf(
      `${kept.hold} sleep 600`,
      `const other = spawn('sh', ['-c', ${JSON.stringify(`${other.hold} sleep 600`)}], { detached: true });
     const release = killOnDeath(-child.pid);
     killOnDeath(-other.pid);
     release();`,
    );
    const [[pid]] = await Promise.all([
      once(host.stdout as NodeJS.ReadableStream, 'data'),
      kept.started,
      other.started,
    ]);
    onTestFinished(() => void process.kill(-Number(pid), 'SIGKILL'));
    host.kill('SIGKILL');
    await other.ended;
    expect(process.kill(-Number(pid), 0)).toBe(true);
  });

  test('one watchdog serves all, adds no signal listeners and ends when nothing is registered', async () => {
    const listeners = () => DEATHS.slice(0, 3).map((signal) => process.listenerCount(signal));
    const before = listeners();
    const missingPid = 2 ** 22 + 1;
    const releases = [missingPid, missingPid + 1, missingPid + 2].map((id) => killOnDeath(id));
    expect(watchers()).toBe(1);
    expect(listeners()).toEqual(before);
    for (const release of releases) release();
    await expect.poll(watchers).toBe(0);
  });

  test('the watchdog can be started before a process', async () => {
    const disarm = armKillOnDeath();
    expect(watchers()).toBe(1);
    const release = killOnDeath(2 ** 22 + 1, 'gently');
    disarm();
    expect(watchers()).toBe(1);
    release();
    await expect.poll(watchers).toBe(0);
  });

  test('a killed watchdog is restarted with all registrations', async () => {
    const { hold, started, ended } = lifeline();
    const host = hostOf(`${hold} sleep 600 & wait`, 'killOnDeath(-child.pid);');
    await Promise.all([started, once(host.stdout as NodeJS.ReadableStream, 'data')]);
    const watchersOfHost = () => watchersOf(host.pid as number);
    await expect.poll(watchersOfHost, { timeout: 5000 }).toHaveLength(1);
    const [first] = watchersOfHost();
    process.kill(first as number, 'SIGKILL');
    const others = () => watchersOfHost().filter((pid) => pid !== first);
    await expect.poll(others, { timeout: 5000 }).toHaveLength(1);
    host.kill('SIGKILL');
    await ended;
  });

  function watchers(): number {
    return watchersOf(process.pid).length;
  }

  /** The watchdogs that still run: a process that has ended has no command line. */
  function watchersOf(pid: number): number[] {
    const { stdout } = spawnSync('ps', ['-A', '-o', 'ppid=,pid=,args='], { encoding: 'utf8' });
    const lines = stdout
      .split('\n')
      .filter((line) => Number.parseInt(line, 10) === pid && /held=/.test(line));
    return lines.map((line) => Number(line.trim().split(/\s+/)[1]));
  }
});

describe('kill on exit', () => {
  test('kills running processes at exit', () => {
    const kills = [vi.fn(), vi.fn()] as const;
    const [forget, forgetOther] = kills.map((kill) => killOnExit(kill));
    forget?.();
    forget?.();
    process.emit('exit', 0);
    forgetOther?.();
    process.emit('exit', 0);
    expect(kills.map((kill) => kill.mock.calls.length)).toEqual([0, 1]);
  });

  test('a throwing kill does not affect others', () => {
    const kill = vi.fn();
    const refuse = () => {
      throw new Error('not mine to kill');
    };
    const forgets = [refuse, kill].map((it) => killOnExit(it));
    process.emit('exit', 0);
    for (const forget of forgets) forget();
    expect(kill).toHaveBeenCalledOnce();
  });

  test('all registrations share one listener and remove it', () => {
    const before = process.listenerCount('exit');
    const forgets = Array.from({ length: 50 }, () => killOnExit(() => {}));
    expect(process.listenerCount('exit')).toBe(before + 1);
    for (const forget of forgets) forget();
    expect(process.listenerCount('exit')).toBe(before);
  });
});
