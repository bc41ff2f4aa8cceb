import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { extensionOf } from '../../agent/results/binary.ts';
import { createFile } from '../../base/files/replace-file.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { Part } from './content-parts.ts';
import { UsageError } from './failure.ts';

/** Parts with the names of their files, these names, and why some are not kept. */
type Saved = {
  readonly parts: readonly Part[];
  readonly files: readonly string[];
  readonly faults: readonly string[];
};

/** Writes a file that is not there yet; one that is there is `EEXIST`. */
type WriteNew = (path: string, bytes: Buffer) => Promise<void>;

/** Keeps what is binary in files of this directory. No file is overwritten, and what cannot be kept is not lost otherwise. */
export async function saveParts(
  parts: readonly Part[],
  directory: string,
  name: string,
  signal: AbortSignal,
  write: WriteNew = writeNew,
): Promise<Saved> {
  const stem = join(directory, safeName(name));
  // The number that is tried next, by extension.
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
      faults.push(`${part.line} is not kept: ${messageOf(cause)}`);
      shown.push(part);
    }
  }
  return { parts: shown, files, faults };
}

/** A name of a server leads nowhere but into the directory. */
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

/** Makes the directory of `--output`, before anything is done whose result would be lost without it. */
export async function makeDirectory(given: string): Promise<void> {
  try {
    await make(resolve(given));
  } catch (cause) {
    if (cause instanceof NoDirectory) throw new UsageError(`--output ${given} is no directory`);
    throw new UsageError(`--output ${given} cannot be made: ${messageOf(cause)}`);
  }
}

class NoDirectory extends Error {}

/** Level by level: where the system makes none, as in /proc, Node's own recursion never ends. */
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
