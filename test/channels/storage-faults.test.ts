import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Inbox } from '../../src/channels/inbox.ts';

const FILL = fileURLToPath(new URL('fixtures/fill-inbox.ts', import.meta.url));
const RECEIVE = fileURLToPath(new URL('fixtures/receive-messages.ts', import.meta.url));
const LIST = fileURLToPath(new URL('fixtures/list-inbox.ts', import.meta.url));

type Report = { sent: number; acked: string[]; refused: string[]; warnings: string[] };

/** Runs a shell script and returns its lines. */
async function run(command: readonly string[], options: { uid?: number; gid?: number } = {}) {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all([child.stdout.toArray(), child.stderr.toArray()]);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  return { lines: Buffer.concat(stdout).toString().split('\n').filter(Boolean), stderr: stderr.join('') };
}

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'storage-'));
  onTestFinished(() => {
    chmodSync(directory, 0o700);
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

/** A file system of its own that fills up, where the system permits one; else a limit on the size of files. */
function smallDisk(directory: string): {
  readonly wrapper: readonly string[];
  readonly begin: string;
  readonly free: string;
} {
  const isolated = ['unshare', '--user', '--map-root-user', '--mount'];
  const mount = `mount -t tmpfs -o size=1m tmpfs ${directory}`;
  const [program = '', ...args] = [...isolated, 'sh', '-c', mount];
  if (spawnSync(program, args).status === 0) {
    const begin = `${mount} && head -c 300000 /dev/zero > ${directory}/other`;
    return { wrapper: isolated, begin, free: `rm ${directory}/other` };
  }
  return { wrapper: [], begin: 'ulimit -S -f 1000', free: 'ulimit -S -f unlimited' };
}

describe('an inbox on a disk that is full', () => {
  test('is one clear error; what was acknowledged is there after a kill, and new messages once there is space', async () => {
    const directory = newDirectory();
    const { wrapper, begin, free } = smallDisk(directory);
    const node = `'${process.execPath}'`;
    const script = [
      begin,
      `{ ${node} '${FILL}' ${directory}; true; }`,
      'echo',
      `${node} '${LIST}' ${directory}`,
      free,
      `${node} '${LIST}' ${directory} later`,
    ].join(' && ');
    const { lines, stderr } = await run([...wrapper, 'sh', '-c', script]);
    expect(lines, stderr).toHaveLength(3);
    const [report, stored, later] = lines.map((line) => JSON.parse(line)) as [Report, string[], string[]];
    expect(report.acked.length).toBeGreaterThan(10);
    expect(report.acked.length).toBeLessThan(report.sent);
    expect(report.warnings).toEqual([
      expect.stringMatching(
        /^the channel inbox \S+ cannot be written: the disk (?:is full|reported an error).*free.* space.*not acknowledged until/,
      ),
    ]);
    expect(stored).toEqual(report.acked);
    expect(later).toEqual([...report.acked, 'later']);
  }, 60_000);
});

describe('an inbox that several processes use at once', () => {
  test('stores and delivers the messages of each, once and in order, and without a warning', async () => {
    const directory = newDirectory();
    const count = 300;
    const outputs = await Promise.all(
      ['a', 'b', 'c'].map((name) => run([process.execPath, RECEIVE, directory, name, String(count)])),
    );
    for (const [at, name] of ['a', 'b', 'c'].entries()) {
      const { lines = [], stderr } = outputs[at] ?? {};
      const received = Array.from({ length: count }, (_, n) => `${name}-${n + 1}`);
      expect(JSON.parse(lines[0] ?? `"${stderr}"`)).toEqual({ received, warnings: [] });
    }
    using inbox = await Inbox.open(directory);
    expect(inbox.summaries().map(({ source, counts }) => [source, counts.pending, counts.delivered])).toEqual(
      [
        ['a', 0, count],
        ['b', 0, count],
        ['c', 0, count],
      ],
    );
  }, 60_000);
});

describe('an inbox in a read-only directory', () => {
  test('that does not exist is empty for readers; an error names the directory', async () => {
    const directory = newDirectory();
    const isolated = ['unshare', '--user', '--map-root-user', '--mount'];
    const mount = `mount -t tmpfs -o ro tmpfs ${directory}`;
    const [program = '', ...args] = [...isolated, 'sh', '-c', mount];
    const isMounted = spawnSync(program, args).status === 0;
    const list = (more: string) => `'${process.execPath}' '${LIST}' ${directory}/home/channels ${more}`;
    // Without the right to mount, another user's directory is as read-only as a disk.
    const script = `${isMounted ? mount : 'true'} && ${list('')} && ${list('more')}`;
    if (!isMounted) chmodSync(directory, 0o555);
    const user = !isMounted && process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const { lines, stderr } = await run([...(isMounted ? isolated : []), 'sh', '-c', script], user);
    expect(lines, stderr).toEqual(['[]']);
    expect(stderr).toContain(
      `the channel inbox ${directory}/home/channels/inbox.db cannot be opened: ${directory} is read-only; make it writable`,
    );
  }, 30_000);

  test('is one clear error; nothing is acknowledged, and what was acknowledged before is there', async () => {
    const directory = newDirectory();
    const isRoot = process.getuid?.() === 0;
    const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};
    {
      using inbox = await Inbox.open(directory);
      inbox.post('/p', { source: 's', id: 'before', content: 'x', meta: {}, state: 'pending' });
    }
    for (const path of [join(directory, 'inbox.db'), directory]) {
      // The rights of root are not restricted.
      if (isRoot) chownSync(path, 65_534, 65_534);
      chmodSync(path, path === directory ? 0o500 : 0o400);
    }
    const { lines, stderr } = await run([process.execPath, FILL, directory], user);
    const report = JSON.parse(lines[0] ?? stderr) as Report;
    expect(report.acked).toEqual([]);
    expect(report.warnings).toEqual([
      expect.stringMatching(
        /^the channel inbox \S+ cannot be opened: it or its directory is read-only; make both writable.*not acknowledged until/,
      ),
    ]);
    expect((await run([process.execPath, LIST, directory], user)).lines).toEqual(['["before"]']);
  }, 60_000);
});
