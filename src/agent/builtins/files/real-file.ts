import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type DiffHunk, diffLines } from '../../../base/text/line-diff.ts';
import { nearest } from '../../../base/text/nearest.ts';

/** Size limit of the file tools, which read whole files into memory. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024;

export type RealFile =
  | {
      readonly kind: 'file';
      readonly bytes: Buffer;
      readonly digest: string;
      readonly mode: number;
      /** The size of the file, of which only the first bytes may have been read. */
      readonly size: number;
    }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly fault: string };

/**
 * Reads exactly the file that permission was decided for: a path through a symbolic link is refused. A parent directory
 * that is replaced by a link and restored between the checks is not noticed; that requires write access there anyway.
 */
export async function readReal(
  path: string,
  signal: AbortSignal,
  { maxBytes }: { readonly maxBytes?: number } = {},
): Promise<RealFile> {
  const handle = await openUnlinked(path);
  if (handle === 'missing') return { kind: 'missing' };
  if (handle === 'link') return refused(await linkFault(path));
  await using file = handle;
  const stat = await file.stat();
  if (stat.isDirectory()) return refused(`${path} is a directory: list its files with Glob`);
  if (!stat.isFile()) return refused(`${path} is not a regular file`);
  if (maxBytes === undefined && stat.size > MAX_FILE_BYTES) {
    return refused(
      `${path} has ${stat.size} bytes, more than the limit of ${MAX_FILE_BYTES}: use Grep or Bash instead`,
    );
  }
  if ((await realpath(path)) !== path) return refused(await linkFault(path));
  const bytes =
    maxBytes === undefined
      ? await file.readFile({ signal })
      : await readStart(file, Math.min(maxBytes, stat.size));
  return { kind: 'file', bytes, digest: digestOf(bytes), mode: stat.mode & 0o7777, size: stat.size };
}

async function readStart(file: FileHandle, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
  return buffer.subarray(0, bytesRead);
}

/** The digest of a file's bytes for `FileMemory`. */
export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64');
}

/** Names the target of a link, so that the model can use that path and permission is decided for it. */
export async function linkFault(path: string): Promise<string> {
  const target = await realpath(path).catch(() => undefined);
  const link = target === undefined ? 'a broken symbolic link' : `a symbolic link to ${target}`;
  return `${path} leads through ${link}: use a path without symbolic links instead`;
}

/** Opens a file that is not a symbolic link. Non-blocking, because opening a pipe without a writer would never return. */
async function openUnlinked(path: string): Promise<FileHandle | 'missing' | 'link'> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'missing';
    if (code === 'ELOOP') return 'link';
    throw thrown;
  }
}

function refused(fault: string): RealFile {
  return { kind: 'refused', fault };
}

/**
 * Replaces a file atomically: a reader sees the old or the new content. A symbolic link is replaced, not followed. A write
 * of another program between the caller's check and this call is not detected.
 */
export async function replaceFile(
  path: string,
  bytes: Buffer,
  keep: { readonly mode?: number },
): Promise<{ readonly fault: string } | undefined> {
  const directory = dirname(path);
  await mkdir(directory, { recursive: true });
  if ((await realpath(directory)) !== directory) return { fault: await linkFault(directory) };
  const draft = join(directory, `.${randomUUID()}.tmp`);
  try {
    await writeDraft(draft, bytes, keep.mode);
    await rename(draft, path);
  } catch (thrown) {
    await rm(draft, { force: true });
    throw thrown;
  }
  return undefined;
}

async function writeDraft(draft: string, bytes: Buffer, mode: number | undefined): Promise<void> {
  await using file = await open(draft, 'wx');
  // `open` would apply the umask.
  if (mode !== undefined) await file.chmod(mode);
  await file.writeFile(bytes);
  await file.sync();
}

/** A change of a file as programs and hooks get it, with line feeds as line ends. `before` is null for a new file. */
export function describeChange(path: string, before: string | null, after: string): FileChange {
  const originalFile = before?.replaceAll('\r\n', '\n') ?? null;
  const structuredPatch =
    originalFile === null ? [] : diffLines(originalFile, after.replaceAll('\r\n', '\n'));
  return { filePath: path, originalFile, structuredPatch, userModified: false };
}

type FileChange = {
  filePath: string;
  originalFile: string | null;
  structuredPatch: DiffHunk[];
  userModified: boolean;
};

/** The message for a missing file, with a suggestion from the same directory. */
export async function missingFault(
  path: string,
  context: { isReadable(path: string): boolean },
): Promise<string> {
  const directory = dirname(path);
  const names = await readdir(directory).catch(() => []);
  const suggestion = nearest(
    basename(path),
    names.filter((name) => context.isReadable(join(directory, name))),
  );
  return `${path} does not exist${suggestion === undefined ? '' : `: did you mean ${join(directory, suggestion)}?`}`;
}
