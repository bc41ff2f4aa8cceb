import { randomUUID } from 'node:crypto';
import { linkSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { createFile, replaceFile } from './replace-file.ts';

/** A lock held for longer is considered abandoned: work under a lock takes milliseconds. */
const STALE_MS = 3_000;

/** The same if the holder is a process of this machine that still runs: a slow disk may delay it. */
const LIVE_STALE_MS = 15_000;

/** The same for an empty lock file: its process ended, or the disk was full, before the content was written. */
const EMPTY_STALE_MS = 200;

/** How often work that lost its lock is repeated. */
const ATTEMPTS = 5;

/** Replaces a file as `replaceFile` does, or throws `LostLock` if the lock is no longer held. */
export type LockedReplace = (path: string, content: string, options?: { readonly mode?: number }) => void;

/** Another process considered the lock abandoned and took it. */
export class LostLock extends Error {
  override readonly name = 'LostLock';
}

/**
 * Runs synchronous work while holding a lock file. Waits synchronously for other processes. The work reads and replaces
 * files, and is repeated if it was so slow that another process took the lock before `replace`. If no lock file can be
 * created, such as in a read-only directory, the work runs without one. Throws if the path holds something that is not a
 * lock file of Toolplane, since that would never be released.
 */
export function withFileLock<T>(path: string, work: (replace: LockedReplace) => T, staleMs = STALE_MS): T {
  for (let attempt = 1; ; attempt++) {
    const ownText = `${process.pid} ${hostname()} ${randomUUID()}`;
    const isHeld = take(path, ownText, staleMs);
    const isStill = () => !isHeld || textOf(path) === ownText;
    try {
      return work((target, content, options = {}) => {
        if (!replaceFile(target, content, { ...options, isStill }))
          throw new LostLock(
            `other processes took the lock ${path} because writing took too long; try again`,
          );
      });
    } catch (cause) {
      if (!(cause instanceof LostLock) || attempt === ATTEMPTS) throw cause;
    } finally {
      // Another process may have removed the lock as stale and taken it.
      if (isHeld && isStill()) rmSync(path, { force: true });
    }
  }
}

/** The time without a touch after which a lock counts as abandoned; its holder touches it more often. */
const UNTOUCHED_MS = 60_000;
const TOUCH_MS = 2_000;
/**
 * How long the lock is watched if the time of its file, by the clock of a machine that may be wrong, says that this time
 * is over: after a suspend, the holder touches the lock first.
 */
const MISSED_TOUCHES_MS = 2.5 * TOUCH_MS;

export type ExclusiveLockOptions = {
  /** Polled while another process holds the lock. Once true, the result is undefined and the work does not run. */
  readonly isDone?: () => Promise<boolean>;
  /** An abort ends the wait for the lock, with the signal's reason; the work is not interrupted. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Runs asynchronous work, which may take seconds, while holding a lock file, and creates its directory. The lock of a
 * process that has ended is taken over at once; that of another machine, or of another process with the same pid, after
 * a minute without a sign of its holder, most of which may have passed before this call. If no lock file can be created,
 * the work runs without one.
 */
export async function withExclusiveLock<T>(
  path: string,
  work: () => Promise<T>,
  { isDone = async () => false, signal }: ExclusiveLockOptions = {},
): Promise<T | undefined> {
  const ownText = `${process.pid} ${hostname()} ${randomUUID()}`;
  let [since, seen] = [performance.now(), ''];
  let outcome = tryLock(path, ownText);
  while (outcome === 'taken') {
    signal?.throwIfAborted();
    if (await isDone()) return undefined;
    const foundText = lockAt(path);
    const touchedAt = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const state = `${foundText} ${touchedAt}`;
    if (state !== seen) [since, seen] = [performance.now(), state];
    const isOld = Math.abs(Date.now() - touchedAt) > UNTOUCHED_MS;
    const holder = holderOf(foundText);
    const limit = holder === 'none' ? EMPTY_STALE_MS : isOld ? MISSED_TOUCHES_MS : UNTOUCHED_MS;
    const isStale = holder === 'ended' || performance.now() - since > limit;
    if (!isStale) await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20));
    else if (!remove(path, foundText)) break;
    outcome = tryLock(path, ownText);
  }
  const touching = setInterval(() => touch(path, ownText), TOUCH_MS).unref();
  try {
    return await work();
  } finally {
    clearInterval(touching);
    if (textOf(path) === ownText) rmSync(path, { force: true });
  }
}

