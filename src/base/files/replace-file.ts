import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** As many links in a row as systems follow. */
const MAX_LINKS = 40;

/**
 * Puts a file in place as a whole, in place: a reader sees the old content or the new one, and whatever fails leaves the
 * old one and nothing beside it. One that exists keeps its mode and, where we may, its owner; `mode` is that of a new one.
 * A link stays: what it leads to is replaced. `isStill` is asked last of all whether the file is still the one that is to
 * be replaced; if it is not, it is left and false is given.
 */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, isStill }: { readonly mode?: number; isStill?(): boolean } = {},
): boolean {
  const target = followLinks(path);
  const before = statSync(target, { throwIfNoEntry: false });
  const draft = join(dirname(target), `.${basename(target)}.${randomUUID()}`);
  try {
    writeDraft(draft, content, before, mode);
    const isReplaced = isStill === undefined || isStill();
    if (isReplaced) renameSync(draft, target);
    else rmSync(draft, { force: true });
    return isReplaced;
  } catch (thrown) {
    rmSync(draft, { force: true });
    throw thrown;
  }
}

/** A text that is another one after each write to the file, and after each that takes its place. */
export function fileState(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ') : 'absent';
}

/** Where a path leads in the end, also if there is nothing yet. */
export function followLinks(path: string): string {
  let at = path;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const next = linkAt(at);
    if (next === undefined) return at;
    at = resolve(realpathSync(dirname(at)), next);
  }
  throw new Error(`${path} is a link that leads in a circle`);
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // No link, or nothing at all: whoever opens it is told.
    return undefined;
  }
}

function writeDraft(
  draft: string,
  content: string | Uint8Array,
  before: Stats | undefined,
  mode: number,
): void {
  // Nobody else may read it before it is known who may.
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(file, content);
    if (before) keepOwner(file, before);
    // Not by `open`: the umask would take bits away.
    fchmodSync(file, before ? before.mode & 0o7777 : mode);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function keepOwner(file: number, { uid, gid }: Stats): void {
  try {
    fchownSync(file, uid, gid);
  } catch {
    // Only the superuser may give files away.
  }
}

/**
 * Writes a file that does not exist yet. Throws EEXIST if something has that name; if the content cannot be written, on a
 * full disk for example, no file stays behind.
 */
export function createFile(
  path: string,
  content: string | Uint8Array,
  { mode }: { readonly mode: number },
): void {
  const file = openSync(path, 'wx', mode);
  try {
    writeAndClose(file, content);
  } catch (cause) {
    rmSync(path, { force: true });
    throw cause;
  }
}

function writeAndClose(file: number, content: string | Uint8Array): void {
  try {
    writeFileSync(file, content);
  } finally {
    closeSync(file);
  }
}
