import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join, parse, resolve, sep } from 'node:path';

/** More links than a system follows. */
const MOST_LINKS = 40;

/**
 * The directories in which a change can make other files of these. A file is replaced rather than written, so it is the
 * directory it really is in, or what is above one that is not there; and those of all links on the way.
 */
export function watchedDirectories(paths: Iterable<string>): Set<string> {
  const known = new Map<string, string | undefined>();
  const targetOf = (path: string) => {
    if (!known.has(path)) known.set(path, linkTarget(path));
    return known.get(path);
  };
  return new Set([...paths].flatMap((path) => wayTo(path, targetOf)));
}

/** What tells a directory from another that took its place: an inode is soon used again. */
export function identityOf(directory: string): string {
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
    const target = linked.length < MOST_LINKS ? targetOf(next) : undefined;
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