/** Creates the lock file with its content in one step, by a link to a complete draft where links are supported. */
function tryLock(path: string, ownText: string): 'held' | 'taken' | 'impossible' {
  const draft = `${path}.${randomUUID()}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    createFile(draft, ownText, { mode: 0o600 });
    try {
      linkSync(draft, path);
    } catch (cause) {
      if (codeOf(cause) === 'EEXIST') return 'taken';
      createFile(path, ownText, { mode: 0o600 });
    }
    return 'held';
  } catch (cause) {
    return codeOf(cause) === 'EEXIST' ? 'taken' : 'impossible';
  } finally {
    rmSync(draft, { force: true });
  }
}

function touch(path: string, ownText: string): void {
  try {
    const now = new Date();
    if (textOf(path) === ownText) utimesSync(path, now, now);
  } catch {
    // The lock is lost; its file is not ours any more.
  }
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
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
      if (codeOf(cause) !== 'EEXIST') return false;
    }
    const foundText = lockAt(path);
    if (foundText !== seen) [since, seen] = [performance.now(), foundText];
    const holder = holderOf(foundText);
    const limits = {
      none: Math.min(staleMs, EMPTY_STALE_MS),
      live: Math.max(staleMs, LIVE_STALE_MS),
      unknown: staleMs,
    };
    if (holder === 'ended' || performance.now() - since > limits[holder]) {
      if (!remove(path, foundText)) return false;
    } else pause(2 + Math.random() * 8);
  }
}

/** The content of the lock file, which names its holder; empty while it is being written or if it is gone. */
function lockAt(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return '';
  // Checked before reading: opening a named pipe could block.
  const text = found.isFile() && found.size <= MAX_LOCK_BYTES ? textOf(path) : undefined;
  if (text === undefined || !isLockText(text)) {
    throw new Error(`${path} exists but is not a Toolplane lock file; move or remove it`);
  }
  return text;
}

/** Maximum size of a lock file. */
const MAX_LOCK_BYTES = 1024;

/** Whether a text is the content of a lock file. One cut off by a full disk is empty or all zeros. */
export function isLockText(text: string): boolean {
  return /^(?:\d+ .* [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\0*)$/.test(text);
}

/**
 * The holder of a lock: a running or an ended process of this machine; `unknown` if it is one of another machine, or has
 * the id of this process, which an earlier process in a container often had too.
 */
function holderOf(text: string): 'none' | 'live' | 'ended' | 'unknown' {
  if (/^\0*$/.test(text)) return 'none';
  const [pid, host] = text.split(' ');
  if (host !== hostname() || Number(pid) === process.pid) return 'unknown';
  try {
    process.kill(Number(pid), 0);
    return 'live';
  } catch (cause) {
    return codeOf(cause) === 'ESRCH' ? 'ended' : 'live';
  }
}

/**
 * Removes an abandoned lock, under a guard file so that only one process does so at a time: a second one could remove a
 * lock taken after the first removal. False if the lock cannot be removed.
 */
function remove(path: string, text: string): boolean {
  const guard = `${path}.taking`;
  try {
    createFile(guard, '', { mode: 0o600 });
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') return false;
    const since = lstatSync(guard, { throwIfNoEntry: false })?.mtimeMs;
    // The process that held the guard died.
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

/** Removes the lock if it still has this content; a newer lock that took its place is restored. */
function removeGuarded(path: string, text: string): boolean {
  const displaced = `${path}.${randomUUID()}`;
  try {
    renameSync(path, displaced);
    if (textOf(displaced) !== text) linkSync(displaced, path);
  } catch (cause) {
    // ENOENT: already removed; EEXIST: taken again.
    const code = codeOf(cause);
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
