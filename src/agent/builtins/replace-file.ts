import { randomUUID } from 'node:crypto';
import { mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { linkFault } from './read-real.ts';

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
