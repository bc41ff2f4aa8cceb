import { type BigIntStats, type FSWatcher, lstatSync, readlinkSync, statSync, watch } from 'node:fs';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import { startTimer } from '../../base/async/timers.ts';

/** Editors write in several steps; they are done after this. */
const QUIET_MS = 60;
/** In a directory where something is always written, this is the end of waiting for them. */
const MAX_WAIT_MS = 1_000;
/** The clock of files is behind the other one by as much. */
const COARSE_MS = 20;
/** How often is looked where the system cannot tell. */
const LOOK_MS = 2_000;

type Watcher = { readonly watcher: FSWatcher; readonly identity: string };

/**
 * Hears that files have changed, come or gone, some moments after the last step; also of those that are not there yet.
 * Keeps no process alive.
 */
export class FileWatcher implements Disposable {
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
    if (performance.now() - this.#stirredAt > MAX_WAIT_MS) return;
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

/** More links than a system follows. */
const MAX_LINKS = 40;

/**
 * The directories in which a change can make other files of these. A file is replaced rather than written, so it is the
 * directory it really is in, or what is above one that is not there; and those of all links on the way.
 */
function watchedDirectories(paths: Iterable<string>): Set<string> {
  const known = new Map<string, string | undefined>();
  const targetOf = (path: string) => {
    if (!known.has(path)) known.set(path, linkTarget(path));
    return known.get(path);
  };
  return new Set([...paths].flatMap((path) => wayTo(path, targetOf)));
}

/** What tells a directory from another that took its place: an inode is soon used again. */
function identityOf(directory: string): string {
  try {
    const { dev, ino, birthtimeNs } = statSync(directory, { bigint: true });
    return [dev, ino, birthtimeNs].join(' ');
  } catch {
    return 'absent';
  }
}

function wayTo(path: string, targetOf: (path: string) => string | undefined): string[] {
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
  // Links of the system's own, such as /tmp, do not change; and everything happens below that directory.
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
