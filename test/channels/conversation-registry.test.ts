import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { Inbox } from '../../src/channels/inbox.ts';

const A = { project: '/p', conversation: 'a' };
const B = { project: '/p', conversation: 'b' };
const MESSAGE = { source: 's', content: '1', meta: {}, state: 'pending' } as const;

async function opened({
  directory = mkdtempSync(join(tmpdir(), 'registry-')),
  now = Date.now,
}: {
  directory?: string;
  now?: () => number;
} = {}) {
  const inbox = await Inbox.open(directory, { now });
  onTestFinished(() => inbox[Symbol.dispose]());
  return { inbox, directory };
}

test('a conversation whose process was killed counts as ended', async () => {
  const { inbox, directory } = await opened();
  inbox.enter(A);
  inbox.admit(A, [MESSAGE]);
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  const db = new DatabaseSync(join(directory, 'inbox.db'));
  db.prepare("UPDATE conversation SET pid = ?, process = 'other'").run(child.pid ?? 0);
  db.close();
  expect(inbox.adopt(B, ['s'])).toBe(1);
});

test('a conversation that two sessions have resumed runs in the first, until that ends', async () => {
  const { inbox, directory } = await opened();
  const { inbox: other } = await opened({ directory });
  expect([inbox.enter(A), other.enter(A), inbox.enter(A)]).toEqual([true, false, true]);
  expect([inbox.holder('a'), other.holder('a')]).toEqual(['this', 'other']);
  inbox.admit(A, [MESSAGE]);
  other.transfer('a', B);
  expect(inbox.pending(A, ['s'], 0, 10)).toHaveLength(1);
  inbox[Symbol.dispose]();
  expect(other.holder('a')).toBe(undefined);
  expect(other.enter(A)).toBe(true);
});

test('a conversation runs elsewhere as long as its process does, and no longer if another one gets the pid', async () => {
  let now = 1_000_000;
  const { inbox, directory } = await opened({ now: () => now });
  inbox.enter(A);
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  onTestFinished(() => void child.kill());
  const db = new DatabaseSync(join(directory, 'inbox.db'));
  onTestFinished(() => db.close());
  const heldBy = (pid: number) => db.prepare("UPDATE conversation SET pid = ?, process = 'other'").run(pid);
  heldBy(child.pid ?? 0);
  expect([inbox.holder('a'), inbox.enter(A)]).toEqual(['other', false]);
  heldBy(process.pid);
  expect([inbox.holder('a'), inbox.enter(A), inbox.holder('a')]).toEqual([undefined, true, 'this']);
  heldBy(child.pid ?? 0);
  now += 61_000;
  expect([inbox.holder('a'), inbox.enter(A), inbox.holder('a')]).toEqual([undefined, true, 'this']);
});

test('a process that was suspended registers its conversation again before it goes on', async () => {
  let now = 1_000_000;
  const { inbox } = await opened({ now: () => now });
  inbox.enter(A);
  now += 31_000;
  expect(inbox.holder('a')).toBe(undefined);
  inbox.enter(A);
  expect(inbox.holder('a')).toBe('this');
});

test('a conversation that was not seen for a minute counts as ended', async () => {
  let now = 1_000_000;
  const { inbox } = await opened({ now: () => now });
  inbox.enter(A);
  inbox.admit(A, [MESSAGE]);
  now += 59_000;
  expect(inbox.adopt(B, ['s'])).toBe(0);
  now += 2_000;
  expect(inbox.adopt(B, ['s'])).toBe(1);
});
