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
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** Maximum length of a chain of symbolic links, the usual limit of operating systems. */
const MAX_LINKS = 40;

/**
 * Replaces a file atomically: a reader sees the old content or the new, and a failure leaves the old file and no
 * temporary file. An existing file keeps its mode and, where permitted, its owner; `mode` is for a new file. A symbolic
 * link is kept and its target replaced. `isStill` is called last; if it returns false, the file is left unchanged and
 * the result is false.
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

/** Replaces a file atomically with one that only its owner can read, and creates its directory; not synced to disk. */
export async function writePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await writeFile(draft, content, { mode: 0o600, flag: 'wx' });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/** A fingerprint of the file's identity and times, which changes with each write and each replacement. */
export function fileState(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ') : 'absent';
}

/** The path after following symbolic links; its target need not exist. */
export function followLinks(path: string): string {
  let at = path;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const next = linkAt(at);
    if (next === undefined) return at;
    at = resolve(realpathSync(dirname(at)), next);
  }
  throw new Error(`${path} is a symbolic link that forms a loop; correct or remove the link`);
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // Not a link, or missing: opening the path reports that.
    return undefined;
  }
}

function writeDraft(
  draft: string,
  content: string | Uint8Array,
  before: Stats | undefined,
  mode: number,
): void {
  // Private until the final mode is set.
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(file, content);
    if (before) keepOwner(file, before);
    // `open` would apply the umask.
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
