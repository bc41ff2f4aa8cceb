import { randomUUID } from 'node:crypto';
import { linkSync, lstatSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { createFile } from './replace-file.ts';

/** A lock nobody gave up for so long was left behind; whoever works under one needs milliseconds. */
const STALE_MS = 3_000;

/** The same for a lock without content: its process ended, or its disk was full, between creating and writing it. */
const EMPTY_STALE_MS = 200;

/**
 * Does the work while no other process does work under the same lock, a file that exists as long. Waits in place, since the
 * work is done in place, too. Where no lock can be made, the work is done without one; what is in its place and no lock of
 * ours is told at once, for nobody would ever give it up.
 */
export function withFileLock<T>(path: string, work: () => T, staleMs = STALE_MS): T {
  const ownText = `${process.pid} ${hostname()} ${randomUUID()}`;
  const isHeld = take(path, ownText, staleMs);
  try {
    return work();
  } finally {
    // Somebody may have thought that it was left behind.
    if (isHeld && textOf(path) === ownText) rmSync(path, { force: true });
  }
}

function take(path: string, ownText: string, staleMs: number): boolean {
  let [since, seen] = [performance.now(), ''];
  for (;;) {
    try {
      createFile(path, ownText, { mode: 0o600 });
      // Another process may have removed it as stale before its content was written.
      if (textOf(path) === ownText) return true;
      continue;
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) return false;
    }
    const foundText = lockAt(path);
    if (foundText !== seen) [since, seen] = [performance.now(), foundText];
    const limit = /^\0*$/.test(foundText) ? Math.min(staleMs, EMPTY_STALE_MS) : staleMs;
    if (performance.now() - since > limit || isAbandoned(foundText)) {
      if (!remove(path, foundText)) return false;
    } else pause(2 + Math.random() * 8);
  }
}

/** Who holds it, in its words; none while it is being written, or if it is gone by now. */
function lockAt(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return '';
  // Asked before it is read: to open a pipe may take for ever.
  const text = found.isFile() && found.size <= MAX_LOCK_BYTES ? textOf(path) : undefined;
  if (text === undefined || !isLockText(text)) {
    throw new Error(`${path} is no lock of Toolplane's but in the place of one; move or remove it`);
  }
  return text;
}

/** Bytes of the longest lock. */
const MAX_LOCK_BYTES = 1024;

/** Whether a text is that of a lock; one that was cut short holds nothing. */
export function isLockText(text: string): boolean {
  return /^(?:\d+ .* [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\0*)$/.test(text);
}

/** Its process ran here and is no more. */
function isAbandoned(text: string): boolean {
  const [pid, host] = text.split(' ');
  if (host !== hostname()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'ESRCH';
  }
}

/**
 * Takes away a lock that was left behind. One at a time, under a lock of its own: of two, the second would take away what
 * somebody took after the first. False if it cannot be taken away.
 */
function remove(path: string, text: string): boolean {
  const guard = `${path}.taking`;
  try {
    createFile(guard, '', { mode: 0o600 });
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) return false;
    const since = lstatSync(guard, { throwIfNoEntry: false })?.mtimeMs;
    // Who took it away died of it.
    if (since !== undefined && Date.now() - since > STALE_MS) rmSync(guard, { force: true });
    pause(2);
    return true;
  }
  try {
    return textOf(path) === text ? removeGuarded(path, text) : true;
  } finally {
    rmSync(guard, { force: true });
  }
}

/** Takes away this very lock: one that came in its place meanwhile is put back. */
function removeGuarded(path: string, text: string): boolean {
  const displaced = `${path}.${randomUUID()}`;
  try {
    renameSync(path, displaced);
    if (textOf(displaced) !== text) linkSync(displaced, path);
  } catch (cause) {
    // Gone already, or there again.
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    return code === 'ENOENT' || code === 'EEXIST';
  } finally {
    rmSync(displaced, { force: true });
  }
  return true;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
