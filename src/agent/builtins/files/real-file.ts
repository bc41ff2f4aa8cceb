import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { nearest } from '../../../base/text/nearest.ts';
import type { BuiltInContext } from '../built-in.ts';

/** Larger files are for commands that read a part: these tools hold the whole of it. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024;

export type RealFile =
  | { readonly kind: 'file'; readonly bytes: Buffer; readonly digest: string; readonly mode: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly fault: string };

/**
 * Reads the very file that was decided on: a path that leads through a link is refused. A directory above it that is
 * swapped for a link and back between opening and looking would go unnoticed; who can do that can write there anyway.
 */
export async function readReal(path: string, signal: AbortSignal): Promise<RealFile> {
  const handle = await openUnlinked(path);
  if (handle === 'missing') return { kind: 'missing' };
  if (handle === 'link') return refused(await linkFault(path));
  await using file = handle;
  const stat = await file.stat();
  if (stat.isDirectory()) return refused(`${path} is a directory: look into it with Glob`);
  if (!stat.isFile()) return refused(`${path} is no regular file`);
  if (stat.size > MAX_FILE_BYTES) {
    return refused(
      `${path} has ${stat.size} bytes, more than the ${MAX_FILE_BYTES} that fit: use Grep or Bash on it`,
    );
  }
  if ((await realpath(path)) !== path) return refused(await linkFault(path));
  const bytes = await file.readFile({ signal });
  return { kind: 'file', bytes, digest: digestOf(bytes), mode: stat.mode & 0o7777 };
}

/** What `FileMemory` remembers of a file's bytes. */
export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64');
}

/** Where a path leads that is not what it seems; the model can name that itself, and permission is asked for it. */
export async function linkFault(path: string): Promise<string> {
  return `${path} leads through a link to ${await realpath(path).catch(() => 'nothing')}: name that path instead`;
}

/** Not blocking: a pipe without a writer would never open. */
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
 * Puts a file in place as a whole: a reader sees the old content or the new one. A link there is replaced, not
 * followed. Between the caller's look at the old file and this, another program may write: that is not prevented.
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
  // Not by `open`: the umask would take bits away.
  if (mode !== undefined) await file.chmod(mode);
  await file.writeFile(bytes);
  await file.sync();
}

/** Says that a file does not exist, and which one beside it was perhaps meant. */
export async function missingFault(
  path: string,
  context: Pick<BuiltInContext, 'isReadable'>,
): Promise<string> {
  const directory = dirname(path);
  const names = await readdir(directory).catch(() => []);
  const suggestion = nearest(
    basename(path),
    names.filter((name) => context.isReadable(join(directory, name))),
  );
  return `${path} does not exist${suggestion === undefined ? '' : `: did you mean ${join(directory, suggestion)}?`}`;
}
