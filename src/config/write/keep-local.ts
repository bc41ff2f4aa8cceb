import { existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createFile } from '../../base/create-file.ts';
import { hashEntry } from '../approval/hash-entry.ts';
import { readText } from '../files/read-text.ts';
import type { ConfigWorld } from '../world.ts';
import { fileOptions, isUserFile } from './file-options.ts';
import { noteWritten } from './inventory.ts';

const LOCAL = 'settings.local.json';
const TEXT = `${LOCAL}\n`;

/**
 * Before the first file is made in `.toolplane` of a project: what is the person's own there is kept out of the
 * repository, so that nobody commits it unawares. Where somebody sees to that already, nothing is done.
 */
export function keepLocal(world: ConfigWorld, path: string): void {
  const { home } = world;
  const folder = dirname(path);
  if (basename(folder) !== '.toolplane' || isUserFile(home, path)) return;
  if (existsSync(folder) && (basename(path) !== LOCAL || existsSync(path))) return;
  const ignore = join(folder, '.gitignore');
  if (readText(ignore, fileOptions(world, ignore)).state !== 'absent') return;
  noteWritten(home, ignore, { isCreated: true, text: hashEntry(TEXT) ?? '' });
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    createFile(ignore, TEXT, { mode: 0o644 });
  } catch {
    // Whoever writes the file itself is told what is wrong with the directory.
  }
}
