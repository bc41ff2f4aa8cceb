import { rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { editDocument } from '../../config/files/edit-document.ts';
import { locksPath } from '../../config/write/file-options.ts';
import { forgetWritten, readInventory } from '../../config/write/inventory.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { undoNow } from './find-traces.ts';
import { type HomePart, homeContent } from './home-parts.ts';

/** Takes out of projects what is ours, then removes what is kept for the person; gives what could not be done, a line each. */
export function removeTraces(home: string, keep: 'nothing' | 'settings'): string[] {
  const faults = keep === 'settings' ? [] : removeFromProjects(home);
  const parts = homeContent(home).parts.filter((it) => keep === 'nothing' || !it.isConfigured);
  // Without it nobody would find again what could not be removed.
  const gone = faults.length === 0 ? parts : parts.filter(({ kind }) => kind !== 'inventory');
  faults.push(...gone.flatMap(removePart));
  removeIfEmpty(home);
  return faults;
}

function removeFromProjects(home: string): string[] {
  const { files, fault } = readInventory(home);
  if (fault !== undefined) return [`what was written into projects is not known: ${fault}`];
  return files.flatMap((file) => {
    try {
      const { action, path } = undoNow(file);
      if (action === 'remove') removeFile(path);
      if (action === 'edit') editDocument(path, () => undoNow(file).edits, { locks: locksPath(home) });
      forgetWritten(home, path, 'all');
      return [];
    } catch (cause) {
      return [messageOf(cause)];
    }
  });
}

function removeFile(path: string): void {
  unlinkSync(path);
  if (basename(dirname(path)) === '.toolplane') removeIfEmpty(dirname(path));
}

/** File by file, so that what has come meanwhile stays. */
function removePart({ paths, directories }: HomePart): string[] {
  const faults = paths.flatMap((path) => {
    try {
      rmSync(path, { force: true });
      return [];
    } catch (cause) {
      return [`${path} was not removed: ${messageOf(cause)}`];
    }
  });
  for (const directory of directories) removeIfEmpty(directory);
  return faults;
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // There is more in it, which is not ours.
  }
}
