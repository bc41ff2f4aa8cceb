import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Editor, readLockFile } from './lock-file.ts';

/** The editors that run now, and notes on lock files that were not believed. */
export type FoundEditors = { editors: Editor[]; notes: string[] };

const LONGEST_BYTES = 64 * 1024;

/** Where editors leave their lock files; undefined without a home. */
export function lockDirectory(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const home = env.HOME || env.USERPROFILE;
  const config = env.CLAUDE_CONFIG_DIR || (home && join(home, '.claude'));
  return config ? join(config, 'ide') : undefined;
}

/** Reads all lock files of a directory. Those of editors that are gone are passed over. */
export async function findEditors(directory: string): Promise<FoundEditors> {
  const names = await readdir(directory).catch(() => []);
  const found: FoundEditors = { editors: [], notes: [] };
  for (const name of names.filter((it) => it.endsWith('.lock')).toSorted()) {
    const text = await trustedText(join(directory, name)).catch(() => 'it cannot be read' as const);
    const editor = typeof text === 'string' ? undefined : readLockFile(name, text.text);
    if (typeof text === 'string') found.notes.push(`lock file ${name} is ignored: ${text}`);
    else if (!editor) found.notes.push(`lock file ${name} is ignored: it is none of an editor`);
    else if (isAlive(editor.pid)) found.editors.push(editor);
  }
  return found;
}

/** Whoever can write the file could name any port and be given what the editor is to get. */
async function trustedText(path: string): Promise<{ text: string } | string> {
  await using file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  const { mode, uid, size } = await file.stat();
  const self = process.getuid?.();
  if (self !== undefined && uid !== self && uid !== 0) return 'it belongs to somebody else';
  if (self !== undefined && (mode & 0o022) !== 0) return 'others may write it';
  if (size > LONGEST_BYTES) return 'it is too long';
  return { text: await file.readFile('utf8') };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}
