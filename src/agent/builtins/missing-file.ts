import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { nearest } from '../../base/nearest.ts';
import type { BuiltInWorld } from './built-in.ts';

/** Says that a file does not exist, and which one beside it was perhaps meant. */
export async function missingFault(path: string, world: Pick<BuiltInWorld, 'isReadable'>): Promise<string> {
  const directory = dirname(path);
  const names = await readdir(directory).catch(() => []);
  const meant = nearest(
    basename(path),
    names.filter((name) => world.isReadable(join(directory, name))),
  );
  return `${path} does not exist${meant === undefined ? '' : `: did you mean ${join(directory, meant)}?`}`;
}
