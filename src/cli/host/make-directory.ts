import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { messageOf } from '../../protocol/sdk-error.ts';
import { NotUnderstood } from './not-understood.ts';

/** Makes the directory of `--output`, before anything is done whose result would be lost without it. */
export async function makeDirectory(given: string): Promise<void> {
  try {
    await make(resolve(given));
  } catch (cause) {
    if (cause instanceof NoDirectory) throw new NotUnderstood(`--output ${given} is no directory`);
    throw new NotUnderstood(`--output ${given} cannot be made: ${messageOf(cause)}`);
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
