import { type BigIntStats, type FSWatcher, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { startTimer } from '../../../base/timer.ts';

/** Editors write in several steps; they are done after this. */
const QUIET_MS = 60;
/** The clock of files is behind the other one by as much. */
const COARSE_MS = 20;
/** How often is looked where the system cannot tell. */
const LOOK_MS = 2_000;

/**
 * Hears that files have changed, come or gone, some moments after the last step; also of those that are not there yet.
 * Keeps no process alive.
 */
export class FileWatch implements Disposable {
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #seen: ReadonlyMap<string, string> = new Map();
  #quiet: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;

  /** `readAt` is when the files were read, by the system's clock: what was written since then is news. */
  constructor(paths: readonly string[], readAt: number, onChange: () => void) {
    this.#onChange = onChange;
    this.set(paths, readAt);
  }

  /** Watches these files from now on. Those it watches already are compared with what they were when it last told. */
  set(paths: readonly string[], readAt: number): void {
    const before = this.#seen;
    this.#seen = new Map(paths.map((path) => [path, before.get(path) ?? stampAt(path, readAt)]));
    this.#arm();
    if (this.#isNews()) this.#stir();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#quiet);
    clearInterval(this.#looking);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** A file is replaced rather than written, so its directory is watched; one that is not there, by what is above it. */
  #arm(): void {
    const wanted = new Set([...this.#seen.keys()].map(nearestDirectory));
    for (const [directory, watcher] of this.#watchers) {
      if (wanted.has(directory)) continue;
      watcher.close();
      this.#watchers.delete(directory);
    }
    for (const directory of wanted) {
      if (!this.#watchers.has(directory)) this.#watch(directory);
    }
  }

  #watch(directory: string): void {
    const fall = () => {
      this.#watchers.get(directory)?.close();
      this.#watchers.delete(directory);
      this.#looking ??= setInterval(() => this.#stir(), LOOK_MS).unref();
    };
    try {
      const watcher = watch(directory, { persistent: false }, () => this.#stir());
      watcher.on('error', fall);
      this.#watchers.set(directory, watcher);
    } catch {
      // There are only so many watches; looking from time to time does as well.
      fall();
    }
  }

  #stir(): void {
    clearTimeout(this.#quiet);
    this.#quiet = startTimer(QUIET_MS, () => this.#settle());
    this.#quiet.unref();
  }

  /** Directories have other files, too: only a file that is another now is news. */
  #settle(): void {
    this.#arm();
    if (!this.#isNews()) return;
    this.#seen = new Map([...this.#seen.keys()].map((path) => [path, stamp(path)]));
    this.#onChange();
  }

  #isNews(): boolean {
    return [...this.#seen].some(([path, seen]) => stamp(path) !== seen);
  }
}

function nearestDirectory(path: string): string {
  let directory = dirname(path);
  while (!isDirectory(directory) && dirname(directory) !== directory) directory = dirname(directory);
  return directory;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** What tells a file from what it becomes. */
function stamp(path: string): string {
  const found = look(path);
  return typeof found === 'string' ? found : [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
}

/** As it was when it was read; of a file that was written since then nobody knows. */
function stampAt(path: string, readAt: number): string {
  const found = look(path);
  return typeof found !== 'string' && Number(found.ctimeMs) + COARSE_MS >= readAt
    ? 'not read yet'
    : stamp(path);
}

function look(path: string): BigIntStats | 'absent' | 'unreadable' {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false }) ?? 'absent';
  } catch {
    return 'unreadable';
  }
}
