import { type BigIntStats, type FSWatcher, lstatSync, readlinkSync, statSync, watch } from 'node:fs';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import { startTimer } from '../../base/async/timers.ts';

/** Time without changes before they are reported, since editors save in several steps. */
const QUIET_MS = 60;
/** Maximum wait in a directory with constant changes. */
const MAX_WAIT_MS = 1_000;
/** Maximum lag of file times behind the system clock. */
const COARSE_MS = 20;
/** Polling interval where the system cannot watch a directory. */
const POLL_MS = 2_000;

type Watcher = { readonly watcher: FSWatcher; readonly identity: string };

/**
 * Reports that files were changed, created or deleted, shortly after the last change; also for files that do not exist
 * yet. Does not keep the process alive.
 */
export class FileWatcher implements Disposable {
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, Watcher>();
  #seen: ReadonlyMap<string, string> = new Map();
  #quiet: NodeJS.Timeout | undefined;
  #changedSince: number | undefined;
  #polling: NodeJS.Timeout | undefined;

  /** `readAt` is the system time when the files were read: later writes are reported. */
  constructor(paths: readonly string[], readAt: number, onChange: () => void) {
    this.#onChange = onChange;
    this.set(paths, readAt);
  }

  /** Watches these files from now on. Files that are watched already keep their last reported state. */
  set(paths: readonly string[], readAt: number): void {
    const before = this.#seen;
    this.#seen = new Map(paths.map((path) => [path, before.get(path) ?? stampAt(path, readAt)]));
    this.#arm();
    if (this.#hasChanges()) this.#schedule();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#quiet);
    clearInterval(this.#polling);
    for (const directory of this.#watchers.keys()) this.#leave(directory);
  }

  /** Watches the current directories; a watch of a directory that was replaced reports nothing any more. */
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
    const poll = () => {
      this.#leave(directory);
      this.#polling ??= setInterval(() => this.#schedule(), POLL_MS).unref();
    };
    try {
      const identity = identityOf(directory);
      const watcher = watch(directory, { persistent: false }, (kind, name) => {
        // The directory itself is deleted or moved; it is watched again when it exists again.
        if (kind === 'rename' && name === basename(directory)) this.#leave(directory);
        this.#schedule();
      });
      watcher.on('error', poll);
      this.#watchers.set(directory, { watcher, identity });
    } catch {
      // The number of watches is limited by the system; polling replaces them.
      poll();
    }
  }

  #leave(directory: string): void {
    this.#watchers.get(directory)?.watcher.close();
    this.#watchers.delete(directory);
  }

  #schedule(): void {
    this.#changedSince ??= performance.now();
    if (performance.now() - this.#changedSince > MAX_WAIT_MS) return;
    clearTimeout(this.#quiet);
    this.#quiet = startTimer(QUIET_MS, () => this.#settle());
    this.#quiet.unref();
  }

  /** Directories contain other files too, so only changes of the watched files are reported. */
  #settle(): void {
    this.#changedSince = undefined;
    this.#arm();
    if (!this.#hasChanges()) return;
    this.#seen = new Map([...this.#seen.keys()].map((path) => [path, stamp(path)]));
    this.#onChange();
  }

  #hasChanges(): boolean {
    return [...this.#seen].some(([path, seen]) => stamp(path) !== seen);
  }
}

/** A fingerprint that changes with each write and replacement. */
function stamp(path: string): string {
  const found = look(path);
  return typeof found === 'string' ? found : [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
}

/** The fingerprint at `readAt`; unknown if the file was written since then. */
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

/** Maximum number of symbolic links in a path, the usual limit of operating systems. */
const MAX_LINKS = 40;

/**
 * The directories to watch: the real directory of each file, since files are replaced rather than written, or the nearest
 * existing parent, and the directories of all symbolic links in the path.
 */
function watchedDirectories(paths: Iterable<string>): Set<string> {
  const known = new Map<string, string | undefined>();
  const targetOf = (path: string) => {
    if (!known.has(path)) known.set(path, linkTarget(path));
    return known.get(path);
  };
  return new Set([...paths].flatMap((path) => directoriesOnPath(path, targetOf)));
}

/** Identifies a directory; the inode alone may be reused. */
function identityOf(directory: string): string {
  try {
    const { dev, ino, birthtimeNs } = statSync(directory, { bigint: true });
    return [dev, ino, birthtimeNs].join(' ');
  } catch {
    return 'absent';
  }
}

function directoriesOnPath(path: string, targetOf: (path: string) => string | undefined): string[] {
  const { root } = parse(path);
  const linked: string[] = [];
  let at = root;
  let rest = stepsOf(path);
  for (let step = rest.shift(); step !== undefined; step = rest.shift()) {
    const next = join(at, step);
    const target = linked.length < MAX_LINKS ? targetOf(next) : undefined;
    if (target === undefined) {
      at = next;
      continue;
    }
    linked.push(at);
    const led = resolve(at, target);
    rest = [...stepsOf(led), ...rest];
    at = parse(led).root;
  }
  // Links in the root directory, such as /tmp, do not change.
  return [...linked.filter((it) => it !== root), nearestDirectory(at)];
}

function stepsOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((step) => step !== '');
}

function linkTarget(path: string): string | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found?.isSymbolicLink() === true ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
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
