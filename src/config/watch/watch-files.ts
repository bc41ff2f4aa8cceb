import { type BigIntStats, type FSWatcher, statSync, watch } from 'node:fs';
import { basename } from 'node:path';
import { startTimer } from '../../base/timer.ts';
import { identityOf, watchedDirectories } from './watched-directories.ts';

/** Editors write in several steps; they are done after this. */
const QUIET_MS = 60;
/** In a directory where something is always written, this is the end of waiting for them. */
const PATIENCE_MS = 1_000;
/** The clock of files is behind the other one by as much. */
const COARSE_MS = 20;
/** How often is looked where the system cannot tell. */
const LOOK_MS = 2_000;

type Watcher = { readonly watcher: FSWatcher; readonly identity: string };

/**
 * Hears that files have changed, come or gone, some moments after the last step; also of those that are not there yet.
 * Keeps no process alive.
 */
export class FileWatch implements Disposable {
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, Watcher>();
  #seen: ReadonlyMap<string, string> = new Map();
  #quiet: NodeJS.Timeout | undefined;
  #stirredAt: number | undefined;
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
    for (const directory of this.#watchers.keys()) this.#leave(directory);
  }

  /** Of a directory that another took the place of nothing is heard any more. */
  #arm(): void {
    const wanted = watchedDirectories(this.#seen.keys());
    for (const [directory, { identity }] of this.#watchers) {
      if (!wanted.has(directory) || identityOf(directory) !== identity) this.#leave(directory);
    }
    for (const directory of wanted) {
      if (!this.#watchers.has(directory)) this.#watch(directory);
    }
  }

  #watch(directory: string): void {
    const fall = () => {
      this.#leave(directory);
      this.#looking ??= setInterval(() => this.#stir(), LOOK_MS).unref();
    };
    try {
      const identity = identityOf(directory);
      const watcher = watch(directory, { persistent: false }, (kind, name) => {
        // It is the directory itself that goes or moves: it is watched anew if there is one again.
        if (kind === 'rename' && name === basename(directory)) this.#leave(directory);
        this.#stir();
      });
      watcher.on('error', fall);
      this.#watchers.set(directory, { watcher, identity });
    } catch {
      // There are only so many watches; looking from time to time does as well.
      fall();
    }
  }

  #leave(directory: string): void {
    this.#watchers.get(directory)?.watcher.close();
    this.#watchers.delete(directory);
  }

  #stir(): void {
    this.#stirredAt ??= performance.now();
    if (performance.now() - this.#stirredAt > PATIENCE_MS) return;
    clearTimeout(this.#quiet);
    this.#quiet = startTimer(QUIET_MS, () => this.#settle());
    this.#quiet.unref();
  }

  /** Directories have other files, too: only a file that is another now is news. */
  #settle(): void {
    this.#stirredAt = undefined;
    this.#arm();
    if (!this.#isNews()) return;
    this.#seen = new Map([...this.#seen.keys()].map((path) => [path, stamp(path)]));
    this.#onChange();
  }

  #isNews(): boolean {
    return [...this.#seen].some(([path, seen]) => stamp(path) !== seen);
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
