import { lstatSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { type LockedReplace, withFileLock } from '../../base/files/file-lock.ts';

const MAX_LOCK_BYTES = 4096;

/** A lock file that one process holds for as long as it wants, at most until it ends. */
export class ProcessLock {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The live process that holds the lock. */
  get holder(): number | undefined {
    const found = parseOwner(this.#text());
    return found?.isAlive ? found.pid : undefined;
  }

  /** Takes the lock if no live process holds it; returns whether this process holds it now. */
  take(): boolean {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    return this.guarded((replace) => {
      const { holder } = this;
      if (holder !== undefined) return holder === process.pid;
      replace(this.#path, `${ownerText()}\n`);
      return true;
    });
  }

  release(): void {
    if (this.holder === process.pid) rmSync(this.#path, { force: true });
  }

  /** Runs work of milliseconds, one at a time of all processes that use the lock, whichever holds it. */
  guarded<T>(work: (replace: LockedReplace) => T): T {
    return withFileLock(`${this.#path}.guard`, work);
  }

  #text(): string {
    const found = lstatSync(this.#path, { throwIfNoEntry: false });
    return found?.isFile() && found.size <= MAX_LOCK_BYTES ? readFileSync(this.#path, 'utf8') : '';
  }
}

/** Names this process in a lock; the time of its start tells it from a later process with the same id. */
export function ownerText(): string {
  return `(pid ${process.pid} start ${startOf(process.pid) ?? 0})`;
}

/** The process that a lock names; undefined if the text names none. */
export function parseOwner(text: string): { readonly pid: number; readonly isAlive: boolean } | undefined {
  const [, pid, start] = /\(pid (\d+) start (\d+)\)$/.exec(text.trim()) ?? [];
  if (pid === undefined || start === undefined) return undefined;
  const found = startOf(Number(pid));
  return {
    pid: Number(pid),
    isAlive: found !== undefined && (found === start || found === '0' || start === '0'),
  };
}

/** When a process was started, in ticks; `0` if the system does not say, undefined if there is no such process. */
function startOf(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ESRCH') return undefined;
  }
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields[19] ?? '0';
  } catch {
    return '0';
  }
}
