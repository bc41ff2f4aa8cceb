import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { extensionOf } from '../../agent/results/binary.ts';
import { createFile } from '../../base/files/replace-file.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { Part } from './content-parts.ts';
import { UsageError } from './failure.ts';

/** The parts with the paths of their files, these paths, and errors. */
type Saved = {
  readonly parts: readonly Part[];
  readonly files: readonly string[];
  readonly faults: readonly string[];
};

/** Creates a file; fails with `EEXIST` if it exists. */
type WriteNew = (path: string, bytes: Buffer) => Promise<void>;

/** Saves binary parts to new files of the directory. No file is overwritten; a part that cannot be saved is reported. */
export async function saveParts(
  parts: readonly Part[],
  directory: string,
  name: string,
  signal: AbortSignal,
  write: WriteNew = writeNew,
): Promise<Saved> {
  const stem = join(directory, safeName(name));
  // The next number to try, by extension.
  const counts = new Map<string, number>();
  const shown: Part[] = [];
  const files: string[] = [];
  const faults: string[] = [];
  for (const part of parts) {
    if (part.kind !== 'thing' || !part.file) {
      shown.push(part);
      continue;
    }
    const { bytes, mimeType } = part.file;
    try {
      const path = await saveNew(stem, extensionOf(mimeType), bytes, { counts, signal, write });
      files.push(path);
      shown.push({ ...part, line: `${part.line}: ${path}` });
    } catch (cause) {
      signal.throwIfAborted();
      faults.push(`cannot save ${part.line}: ${messageOf(cause)}`);
      shown.push(part);
    }
  }
  return { parts: shown, files, faults };
}

/** A file name from a server's name that cannot leave the directory. */
export function safeName(name: string): string {
  const safe = name.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 60);
  return /[a-zA-Z0-9]/.test(safe) ? safe : 'content';
}

type Saving = {
  readonly counts: Map<string, number>;
  readonly signal: AbortSignal;
  readonly write: WriteNew;
};

async function saveNew(
  stem: string,
  extension: string,
  bytes: Buffer,
  { counts, signal, write }: Saving,
): Promise<string> {
  for (;;) {
    signal.throwIfAborted();
    const count = counts.get(extension) ?? 1;
    const path = `${stem}-${count}${extension}`;
    counts.set(extension, count + 1);
    try {
      await write(path, bytes);
      return path;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    }
  }
}

async function writeNew(path: string, bytes: Buffer): Promise<void> {
  createFile(path, bytes, { mode: 0o666 });
}

/** Creates the directory of `--output`, before the call whose result it is for. */
export async function makeDirectory(given: string): Promise<void> {
  try {
    await make(resolve(given));
  } catch (cause) {
    if (cause instanceof NoDirectory) throw new UsageError(`--output ${given} is not a directory`);
    throw new UsageError(`cannot create --output ${given}: ${messageOf(cause)}`);
  }
}

class NoDirectory extends Error {}

/** Creates one level at a time: Node's recursive mkdir does not end in directories such as /proc. */
async function make(path: string): Promise<void> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw cause.code === 'ENOTDIR' ? new NoDirectory() : cause;
  });
  if (found?.isDirectory()) return;
  if (found) throw new NoDirectory();
  const parent = dirname(path);
  if (parent !== path) await make(parent);
  await mkdir(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw cause;
  });
}
